package join

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/fileformat"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// bookMax bounds the file, in bytes.
const bookMax = 256 << 20

// bookFormat is the number of the format of the file, which package fileformat explains.
const bookFormat = 1

// Change applies f to the book of the platform in folder dir, and writes the book unless f fails. A
// lock excludes other changes meanwhile.
func Change(dir string, f func(*token.Book) error) error {
	return locked(dir, func(path string) error {
		book, err := read(path)
		if err != nil {
			return err
		}
		if err := f(book); err != nil {
			return err
		}
		data, err := json.Marshal(book)
		if err != nil {
			return err
		}
		return checkpoint.Dir(dir).Put(context.Background(), filepath.Base(path), int64(len(data)), bytes.NewReader(data))
	})
}

// Read returns the book of the platform in folder dir.
func Read(dir string) (*token.Book, error) { return read(bookFile(dir)) }

func bookFile(dir string) string { return filepath.Join(dir, "tokens.json") }

func locked(dir string, f func(path string) error) error {
	lock := flock.New(bookFile(dir) + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("tokens of the platform: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // its file is closed with it in any case
	return f(bookFile(dir))
}

func read(path string) (*token.Book, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &token.Book{}, nil
	}
	if err != nil {
		return nil, err
	}
	book, err := decodeBook(data)
	switch {
	case errors.Is(err, fileformat.ErrLater):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: delete it, and make new tokens", path, err)
	}
	return book, nil
}

func decodeBook(data []byte) (*token.Book, error) {
	if len(data) > bookMax {
		return nil, fmt.Errorf("more than %d bytes", bookMax)
	}
	r := json.NewDecoder(bytes.NewReader(data))
	r.DisallowUnknownFields()
	var book token.Book
	if err := r.Decode(&book); err != nil {
		return nil, cmp.Or(fileformat.Check(data, bookFormat), err)
	}
	for _, g := range book.Grants {
		if g.ID == "" || g.Uses < 0 || g.Role != token.Client && g.Role != token.Server {
			return nil, fmt.Errorf("%q is no token", g.ID)
		}
	}
	for _, m := range book.Members {
		if m.Role != token.Client && m.Role != token.Server || !discovery.NameForm.MatchString(m.Name) {
			return nil, fmt.Errorf("%q is nobody who has come by a token", m.Name)
		}
	}
	return &book, nil
}
