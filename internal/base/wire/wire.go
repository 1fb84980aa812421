// Package wire holds the primitives of every control message: unsigned varints,
// byte strings and rank sets. Each machine owns the bytes of its own messages;
// this package only knows how to write and read their parts.
//
// A Reader never panics, for any bytes: after the first bad part, every later read returns zero,
// and Done returns an error. A Reader allocates no more than the message is long, except that a
// sparse set takes up to about one bit for each rank below the limit of Set.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// ErrMalformed is wrapped by every error of this package.
var ErrMalformed = errors.New("malformed message")

// AppendUint appends v as an unsigned varint.
func AppendUint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

// AppendInt appends v as a zigzag varint.
func AppendInt(dst []byte, v int) []byte { return binary.AppendVarint(dst, int64(v)) }

// AppendBool appends one byte, 0 or 1.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendBytes appends the length of b, then b.
func AppendBytes(dst, b []byte) []byte { return append(AppendUint(dst, uint64(len(b))), b...) }

// AppendSet appends s as a list of 64-bit words, or as a list of gaps between
// members where that is shorter.
func AppendSet(dst []byte, s rankset.Set) []byte {
	words, members := s.Words(), s.Len()
	if members*2 < len(words)*8 { // sparse: gaps of mostly one or two bytes
		dst = AppendUint(dst, uint64(members)<<1|1)
		prev := -1
		for r := range s.All() {
			dst = AppendUint(dst, uint64(r-prev-1))
			prev = r
		}
		return dst
	}
	dst = AppendUint(dst, uint64(len(words))<<1)
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// A Reader takes a message apart, front to back.
type Reader struct {
	rest []byte
	err  error
}

// NewReader returns a Reader of b. The Reader does not copy b.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

func (r *Reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: bad %s with %d bytes left", ErrMalformed, what, len(r.rest))
	}
	r.rest = nil
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.fail("byte")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Bool reads the output of AppendBool.
func (r *Reader) Bool() bool {
	b := r.Byte()
	if b > 1 {
		r.fail("bool")
	}
	return b == 1
}

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail("unsigned integer")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Int reads a zigzag varint.
func (r *Reader) Int() int {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail("integer")
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// Uint64 reads eight bytes, least significant first.
func (r *Reader) Uint64() uint64 {
	if len(r.rest) < 8 {
		r.fail("word")
		return 0
	}
	v := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// Below reads an unsigned varint that must be less than limit.
func (r *Reader) Below(limit int) int {
	v := r.Uint()
	if v >= uint64(max(limit, 0)) {
		r.fail(fmt.Sprintf("value %d, want less than %d", v, limit))
		return 0
	}
	return int(v)
}

// Bytes reads the output of AppendBytes. The slice is part of the message.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.rest)) {
		r.fail("length")
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Left returns the number of bytes that were not read yet; 0 after an error.
func (r *Reader) Left() int { return len(r.rest) }

// Rest reads everything that is left. The slice is part of the message.
func (r *Reader) Rest() []byte {
	b := r.rest
	r.rest = nil
	return b
}

// Set reads the output of AppendSet; its members must be below n.
func (r *Reader) Set(n int) rankset.Set {
	head := r.Uint()
	if head&1 == 1 {
		return r.sparse(head>>1, n)
	}
	count := head >> 1
	if count > uint64(len(r.rest)/8) {
		r.fail("set length")
		return rankset.Set{}
	}
	words := make([]uint64, count)
	for i := range words {
		words[i] = r.Uint64()
	}
	s := rankset.FromWords(words)
	if s.Next(max(n, 0)) >= 0 {
		r.fail("set member")
		return rankset.Set{}
	}
	return s
}

func (r *Reader) sparse(members uint64, n int) rankset.Set {
	var s rankset.Set
	if members > uint64(len(r.rest)) {
		r.fail("set length")
		return s
	}
	prev := -1
	for range members {
		gap := r.Uint()
		if r.err != nil || gap >= uint64(max(n, 0)) || prev+1+int(gap) >= n {
			r.fail("set member")
			return rankset.Set{}
		}
		prev += 1 + int(gap)
		s.Add(prev)
	}
	return s
}

// Err returns the first error met so far.
func (r *Reader) Err() error { return r.err }

// Done returns the first error met, or an error if bytes are left over.
func (r *Reader) Done() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail("end of message")
	}
	return r.err
}
