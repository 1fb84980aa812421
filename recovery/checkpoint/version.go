package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/ckptfile"
)

// Why a version cannot be restored. Errors of List and Verify wrap one of these and name
// the file.
var (
	ErrIncomplete = errors.New("checkpoint: the version was not published")
	ErrMissing    = errors.New("checkpoint: a file is missing or has another length")
	ErrForeign    = ckptfile.ErrForeign
	ErrFormat     = ckptfile.ErrFormat
	ErrTorn       = ckptfile.ErrTorn
	ErrCorrupt    = ckptfile.ErrCorrupt
)

// Version is what a store has of one version.
type Version struct {
	Job    string
	Epoch  uint64 // of the attempt that made it
	Number uint64
	Ranks  int   // of the world that made it; 0 if it was not published
	Bytes  int64 // of all its files
	Err    error // why it cannot be restored; nil: manifest and lengths are right
}

// Name returns the first part of the version's keys: JOB-EPOCH-NUMBER.
func (v Version) Name() string { return ckptfile.FolderName(v.Job, v.Epoch, v.Number) }

// List returns the versions of all jobs in a store, by job and the newest first. It reads
// manifests and lengths only; Verify reads everything.
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
			_, v.Err = v.look(ctx, s, items[:n])
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

// look fills in what the files say, and returns the manifest.
func (v *Version) look(ctx context.Context, s Store, items []Item) (ckptfile.Manifest, error) {
	sizes := map[string]int64{}
	for _, i := range items {
		sizes[i.Key] = i.Size
		v.Bytes += i.Size
	}
	m, err := v.manifest(ctx, s)
	if err != nil {
		return m, err
	}
	v.Ranks = len(m.Files)
	for _, f := range m.Files {
		key := v.Name() + "/" + f.Name
		if size, has := sizes[key]; !has || size != f.Bytes {
			return m, fmt.Errorf("%w: %s: %d bytes instead of %d", ErrMissing, key, size, f.Bytes)
		}
	}
	return m, nil
}

// manifest reads the manifest, and sees that it is this version's.
func (v *Version) manifest(ctx context.Context, s Store) (ckptfile.Manifest, error) {
	key := v.Name() + "/" + ckptfile.ManifestName
	b, err := read(ctx, s, key, ckptfile.ManifestMax)
	if errors.Is(err, fs.ErrNotExist) {
		return ckptfile.Manifest{}, fmt.Errorf("%w: %s", ErrIncomplete, v.Name())
	}
	if err != nil {
		return ckptfile.Manifest{}, err
	}
	m, err := ckptfile.DecodeManifest(b)
	if err == nil && ckptfile.FolderName(m.Job, m.Epoch, m.Number) != v.Name() {
		err = ErrForeign
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", key, err)
	}
	return m, nil
}

// read returns the bytes of a file, at most limit.
func read(ctx context.Context, s Store, key string, limit int64) (b []byte, err error) {
	r, err := s.Get(ctx, key, 0, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}

// Verify reads all bytes of a version and returns nil if each of them is as it was written.
// The error names the first file that is not.
func Verify(ctx context.Context, s Store, v Version) error {
	items, err := s.List(ctx, v.Name()+"/")
	if err != nil {
		return err
	}
	m, err := v.look(ctx, s, items)
	if err != nil {
		return err
	}
	for rank, f := range m.Files {
		key := v.Name() + "/" + f.Name
		if err := v.verifyFile(ctx, s, key, rank, f); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// verifyFile compares the checksum of a file with the manifest's, and what its head says
// with where it is. The file's own checksums tell where it has changed.
func (v *Version) verifyFile(ctx context.Context, s Store, key string, rank int, f ckptfile.File) error {
	file := &remote{ctx: ctx, store: s, key: key}
	r, err := ckptfile.NewReader(file, f.Bytes)
	if err != nil {
		return err
	}
	if err := r.Verify(); err != nil {
		return err
	}
	h := r.Head()
	if h.Job != v.Job || h.Epoch != v.Epoch || h.Number != v.Number || h.Rank != rank || h.Size != v.Ranks {
		return fmt.Errorf("%w: it is rank %d's of %d in %s", ErrForeign, h.Rank, h.Size, ckptfile.FolderName(h.Job, h.Epoch, h.Number))
	}
	crc, err := checksum(ctx, s, key)
	if err == nil && crc != f.CRC {
		err = fmt.Errorf("%w: another file than the manifest's", ErrCorrupt)
	}
	return err
}

func checksum(ctx context.Context, s Store, key string) (crc uint32, err error) {
	r, err := s.Get(ctx, key, 0, -1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum := ckptfile.NewCRC()
	_, err = io.Copy(sum, r)
	return sum.Sum32(), err
}

// remote is a file of a store for those who read here and there.
type remote struct {
	ctx   context.Context
	store Store
	key   string
}

func (f *remote) ReadAt(p []byte, off int64) (n int, err error) {
	r, err := f.store.Get(f.ctx, f.key, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n, err = io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Remove deletes a version, its manifest first: who is interrupted leaves files, but no
// version that looks whole and is not.
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
