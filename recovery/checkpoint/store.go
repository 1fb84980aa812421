package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
)

// ErrKey means that a key is not valid in a store.
var ErrKey = errors.New("checkpoint: not a key")

// KeyMax is the maximum length of a key in bytes.
const KeyMax = 1024

// Store keeps named files. The package comment lists its promises.
//
// Put makes a file of the bytes of r, whole or not at all. size is their number, which is checked,
// or -1 if the caller does not know the number.
//
// Get reads n bytes from byte off on, and to the end if n is -1. If the file is shorter, the reader
// returns io.EOF after fewer than n bytes.
//
// List returns the files whose keys begin with prefix, in ascending order of keys.
//
// Delete removes a file.
type Store interface {
	Put(ctx context.Context, key string, size int64, r io.Reader) error
	Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error)
	List(ctx context.Context, prefix string) ([]Item, error)
	Delete(ctx context.Context, key string) error
}

// Item is a file of a store.
type Item struct {
	Key  string
	Size int64 // in bytes
}

// CheckKey returns an error unless a store accepts a key: parts of letters, digits and ".", "_",
// "-", separated by "/", none of which begins with "." or ends in ".tmp". Hence no key names a file
// outside a folder, or a file that is still being written.
func CheckKey(key string) error {
	if key == "" || len(key) > KeyMax {
		return fmt.Errorf("%w: %.70q", ErrKey, key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' || ckptfile.IsUnfinished(part) || strings.ContainsFunc(part, unusual) {
			return fmt.Errorf("%w: %.70q", ErrKey, key)
		}
	}
	return nil
}

func unusual(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-')
}
