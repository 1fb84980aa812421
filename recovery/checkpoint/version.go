package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
)

// Reasons why a version cannot be restored. Errors of List and Verify wrap one of these and name
// the file.
var (
	// ErrIncomplete: the version has no manifest, because its files were not all written.
	ErrIncomplete = errors.New("checkpoint: the version was not published")
	// ErrMissing: a file that the manifest lists is missing or has another length.
	ErrMissing = errors.New("checkpoint: a file is missing or has another length")
	// ErrForeign: a file is no checkpoint, or belongs to another rank or version.
	ErrForeign = ckptfile.ErrForeign
	// ErrFormat: a file or manifest has a format that this library does not know.
	ErrFormat = ckptfile.ErrFormat
	// ErrTorn: a file was not written to its end.
	ErrTorn = ckptfile.ErrTorn
	// ErrCorrupt: the bytes of a file or manifest have changed since they were written.
	ErrCorrupt = ckptfile.ErrCorrupt
)

// Version is the state of one version in a store.
type Version struct {
	Job    string // name of the versions of a job (recovery.Files.Job)
	Epoch  uint64 // of the attempt that made the version
	Number uint64 // of the commit, counted from 1
	Ranks  int    // of the world that made the version; 0 if not published
	Bytes  int64  // of all its files

	// Arguments is a digest of the arguments with which the job computed; "": the arguments were
	// not noted, or the version was not published.
	Arguments string

	Err error // the reason why the version cannot be restored; nil: manifest and lengths are right
}

// Name returns the first part of the version's keys: JOB-EPOCH-NUMBER.
func (v Version) Name() string { return ckptfile.FolderName(v.Job, v.Epoch, v.Number) }

// List returns the versions of all jobs in a store, by job and the newest first. List reads
// manifests and lengths only; Verify reads all bytes.
func List(ctx context.Context, s Store) ([]Version, error) {
	items, err := s.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var versions []Version
	for len(items) > 0 {
		name, _, _ := strings.Cut(items[0].Key, "/")
		n := slices.IndexFunc(items, func(i Item) bool { return !strings.HasPrefix(i.Key, name+"/") })
		switch {
		case n < 0:
			n = len(items)
		case n == 0:
			n = 1 // a file beside the folders
		}
		if v, ok := versionOf(name); ok {
			_, v.Err = v.inspect(ctx, s, items[:n])
			versions = append(versions, v)
		}
		items = items[n:]
	}
	slices.SortFunc(versions, newestFirst)
	return versions, nil
}

func newestFirst(a, b Version) int {
	return cmp.Or(strings.Compare(a.Job, b.Job), cmp.Compare(b.Epoch, a.Epoch), cmp.Compare(b.Number, a.Number))
}

func versionOf(name string) (v Version, ok bool) {
	v.Job, v.Epoch, v.Number, ok = ckptfile.ParseFolder(name)
	return v, ok
}

// inspect fills in the fields from the files, and returns the manifest.
func (v *Version) inspect(ctx context.Context, s Store, items []Item) (ckptfile.Manifest, error) {
	sizes := map[string]int64{}
	for _, i := range items {
		sizes[i.Key] = i.Size
		v.Bytes += i.Size
	}
	m, err := v.manifest(ctx, s)
	if err != nil {
		return m, err
	}
	v.Ranks, v.Arguments = len(m.Files), m.Arguments
	for _, f := range m.Files {
		key := v.Name() + "/" + f.Name
		if size, has := sizes[key]; !has || size != f.Bytes {
			return m, fmt.Errorf("%w: %s: %d bytes instead of %d", ErrMissing, key, size, f.Bytes)
		}
	}
	return m, nil
}

// manifest reads the manifest.
func (v *Version) manifest(ctx context.Context, s Store) (ckptfile.Manifest, error) {
	m, err := ckptfile.ReadManifest(ctx, s, v.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w: %s", ErrIncomplete, v.Name())
	}
	return m, err
}

// Verify reads all bytes of a version and returns nil if each of them is as written. The error
// names the first file that is not.
func Verify(ctx context.Context, s Store, v Version) error {
	items, err := s.List(ctx, v.Name()+"/")
	if err != nil {
		return err
	}
	m, err := v.inspect(ctx, s, items)
	if err != nil {
		return err
	}
	for rank := range m.Files {
		if err := ckptfile.VerifyFile(ctx, s, m, rank); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes a version, its manifest first: an interrupted Remove leaves files, but no
// incomplete version that seems complete.
func Remove(ctx context.Context, s Store, v Version) error {
	if err := s.Delete(ctx, v.Name()+"/"+ckptfile.ManifestName); err != nil {
		return err
	}
	items, err := s.List(ctx, v.Name()+"/")
	if err != nil {
		return err
	}
	for _, i := range items {
		if err := s.Delete(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
}
