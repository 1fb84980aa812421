// Package sparse is a table of entries by small numbers of which few are ever used: memory for an
// entry, and for some beside it, is taken at first use. The first ones are there from the
// beginning.
package sparse

const (
	chunkBits = 4
	chunkLen  = 1 << chunkBits
)

// A Table has an entry for each number from 0 to its length. One goroutine at a time may use
// At; meanwhile others may use At and Peek of entries that were used before.
//
//	entries 0 to 15    first, which is chunks[0]    from the beginning; At is inlined as far as here
//	16 to 31, ...      chunks[1], ...               once one of them is used
type Table[T any] struct {
	first  []T
	chunks []*[chunkLen]T
	n      int
	fresh  func() T
}

// New returns a table of n entries, each of which begins as fresh returns it; nil: as its zero
// value.
func New[T any](n int, fresh func() T) Table[T] {
	t := Table[T]{chunks: make([]*[chunkLen]T, (n+chunkLen-1)/chunkLen), n: n, fresh: fresh}
	if n > 0 {
		t.first = t.make(0)[:min(chunkLen, n)]
	}
	return t
}

// Len is how many entries there can be.
func (t *Table[T]) Len() int { return t.n }

// At returns an entry, which stays where it is.
func (t *Table[T]) At(i int) *T {
	if uint(i) < uint(len(t.first)) {
		return &t.first[i]
	}
	return t.find(i)
}

// find is At of an entry above the first.
func (t *Table[T]) find(i int) *T {
	c := t.chunks[i>>chunkBits]
	if c == nil {
		c = t.make(i)
	}
	return &c[i&(chunkLen-1)]
}

// Peek returns an entry, or nil if there is no memory for it yet.
func (t *Table[T]) Peek(i int) *T {
	if c := t.chunks[i>>chunkBits]; c != nil {
		return &c[i&(chunkLen-1)]
	}
	return nil
}

// Each calls f with the entries that were used, and those beside them, in order.
func (t *Table[T]) Each(f func(*T)) {
	for _, c := range t.chunks {
		if c != nil {
			for i := range c {
				f(&c[i])
			}
		}
	}
}

func (t *Table[T]) make(i int) *[chunkLen]T {
	c := new([chunkLen]T)
	if t.fresh != nil {
		for k := range c {
			c[k] = t.fresh()
		}
	}
	t.chunks[i>>chunkBits] = c
	return c
}
