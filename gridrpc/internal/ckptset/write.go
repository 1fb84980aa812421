package ckptset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// keep is the number of checkpoints that an attempt keeps. There are two, because the latest one
// may be read while the next one is written.
const keep = 2

// Writer writes the checkpoints of one attempt, one after the other.
type Writer struct {
	store  checkpoint.Store
	next   ID
	stored map[string]bool // chunks
	kept   []Manifest      // oldest first
}

// NewWriter returns the writer of an attempt without checkpoints.
func NewWriter(s checkpoint.Store, call string, attempt int) *Writer {
	return &Writer{store: s, next: ID{Call: call, Attempt: attempt, Number: 1}, stored: map[string]bool{}}
}

// Source is a piece before it is stored: Data, or a file below the folder.
type Source struct {
	Name string
	Kind Kind
	Data []byte // of a Value
}

// Commit stores a checkpoint of the files in folder dir, and of values. If Commit returns nil, the
// checkpoint is complete. After an error the earlier checkpoints remain.
func (w *Writer) Commit(ctx context.Context, dir string, sources []Source) (Manifest, error) {
	m := Manifest{ID: w.next}
	for _, s := range sources {
		p, err := w.put(ctx, dir, s)
		if err != nil {
			return Manifest{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		m.Pieces = append(m.Pieces, p)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return Manifest{}, err
	}
	if _, err := Decode(data); err != nil { // a checkpoint that could not be restored is refused
		return Manifest{}, err
	}
	if err := w.store.Put(ctx, m.Key(), int64(len(data)), bytes.NewReader(data)); err != nil {
		return Manifest{}, err
	}
	w.next.Number++
	w.kept = append(w.kept, m)
	w.prune(ctx)
	return m, nil
}

// put stores one piece.
func (w *Writer) put(ctx context.Context, dir string, s Source) (Piece, error) {
	p := Piece{Name: s.Name, Kind: s.Kind}
	if s.Kind == Value {
		return w.chunks(ctx, p, bytes.NewReader(s.Data))
	}
	f, err := os.Open(filepath.Join(dir, s.Name))
	if err != nil {
		return p, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	if !info.Mode().IsRegular() {
		return p, errors.New("is no file")
	}
	p.Mode = uint32(info.Mode().Perm())
	return w.chunks(ctx, p, f)
}

// chunks stores the chunks of a piece that are not stored yet.
func (w *Writer) chunks(ctx context.Context, p Piece, r io.Reader) (Piece, error) {
	buf := make([]byte, chunkSize)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			sum := sha256.Sum256(buf[:n])
			name := hex.EncodeToString(sum[:])
			if !w.stored[name] {
				if err := w.store.Put(ctx, w.next.chunkKey(name), int64(n), bytes.NewReader(buf[:n])); err != nil {
					return p, err
				}
				w.stored[name] = true
			}
			p.Chunks = append(p.Chunks, name)
			p.Size += int64(n)
		}
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return p, nil
		case err != nil:
			return p, err
		}
	}
}

// prune deletes the checkpoints of this attempt that are not kept, each manifest before its
// chunks.
func (w *Writer) prune(ctx context.Context) {
	for len(w.kept) > keep {
		if err := w.store.Delete(ctx, w.kept[0].Key()); err != nil {
			return // the checkpoint stays, which does no harm
		}
		w.kept = w.kept[1:]
	}
	needed := map[string]bool{}
	for _, m := range w.kept {
		for _, p := range m.Pieces {
			for _, sum := range p.Chunks {
				needed[sum] = true
			}
		}
	}
	for sum := range w.stored {
		if !needed[sum] && w.store.Delete(ctx, w.next.chunkKey(sum)) == nil {
			delete(w.stored, sum)
		}
	}
}

// Remove deletes all checkpoints of a call, the manifests first.
func Remove(ctx context.Context, s checkpoint.Store, call string) error {
	items, err := s.List(ctx, call+"/")
	if err != nil {
		return err
	}
	slices.SortStableFunc(items, func(a, b checkpoint.Item) int { return rank(a.Key) - rank(b.Key) })
	for _, i := range items {
		if err := s.Delete(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
}

func rank(key string) int {
	if strings.HasPrefix(path.Base(key), "manifest-") {
		return 0
	}
	return 1
}
