package erasure

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/reedsolomon"
)

// PiecesMax bounds the number of pieces, of data and parity, in a stripe.
const PiecesMax = 256

// Errors of this package.
var (
	ErrShape  = errors.New("erasure: pieces that do not fit the code")
	ErrTooFew = errors.New("erasure: more pieces are lost than there is parity")
)

// Coder is a code with fixed numbers of pieces. It has no state: goroutines may share it.
type Coder struct {
	data, parity int
	rs           reedsolomon.Encoder // nil: XOR, or no parity
}

// New returns the code with the given numbers of pieces of data, at least one, and of parity.
func New(data, parity int) (*Coder, error) {
	if data < 1 || parity < 0 || data+parity > PiecesMax {
		return nil, fmt.Errorf("%w: %d of data, %d of parity", ErrShape, data, parity)
	}
	c := &Coder{data: data, parity: parity}
	if parity < 2 {
		return c, nil
	}
	rs, err := reedsolomon.New(data, parity, reedsolomon.WithMaxGoroutines(1)) // the caller is one of many ranks
	if err != nil {
		return nil, fmt.Errorf("erasure: %w", err)
	}
	c.rs = rs
	return c, nil
}

// Encode overwrites the pieces of parity with the parity of the data. All pieces have one length.
func (c *Coder) Encode(data, parity [][]byte) error {
	if len(data) != c.data || len(parity) != c.parity || !oneLength(data, parity) {
		return ErrShape
	}
	if c.rs != nil && len(data[0]) > 0 {
		return c.rs.Encode(append(slices.Clone(data), parity...)) // reads the data once
	}
	for _, p := range parity {
		clear(p)
	}
	for j, piece := range data {
		if err := c.add(j, piece, parity); err != nil {
			return err
		}
	}
	return nil
}

// Add adds piece j of the data to parity that was zero at first. The parity of all pieces is the
// result of adding each of them once, in any order. To replace a piece, add the XOR of the old and
// the new piece.
func (c *Coder) Add(j int, piece []byte, parity [][]byte) error {
	if j < 0 || j >= c.data || len(parity) != c.parity || !oneLength([][]byte{piece}, parity) {
		return ErrShape
	}
	return c.add(j, piece, parity)
}

func (c *Coder) add(j int, piece []byte, parity [][]byte) error {
	switch {
	case len(piece) == 0 || c.parity == 0:
		return nil
	case c.rs == nil:
		subtle.XORBytes(parity[0], parity[0], piece)
		return nil
	}
	return c.rs.EncodeIdx(piece, j, parity)
}

// Rebuild computes the pieces that are nil. The order is that of Encode: the pieces of data, then
// those of parity. All other pieces have length n.
func (c *Coder) Rebuild(pieces [][]byte, n int) error {
	if len(pieces) != c.data+c.parity {
		return ErrShape
	}
	lost := 0
	for _, p := range pieces {
		switch {
		case p == nil:
			lost++
		case len(p) != n:
			return ErrShape
		}
	}
	switch {
	case lost > c.parity:
		return ErrTooFew
	case lost == 0:
		return nil
	case n == 0:
		makeEmpty(pieces)
		return nil
	case c.rs == nil:
		rebuildXOR(pieces, n)
		return nil
	}
	return c.rs.Reconstruct(pieces)
}

// rebuildXOR computes the one piece that is nil: the XOR of all others.
func rebuildXOR(pieces [][]byte, n int) {
	lost, sum := -1, make([]byte, n)
	for i, p := range pieces {
		if p == nil {
			lost = i
			continue
		}
		subtle.XORBytes(sum, sum, p)
	}
	pieces[lost] = sum
}

func makeEmpty(pieces [][]byte) {
	for i := range pieces {
		pieces[i] = []byte{}
	}
}

func oneLength(a, b [][]byte) bool {
	n := -1
	for _, pieces := range [][][]byte{a, b} {
		for _, p := range pieces {
			if n >= 0 && len(p) != n {
				return false
			}
			n = len(p)
		}
	}
	return true
}
