package file

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/goulfm/goulfm/comm"
)

// OpenAll opens a file at all members, as os.OpenFile does. Rank 0 opens the file first, and it
// alone applies the flags for creation and truncation. All members pass the same flag; name and
// perm may differ. After an error no member has the file open, but a file that was created stays.
// Collective. The package comment lists the errors of all functions.
func OpenAll(ctx context.Context, c *comm.Comm, name string, flag int, perm os.FileMode) (*os.File, error) {
	v, err := begin(ctx, c, open)
	if err != nil {
		return nil, err
	}
	const atFirst = os.O_CREATE | os.O_EXCL | os.O_TRUNC
	first := c.Rank() == 0
	var f *os.File
	if first && v.mine == nil {
		f, v.mine = os.OpenFile(name, flag, perm)
	}
	if err := v.agree(ctx); err != nil {
		return nil, leave(f, err)
	}
	if v, err = begin(ctx, c, open); err != nil {
		return nil, leave(f, err)
	}
	if !first && v.mine == nil {
		f, v.mine = os.OpenFile(name, flag&^atFirst, perm)
	}
	if err := v.agree(ctx); err != nil {
		return nil, leave(f, err)
	}
	return f, nil
}

// leave closes a file that a failed call has opened.
func leave(f *os.File, err error) error {
	if f != nil {
		_ = f.Close() // err already names the failure
	}
	return err
}

// WriteAtAll writes buf to the file, from byte off on. Each member writes its own part, of any
// length, or nothing. off counts bytes, not elements. Collective.
func WriteAtAll[T comm.Elem](ctx context.Context, c *comm.Comm, f *os.File, buf []T, off int64) error {
	return with(ctx, c, write, func() error {
		b, err := comm.Bytes(buf)
		if err == nil {
			_, err = f.WriteAt(b, off)
		}
		return err
	})
}

// ReadAtAll fills buf from the file, from byte off on: off counts bytes, not elements. Each member
// reads its own part, of any length. If the file ends before a buf is full, errors.Is(err,
// io.ErrUnexpectedEOF) holds at all members. Collective.
func ReadAtAll[T comm.Elem](ctx context.Context, c *comm.Comm, f *os.File, buf []T, off int64) error {
	return with(ctx, c, read, func() error {
		b, err := comm.Bytes(buf)
		if err == nil {
			_, err = f.ReadAt(b, off)
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	})
}

// SyncAll writes the file to the disk, as os.File.Sync does, with all data that any member has
// written before. Collective.
func SyncAll(ctx context.Context, c *comm.Comm, f *os.File) error {
	return with(ctx, c, syncing, f.Sync)
}

// CloseAll is SyncAll that also closes the file, even if the sync fails. A member does not close
// the file if it knows of a revocation at the call, or if its context has ended. Collective.
func CloseAll(ctx context.Context, c *comm.Comm, f *os.File) error {
	return with(ctx, c, closing, func() error { return errors.Join(f.Sync(), f.Close()) })
}

// with makes a call in which each member runs do.
func with(ctx context.Context, c *comm.Comm, op op, do func() error) error {
	v, err := begin(ctx, c, op)
	if err != nil {
		return err
	}
	if v.mine == nil {
		v.mine = do()
	}
	return v.agree(ctx)
}
