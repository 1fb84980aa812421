package results

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/fileformat"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// ErrMalformed is wrapped by each error for data that is not a complete stored result.
var ErrMalformed = errors.New("shelf: malformed result")

// Prefix begins all keys.
const Prefix = "kept/"

// Format is the number of the format of headers, which package fileformat explains.
const Format = 1

// Record is the header of a stored result.
type Record struct {
	Call    string // in hexadecimal digits
	Attempt uint32 // from 1
	Service string
	Codec   string
	Until   time.Time // when it may be deleted
	Size    int64     // in bytes
	Sum     string    // SHA-256 of the result, in hexadecimal digits
}

// Bounds of a held result.
const (
	headerMax = 4 << 10
	resultMax = 1 << 30
)

// Shelf holds the stored results of one server.
type Shelf struct {
	store  checkpoint.Store
	server string
}

// New returns the shelf of a server.
func New(s checkpoint.Store, server string) *Shelf { return &Shelf{store: s, server: server} }

func (s *Shelf) prefix() string { return Prefix + s.server + "/" }

func (s *Shelf) key(r Record) string { return fmt.Sprintf("%s%s-%d", s.prefix(), r.Call, r.Attempt) }

// Put stores a result. Put sets Size and Sum of r.
func (s *Shelf) Put(ctx context.Context, r Record, result []byte) error {
	sum := sha256.Sum256(result)
	r.Size, r.Sum = int64(len(result)), hex.EncodeToString(sum[:])
	header, err := json.Marshal(r)
	if err != nil {
		return err
	}
	header = append(header, '\n')
	if _, _, err := Decode(header); err != nil { // a header that cannot be read is not written
		return err
	}
	whole := io.MultiReader(bytes.NewReader(header), bytes.NewReader(result))
	return s.store.Put(ctx, s.key(r), int64(len(header)+len(result)), whole)
}

// Get returns the result of an attempt.
func (s *Shelf) Get(ctx context.Context, call string, attempt uint32) ([]byte, error) {
	key := s.key(Record{Call: call, Attempt: attempt})
	data, err := s.read(ctx, key, headerMax+resultMax)
	if err != nil {
		return nil, err
	}
	r, result, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	sum := sha256.Sum256(result)
	if r.Call != call || r.Attempt != attempt || int64(len(result)) != r.Size || hex.EncodeToString(sum[:]) != r.Sum {
		return nil, fmt.Errorf("%s: %w: another result, or not all of it", key, ErrMalformed)
	}
	return result, nil
}

func (s *Shelf) read(ctx context.Context, key string, most int64) ([]byte, error) {
	r, err := s.store.Get(ctx, key, 0, most)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, most))
	return data, errors.Join(err, r.Close())
}

// List returns the records of this server. A record that cannot be read is left out and named in
// the error.
func (s *Shelf) List(ctx context.Context) (all []Record, err error) {
	items, err := s.store.List(ctx, s.prefix())
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, i := range items {
		head, err := s.read(ctx, i.Key, headerMax)
		var r Record
		if err == nil {
			r, _, err = Decode(head)
		}
		if err == nil && s.key(r) != i.Key {
			err = fmt.Errorf("%w: of another call", ErrMalformed)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", i.Key, err))
			continue
		}
		all = append(all, r)
	}
	return all, errors.Join(failures...)
}

// Remove deletes the result of an attempt.
func (s *Shelf) Remove(ctx context.Context, call string, attempt uint32) error {
	return s.store.Delete(ctx, s.key(Record{Call: call, Attempt: attempt}))
}

// Decode reads a header, and returns the record and the data after the header.
func Decode(data []byte) (r Record, rest []byte, err error) {
	line, _, ok := bytes.Cut(data[:min(len(data), headerMax)], []byte("\n"))
	if !ok {
		return Record{}, nil, fmt.Errorf("%w: no header", ErrMalformed)
	}
	rest = data[len(line)+1:]
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, nil, fmt.Errorf("%w: %w", ErrMalformed, cmp.Or(fileformat.Check(line, Format), err))
	}
	call, err := hex.DecodeString(r.Call)
	switch {
	case err != nil || len(call) != 16 || r.Call != strings.ToLower(r.Call):
		return Record{}, nil, fmt.Errorf("%w: of the call %.40q", ErrMalformed, r.Call)
	case r.Attempt == 0 || r.Size < 0 || r.Size > resultMax || len(r.Sum) != 2*sha256.Size || d.More():
		return Record{}, nil, fmt.Errorf("%w: attempt %d, %d bytes", ErrMalformed, r.Attempt, r.Size)
	}
	return r, rest, nil
}
