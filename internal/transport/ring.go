package transport

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/segment"
)

// A writer is the producer's end of one ring.
type writer struct {
	ring        *segment.Ring
	cells       []segment.Cell
	mask        uint64 // cells - 1
	next        uint64 // cells written
	headSeen    uint64 // consumer's progress as last read: next - headSeen cells may be in use
	payload     []byte
	payNext     uint64 // payload bytes taken, including those skipped at the end of the ring
	payHeadSeen uint64
}

func (w *writer) open(r *segment.Ring) {
	w.ring, w.cells, w.mask = r, r.Cells, uint64(len(r.Cells)-1)
}

// cell returns the cell to write next, or nil when the ring is full.
func (w *writer) cell() *segment.Cell {
	if w.next-w.headSeen > w.mask {
		w.headSeen = segment.Load64(w.ring.Head)
		if w.next-w.headSeen > w.mask { // by far: a broken consumer; then nothing is ever free
			return nil
		}
	}
	segment.Soon(&w.cells[(w.next+cellsAhead)&w.mask].Seq)
	return &w.cells[w.next&w.mask]
}

// cellsAhead is how far ahead a producer asks for the line of a cell. The consumer
// looks at the next one alone, so it does not take the line away again.
const cellsAhead = 8

// publish makes the cell that was just filled visible: the only store that the
// consumer waits for.
func (w *writer) publish(c *segment.Cell) {
	w.next++
	segment.Store64(&c.Seq, w.next)
}

// reserve returns room for n contiguous payload bytes and their position, or
// nil when there is none.
func (w *writer) reserve(n int) ([]byte, uint64) {
	if w.payload == nil {
		w.payload = w.ring.OpenPayload()
	}
	size := uint64(len(w.payload))
	need := (uint64(n) + segment.Line - 1) &^ (segment.Line - 1)
	pos := w.payNext
	if pos%size+need > size {
		pos += size - pos%size // skip the rest: a payload is one piece
	}
	if pos+need-w.payHeadSeen > size {
		w.payHeadSeen = segment.Load64(w.ring.PayloadHead)
		if pos+need-w.payHeadSeen > size {
			return nil, 0
		}
	}
	w.payNext = pos + need
	at := pos % size
	return w.payload[at : at+uint64(n)], pos
}

// A reader is the consumer's end of one ring.
type reader struct {
	ring      *segment.Ring
	cells     []segment.Cell
	mask      uint64 // cells - 1
	next      uint64 // cells consumed
	headTold  uint64 // as last published
	payload   []byte
	payNext   uint64 // payload bytes freed
	payTold   uint64
	payAfter  uint64 // what payNext becomes when the peeked frame is taken
	assembled []byte // control: what has arrived of the frame under way
	awaited   int    // control: its length
}

func (r *reader) open(ring *segment.Ring) {
	r.ring, r.cells, r.mask = ring, ring.Cells, uint64(len(ring.Cells)-1)
}

// ready returns the next cell if its producer has published it.
func (r *reader) ready() *segment.Cell {
	c := &r.cells[r.next&r.mask]
	if segment.Load64(&c.Seq) != r.next+1 {
		return nil
	}
	return c
}

// take frees the cell, and tells the producer every quarter of the ring: a
// store per message would move the line to and fro each time.
func (r *reader) take() {
	r.next++
	if r.next-r.headTold > r.mask/4 {
		r.tellHead()
	}
	if r.payAfter > r.payNext {
		r.payNext = r.payAfter
		if r.payNext-r.payTold >= uint64(len(r.payload)/4) {
			r.tellPayload()
		}
	}
}

func (r *reader) tellHead() {
	r.headTold = r.next
	segment.Store64(r.ring.Head, r.next)
}

func (r *reader) tellPayload() {
	r.payTold = r.payNext
	segment.Store64(r.ring.PayloadHead, r.payNext)
}

// piece returns n payload bytes at a position that the producer named. The
// position is checked against what it can be: at or after what was freed, and
// within one round of the ring.
func (r *reader) piece(pos uint64, n int) ([]byte, error) {
	if r.payload == nil {
		p, err := r.ring.Payload()
		if err != nil {
			return nil, err
		}
		if p == nil {
			return nil, errors.New("payload without a payload ring")
		}
		r.payload = p
	}
	size := uint64(len(r.payload))
	at, need := pos%size, (uint64(n)+segment.Line-1)&^(segment.Line-1)
	if need > size || pos < r.payNext || pos-r.payNext > size-need || at+need > size {
		return nil, fmt.Errorf("payload of %d bytes at position %d, %d freed, ring of %d", n, pos, r.payNext, size)
	}
	r.payAfter = pos + need
	return r.payload[at : at+uint64(n)], nil
}
