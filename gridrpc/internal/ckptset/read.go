package ckptset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// ErrTorn is wrapped by the errors of a checkpoint that is not whole.
var ErrTorn = errors.New("bundle: torn checkpoint")

// List returns the checkpoints of a call, the newest first, or those of all calls if call is "".
// List does not check that the chunks exist.
func List(ctx context.Context, s checkpoint.Store, call string) ([]ID, error) {
	prefix := call
	if call != "" {
		prefix += "/"
	}
	items, err := s.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var all []ID
	for _, i := range items {
		if id, ok := parseKey(i.Key); ok {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b ID) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(b.Number, a.Number))
	})
	return all, nil
}

// Load reads a manifest.
func Load(ctx context.Context, s checkpoint.Store, id ID) (Manifest, error) {
	data, err := get(ctx, s, id.Key(), manifestMax)
	if err != nil {
		return Manifest{}, err
	}
	m, err := Decode(data)
	if err == nil && m.ID != id {
		err = fmt.Errorf("%w: of another checkpoint, %v", ErrMalformed, m.ID)
	}
	return m, err
}

// get reads at most that many bytes of a file.
func get(ctx context.Context, s checkpoint.Store, key string, most int64) ([]byte, error) {
	r, err := s.Get(ctx, key, 0, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // the data has its own checksum
	return io.ReadAll(io.LimitReader(r, most))
}

// Restore empties folder dir, writes the files of a checkpoint there, and returns the values. After
// an error the folder is empty, so no part of a torn checkpoint remains.
func (m Manifest) Restore(ctx context.Context, s checkpoint.Store, dir string) (values map[string][]byte, err error) {
	if err := empty(dir); err != nil {
		return nil, err
	}
	values = map[string][]byte{}
	for _, p := range m.Pieces {
		if p.Kind == Value {
			var data buffer
			err = m.copy(ctx, s, p, &data)
			values[p.Name] = data
		} else {
			err = m.restoreFile(ctx, s, p, filepath.Join(dir, p.Name))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", p.Name, err), empty(dir))
		}
	}
	return values, nil
}

// buffer collects the bytes that are written to it.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func (m Manifest) restoreFile(ctx context.Context, s checkpoint.Store, p Piece, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = m.copy(ctx, s, p, f)
	return errors.Join(err, f.Chmod(os.FileMode(p.Mode)), f.Close())
}

// copy writes the chunks of a piece, and checks the sum of each.
func (m Manifest) copy(ctx context.Context, s checkpoint.Store, p Piece, w io.Writer) error {
	left := p.Size
	for _, sum := range p.Chunks {
		data, err := get(ctx, s, m.chunkKey(sum), chunkSize)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTorn, err)
		}
		is := sha256.Sum256(data)
		if hex.EncodeToString(is[:]) != sum || int64(len(data)) != min(left, chunkSize) {
			return fmt.Errorf("%w: chunk %.8s has other contents", ErrTorn, sum)
		}
		left -= int64(len(data))
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}
