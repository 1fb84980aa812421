package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"
)

// source reads the bytes of a Put. It ends with its context, and checks the announced number of
// bytes.
type source struct {
	ctx  context.Context
	from io.Reader
	size int64 // -1: not announced
	read int64
	over bool
}

// fill reads until buf is full or the source ends, and returns the number of bytes.
func (s *source) fill(buf []byte) (n int, err error) {
	for n < len(buf) && !s.over {
		if s.ctx.Err() != nil {
			return n, context.Cause(s.ctx)
		}
		m, err := s.from.Read(buf[n:])
		n, s.read = n+m, s.read+int64(m)
		switch {
		case s.size >= 0 && s.read > s.size:
			return n, fmt.Errorf("jetstream: more than the %d bytes that were announced", s.size)
		case err == io.EOF:
			s.over = true
		case err != nil:
			return n, err
		}
	}
	if s.ctx.Err() != nil {
		return n, context.Cause(s.ctx)
	}
	if s.over && s.size >= 0 && s.read != s.size {
		return n, fmt.Errorf("jetstream: %d bytes, and %d were announced", s.read, s.size)
	}
	return n, nil
}

// reader reads a part of a file.
type reader struct {
	ctx   context.Context
	store *Store
	key   string
	rec   record
	off   int64  // of the next byte to return
	left  int64  // bytes to return
	piece []byte // from off on
}

// Read returns bytes of the present piece.
func (r *reader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if len(r.piece) == 0 {
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.piece[:min(int64(len(r.piece)), r.left)])
	r.piece, r.off, r.left = r.piece[n:], r.off+int64(n), r.left-int64(n)
	return n, nil
}

// fetch gets the piece in which the next byte is.
func (r *reader) fetch() error {
	if r.rec.Inline {
		r.piece = r.rec.body[r.off:]
		return nil
	}
	number := r.off / pieceSize
	data, _, err := r.store.latest(r.ctx, r.store.piece(r.rec.ID, number))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("jetstream: %s: it was replaced or deleted while it was read", r.key)
	}
	if err != nil {
		return err
	}
	if want := min(pieceSize, r.rec.Size-number*pieceSize); int64(len(data)) != want {
		return fmt.Errorf("%w: %s: piece %d has %d bytes, not %d", errMalformed, r.key, number, len(data), want)
	}
	r.piece = data[r.off-number*pieceSize:]
	return nil
}

// Close has no effect.
func (r *reader) Close() error { return nil }
