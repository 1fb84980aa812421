package ckptfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrOpen means that others may write to a folder: its files could be from anybody.
var ErrOpen = errors.New("others may write to the folder (chmod go-w)")

// Unfinished is the end of the names of files that are being written. If the writer of such a file
// has died, anybody may delete the file.
const Unfinished = ".tmp"

// CheckFolder refuses a path that is no folder, and a folder that others may write to.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a folder")}
	case info.Mode().Perm()&0o022 != 0:
		return &fs.PathError{Op: "open", Path: path, Err: ErrOpen}
	}
	return nil
}

// WriteFile creates a file with the output of fill: whole, or not at all, whenever the process or
// the machine stops. The steps, and the state that a stop before the next step leaves:
//
//	create NAME.*.tmp     nothing that anybody reads
//	write, fsync          the same: the name is another one until the bytes are on the disk
//	rename to NAME        the old file or the new one
//	fsync of the folder   the new one
func WriteFile(path string, fill func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*"+Unfinished) // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(f.Name())))
		}
	}()
	if err := fillAndSync(f, fill); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(dir)
}

func fillAndSync(f *os.File, fill func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// SyncFolder makes the names in a folder survive a loss of power.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", path, err), d.Close())
	}
	return d.Close()
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// IsUnfinished reports whether a file of this name is one that WriteFile has not finished.
func IsUnfinished(name string) bool { return strings.HasSuffix(name, Unfinished) }
