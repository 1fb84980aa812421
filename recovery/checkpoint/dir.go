package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
)

// ErrOpen means that other users may write to the folder of a store. Its files could come from
// anybody, and are neither read nor written.
var ErrOpen = ckptfile.ErrOpen

// Dir returns the store of the files below a folder, which the first Put makes if it does not
// exist. Each call refuses, with ErrOpen, folders that others than their owner may write to. On
// several nodes the folder must be one that all of them see.
func Dir(path string) Store { return dir(path) }

type dir string

// path returns the path of a key. The folders of the key that exist have been checked.
func (d dir) path(ctx context.Context, key string) (string, error) {
	if err := errors.Join(ctx.Err(), CheckKey(key)); err != nil {
		return "", err
	}
	at := string(d)
	for part := range strings.SplitSeq(key, "/") {
		if err := ckptfile.CheckFolder(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		at = filepath.Join(at, part)
	}
	return at, nil
}

// Put writes under another name, syncs, renames and syncs the folder.
func (d dir) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	path, err := d.path(ctx, key)
	if err != nil {
		return err
	}
	begun := false
	fill := func(w io.Writer) error {
		begun = true
		n, err := io.Copy(w, reading{ctx, r})
		if err == nil && size >= 0 && n != size {
			err = fmt.Errorf("checkpoint: %d bytes instead of %d for %s", n, size, key)
		}
		return err
	}
	for range putTries {
		if err = d.makeFolders(filepath.Dir(path)); err == nil {
			err = ckptfile.WriteFile(path, fill)
		}
		if begun || !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// putTries bounds the attempts of a Put to make its folder, which a Delete may find empty and
// remove before the folder has a file. Each further attempt takes one more Delete at that moment; a
// folder that is missing after putTries attempts was not removed by a Delete.
const putTries = 1000

// makeFolders makes the folders of a key, and syncs their parents so that they survive a loss of
// power: the name of a new folder is in its parent.
func (d dir) makeFolders(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := d.mkdir(path); err != nil {
		return err
	}
	for path != filepath.Clean(string(d)) {
		path = filepath.Dir(path)
		if err := ckptfile.SyncFolder(path); err != nil {
			return err
		}
	}
	return nil
}

// mkdir makes the folders below the store's down to path. A folder that exists is no error, even if
// a Delete removes it at once. (os.MkdirAll would stat the folder again, fail to find it, and
// report that the file exists.) The caller then creates its file and gets ErrNotExist.
func (d dir) mkdir(path string) error {
	if path == filepath.Clean(string(d)) {
		return nil
	}
	if err := d.mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// reading is a reader that ends with its context.
type reading struct {
	ctx context.Context
	r   io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

func (d dir) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	path, err := d.path(ctx, key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		n = 1<<63 - 1 - off
	}
	return part{io.NewSectionReader(f, off, n), f}, nil
}

type part struct {
	io.Reader
	io.Closer
}

func (d dir) List(ctx context.Context, prefix string) ([]Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := ckptfile.CheckFolder(string(d))
	switch {
	case errors.Is(err, fs.ErrNotExist): // no file was put yet
		return nil, nil
	case err != nil:
		return nil, err
	}
	var items []Item
	err = filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if item, ok := d.item(path, e); ok && strings.HasPrefix(item.Key, prefix) {
			items = append(items, item)
		}
		return ctx.Err()
	})
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Key, b.Key) })
	return items, err
}

// item returns the file at path; ok is false for folders, unfinished files and files that no key
// names.
func (d dir) item(path string, e fs.DirEntry) (item Item, ok bool) {
	rel, err := filepath.Rel(string(d), path)
	key := filepath.ToSlash(rel)
	if err != nil || !e.Type().IsRegular() || CheckKey(key) != nil {
		return Item{}, false
	}
	info, err := e.Info()
	if err != nil {
		return Item{}, false // deleted meanwhile
	}
	return Item{Key: key, Size: info.Size()}, true
}

// abandoned is the age at which an unfinished file counts as left by a dead writer. A live writer
// syncs and renames immediately after writing its last byte.
const abandoned = time.Hour

// Delete removes the file, and its folder with the last file. Delete also removes abandoned files
// of dead writers in that folder.
func (d dir) Delete(ctx context.Context, key string) error {
	path, err := d.path(ctx, key)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := sweep(filepath.Dir(path)); err != nil {
		return err
	}
	for p := filepath.Dir(path); p != filepath.Clean(string(d)) && os.Remove(p) == nil; p = filepath.Dir(p) {
		continue // until one is not empty
	}
	return nil
}

// sweep removes abandoned files.
func sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, gone := e.Info()
		if gone != nil || !e.Type().IsRegular() || !ckptfile.IsUnfinished(e.Name()) || time.Since(info.ModTime()) < abandoned {
			continue
		}
		if e := os.Remove(filepath.Join(folder, e.Name())); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
