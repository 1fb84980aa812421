package transport

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A writer is the producer's end of one ring.
type writer struct {
	ring     *segment.Ring
	cells    []segment.Cell
	mask     uint64 // cells - 1
	next     uint64 // cells written
	headSeen uint64 // consumer's progress as last read: next - headSeen cells may be in use
	payload  outgoing
	long     outgoing
	copier   segment.Copier // for the payloads of both rings
}

// outgoing is the producer's end of a ring of payloads.
type outgoing struct {
	bytes    []byte
	ahead    segment.Ahead
	head     *uint64
	next     uint64 // bytes taken, including those skipped at the end of the ring
	headSeen uint64
}

func (w *writer) open(r *segment.Ring) {
	w.ring, w.cells, w.mask = r, r.Cells, uint64(len(r.Cells)-1)
}

// cell returns the cell to write next, or nil when the ring is full.
func (w *writer) cell() *segment.Cell {
	if w.next-w.headSeen > w.mask {
		w.headSeen = segment.Load64(w.ring.Head)
		if w.next-w.headSeen > w.mask { // if by far, the consumer is broken, and no cell ever becomes free
			return nil
		}
	}
	segment.Soon(&w.cells[(w.next+cellsAhead)&w.mask].Seq)
	return &w.cells[w.next&w.mask]
}

// cellsAhead is the distance at which a producer prefetches the cache line of a cell. The consumer
// polls the next cell alone, so it does not steal the line back.
const cellsAhead = 8

// publish makes the filled cell visible, soon. The consumer waits for this store alone.
func (w *writer) publish(c *segment.Cell) {
	w.next++
	segment.Publish64(&c.Seq, w.next)
}

// room returns room for n contiguous payload bytes, their position, and the flags that name their
// ring; or nil if there is no room.
func (w *writer) room(n int) (room []byte, pos, flags uint64) {
	if n > EagerMax || n > ShortMax && w.long.bytes != nil {
		room, pos = w.long.reserve(n)
		return room, pos, flagOut | flagLong
	}
	if w.payload.bytes == nil {
		w.payload = outgoing{bytes: w.ring.OpenPayload(), head: w.ring.PayloadHead}
	}
	room, pos = w.payload.reserve(n)
	return room, pos, flagOut
}

// openLong opens the ring for long payloads and reports whether there is one.
func (w *writer) openLong() bool {
	if w.long.head == nil {
		w.long.head = w.ring.LongHead
		if long := w.ring.OpenLong(); long.Size() > 0 {
			w.long.bytes, w.long.ahead = long.Bytes(0, long.Size()), long.Ahead(LongMax)
		}
	}
	return w.long.bytes != nil
}

func (o *outgoing) reserve(n int) ([]byte, uint64) {
	size := uint64(len(o.bytes))
	need := (uint64(n) + segment.Line - 1) &^ (segment.Line - 1)
	if need > size { // the ring was not opened, or the payload exceeds it
		return nil, 0
	}
	pos := o.next
	if pos%size+need > size {
		pos += size - pos%size // skip the rest: a payload is one piece
	}
	if pos+need-o.headSeen > size {
		o.headSeen = segment.Load64(o.head)
		if pos+need-o.headSeen > size {
			return nil, 0
		}
	}
	o.next = pos + need
	at := pos % size
	o.ahead.Cover(int(at) + n)
	return o.bytes[at : at+uint64(n)], pos
}

// A reader is the consumer's end of one ring.
type reader struct {
	ring      *segment.Ring
	cells     []segment.Cell
	mask      uint64 // cells - 1
	next      uint64 // cells consumed
	headTold  uint64 // as last published
	payload   incoming
	long      incoming
	peeked    *incoming // the ring that holds the payload of the peeked frame
	assembled []byte    // control: the received part of the current frame
	awaited   int       // control: the length of that frame
}

// incoming is the consumer's end of a ring of payloads.
type incoming struct {
	bytes []byte
	ahead segment.Ahead
	head  *uint64
	next  uint64 // bytes freed
	told  uint64 // as last published
	after uint64 // the value of next after the peeked frame is taken
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

// take frees the cell. It reports the progress to the producer once per quarter of the ring: with a
// store per message, the cache line would move back and forth each time.
func (r *reader) take() {
	r.next++
	if r.next-r.headTold > r.mask/4 {
		r.tellHead()
	}
	if p := r.peeked; p != nil {
		r.peeked = nil
		if p.next = p.after; p.next-p.told >= uint64(len(p.bytes)/4) {
			p.tell()
		}
	}
}

func (r *reader) tellHead() {
	r.headTold = r.next
	segment.Store64(r.ring.Head, r.next)
}

func (p *incoming) tell() {
	p.told = p.next
	segment.Store64(p.head, p.next)
}

// tellAll publishes all progress.
func (r *reader) tellAll() {
	if r.headTold != r.next {
		r.tellHead()
	}
	for _, p := range [2]*incoming{&r.payload, &r.long} {
		if p.told != p.next {
			p.tell()
		}
	}
}

// find returns the ring that holds the payload of a frame, and opens the ring at first use.
func (r *reader) find(long bool) (p *incoming, err error) {
	if long {
		if p = &r.long; p.bytes == nil {
			var room segment.Region
			if room, err = r.ring.Long(); room.Size() > 0 {
				p.bytes, p.ahead, p.head = room.Bytes(0, room.Size()), room.Ahead(LongMax), r.ring.LongHead
			}
		}
	} else if p = &r.payload; p.bytes == nil {
		p.head = r.ring.PayloadHead
		p.bytes, err = r.ring.Payload()
	}
	if err == nil && p.bytes == nil {
		err = errors.New("payload without a payload ring")
	}
	return p, err
}

// piece returns n payload bytes at a position that the producer has sent. It checks the position
// against the valid range: at or after the freed bytes, and within one round of the ring.
func (r *reader) piece(pos uint64, n int, long bool) ([]byte, error) {
	p, err := r.find(long)
	if err != nil {
		return nil, err
	}
	size := uint64(len(p.bytes))
	at, need := pos%size, (uint64(n)+segment.Line-1)&^(segment.Line-1)
	if need > size || pos < p.next || pos-p.next > size-need || at+need > size {
		return nil, fmt.Errorf("payload of %d bytes at position %d, %d freed, ring of %d", n, pos, p.next, size)
	}
	p.after, r.peeked = pos+need, p
	p.ahead.Cover(int(at) + n)
	return p.bytes[at : at+uint64(n)], nil
}
