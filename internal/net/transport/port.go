package transport

import (
	"fmt"
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/sparse"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A Port is one process's end of the rings of its node.
type Port struct {
	me, procs  int
	generation uint32 // of this process in its slot
	node       *node.Node
	mine       *segment.Arena
	arena      func(proc int) (*segment.Arena, error)
	pid        func(proc int) int
	bits       [2][]uint64
	peers      sparse.Table[peer]
	allClosed  bool
}

type peer struct {
	arena  *segment.Arena
	bell   *uint32
	bits   [2]*uint64 // the words with this process's bit at the peer
	out    [2]writer
	in     [2]reader
	closed [2]bool
	broken error
	// Nonzero: the slot was vacated, and remains closed until it holds a process of this
	// generation. 0: the slot is in use, or was never used.
	vacated uint32

	indirect bool // no copies between the two memories
}

// A Home provides the memory of a Port.
type Home struct {
	Node    *segment.Node
	Sleeper park.Sleeper
	// Arena returns the arena of a process. The Port calls it once for each process, at first use.
	Arena func(proc int) (*segment.Arena, error)
	// Pid returns the pid of a process; nil if the memory of processes must not be copied directly.
	Pid func(proc int) int
}

// NewPort returns the port of process me.
func NewPort(h Home, me int) (*Port, error) {
	mine, err := h.Arena(me)
	if err != nil {
		return nil, err
	}
	p := &Port{me: me, procs: h.Node.Procs(), node: node.New(h.Node, h.Sleeper, me), mine: mine, arena: h.Arena, pid: h.Pid}
	p.peers = sparse.New(p.procs, p.freshPeer)
	p.generation = p.node.Generation(me)
	p.bits[Data], p.bits[Control] = mine.Bits(segment.Data), mine.Bits(segment.Control)
	return p, nil
}

// Node returns the process's view of its node.
func (p *Port) Node() *node.Node { return p.node }

// End returns the node and the link of this port's process.
func (p *Port) End() End { return End{p.node, p} }

// reach returns a peer, and maps its arena at first use.
func (p *Port) reach(proc int) *peer {
	q := p.peers.At(proc)
	if q.vacated != 0 {
		if p.node.Generation(proc) < q.vacated {
			return q
		}
		*q = p.freshPeer()
	}
	if q.arena == nil && q.broken == nil {
		a, err := p.arena(proc)
		if err != nil {
			p.stop(q, err)
			return q
		}
		q.arena, q.bell = a, p.node.Doorbell(proc)
		q.bits[Data], q.bits[Control] = &a.Bits(segment.Data)[p.me>>6], &a.Bits(segment.Control)[p.me>>6]
	}
	return q
}

// stop ends all traffic with a peer whose memory is invalid.
func (p *Port) stop(q *peer, err error) {
	q.broken = err
	q.closed = [2]bool{true, true}
}

// Vacate forgets the state of the process that was in a slot. The next process in that slot has
// another generation. Until it is there, both classes of frames are closed. A process that has left
// may still poll its rings. If this process opened such a ring anew, it would zero memory that the
// leaver still reads:
//
//	0: Finalize; says that it has left
//	1: learns that, and forgets 0
//	1: finds a ring of 0 again, reads an old frame, answers: zeroes its memory for that ring
//	0: polls for the last time, in that memory
func (p *Port) Vacate(slot int) {
	*p.peers.At(slot) = peer{closed: [2]bool{true, true}, vacated: p.node.Generation(slot) + 1}
}

// Broken implements Link.
func (p *Port) Broken(proc int) error {
	if q := p.peers.Peek(proc); q != nil {
		return q.broken
	}
	return nil
}

func (p *Port) out(to int, c Class) (*peer, *writer) {
	q := p.reach(to)
	w := &q.out[c]
	if w.ring == nil && !q.closed[c] {
		w.open(p.mine.Open(segment.Kind(c), to, p.node.Generation(to)))
	}
	return q, w
}

func (p *Port) in(from int, c Class) (*peer, *reader) {
	q := p.reach(from)
	if q.closed[c] {
		return q, nil
	}
	r := &q.in[c]
	if r.ring != nil {
		return q, r
	}
	ring, err := q.arena.Find(segment.Kind(c), p.me, p.generation)
	if err != nil {
		p.stop(q, err)
	}
	if ring == nil {
		return q, nil
	}
	r.open(ring)
	return q, r
}

// dataOut is out for data.
func (p *Port) dataOut(to int) (*peer, *writer) {
	q := p.peers.At(to)
	if w := &q.out[Data]; w.ring != nil {
		return q, w
	}
	return p.out(to, Data)
}

// TrySend implements Link.
func (p *Port) TrySend(to int, h *Header, payload []byte) bool {
	ok, tell := p.Put(to, h, payload)
	if tell {
		p.Tell(to, h.Kind)
	}
	return ok
}

// Put is TrySend without the notification of the peer. If tell is true, the caller must notify the
// peer with Tell. A caller that holds a lock for Put can release the lock in between.
func (p *Port) Put(to int, h *Header, payload []byte) (ok, tell bool) {
	q, w := p.dataOut(to)
	if q.closed[Data] {
		return true, false
	}
	c := w.cell()
	if c == nil || !fill(w, c, h, payload) {
		return false, false
	}
	w.publish(c)
	return true, true
}

// PutInline is Put of an Eager message that fits into a cell.
func (p *Port) PutInline(to int, l Label, payload []byte) (ok, tell bool) {
	q, w := p.dataOut(to)
	if q.closed[Data] {
		return true, false
	}
	c := w.cell()
	if c == nil {
		return false, false
	}
	segment.Copy(c.Inline[:], payload)
	c.SetWords(l.words(len(payload)))
	w.publish(c)
	return true, true
}

// Tell notifies a peer of a frame of this kind that was Put. It needs no lock, even if others send
// at the same time. It executes the fence between the store of the frame and the check for
// sleepers.
func (p *Port) Tell(to int, k Kind) {
	publish.Fence()
	q := p.peers.At(to)
	wanted := park.Caller
	if k == Announce {
		wanted |= park.Background
	}
	p.tell(q, Data, wanted)
}

// TakesLong reports whether Eager frames to a process may have up to LongMax bytes. It opens the
// ring for long payloads, which no other transport has. From then on payloads above ShortMax use
// that ring, too.
func (p *Port) TakesLong(to int) bool {
	q, w := p.dataOut(to)
	return !q.closed[Data] && w.openLong()
}

func fill(w *writer, c *segment.Cell, h *Header, payload []byte) bool {
	flags, at := uint64(0), 0
	switch h.Kind {
	case Announce:
		c.SetInline(0, h.Handle)
		if h.Addr != 0 {
			c.SetInline(1, h.Addr)
			c.SetInline(2, uint64(h.Transfer))
			flags |= flagOut
		}
		putHeader(c, h, flags)
		return true
	case Chunk:
		c.SetInline(0, h.Handle)
		c.SetInline(1, uint64(h.Offset))
		at = 2
	case Eager:
		if len(payload) <= segment.InlineBytes {
			segment.Copy(c.Inline[:], payload)
			putHeader(c, h, 0)
			return true
		}
	}
	room, pos, out := w.room(len(payload))
	if room == nil {
		return false
	}
	w.copier.Copy(room, payload)
	c.SetInline(at, pos)
	putHeader(c, h, flags|out)
	return true
}

// tell sets this process's bit at the peer, if the bit is clear, and wakes the peer if it sleeps
// for one of the flags. The caller has published the frame before. So a peer that clears the bit
// first and polls afterwards cannot miss the frame.
func (p *Port) tell(q *peer, c Class, flags uint32) {
	word, bit := q.bits[c], uint64(1)<<(p.me&63)
	if segment.Load64(word)&bit == 0 {
		segment.Or64(word, bit)
	}
	p.node.Ring(q.bell, flags)
}

// Peek implements Link.
func (p *Port) Peek(from int) (f Frame, ok bool) {
	return f, p.Next(from, &f)
}

// Next is Peek into a frame of the caller, which avoids a copy.
func (p *Port) Next(from int, f *Frame) bool {
	q := p.peers.At(from)
	r := &q.in[Data]
	if r.ring == nil || q.closed[Data] {
		if q, r = p.in(from, Data); r == nil {
			return false
		}
	}
	c := r.ready()
	if c == nil {
		return false
	}
	if err := read(r, c, f); err != nil {
		p.stop(q, fmt.Errorf("process %d sent a bad frame: %w", from, err))
		return false
	}
	return true
}

// NextInline is Next for a whole message inside its cell; false: the next frame is of another kind,
// or there is none.
func (p *Port) NextInline(from int) (l Label, payload []byte, ok bool) {
	q := p.peers.At(from)
	r := &q.in[Data]
	if r.ring == nil || q.closed[Data] {
		return l, nil, false
	}
	c := r.ready()
	if c == nil {
		return l, nil, false
	}
	l, size, ok := inline(c.Word1, c.Word2)
	if !ok {
		return l, nil, false
	}
	return l, c.Inline[:size], true
}

// AdvanceInline is Advance after NextInline.
func (p *Port) AdvanceInline(from int) {
	r := &p.peers.At(from).in[Data]
	if r.next++; r.next-r.headTold > r.mask/4 {
		r.tellHead()
	}
}

func read(r *reader, c *segment.Cell, f *Frame) error {
	flags := header(c, &f.Header)
	h := &f.Header
	limit, at, long := EagerMax, 0, flags&flagLong != 0
	switch h.Kind {
	case Announce:
		f.Handle, f.Payload = word(c.Inline[:], 0), nil
		if flags&flagOut != 0 {
			f.Addr, f.Transfer = word(c.Inline[:], 1), int(uint32(word(c.Inline[:], 2)))
		}
		return nil
	case Chunk:
		f.Handle, f.Offset = word(c.Inline[:], 0), int(word(c.Inline[:], 1))
		limit, at = ChunkMax, 2
	case Eager:
		if flags&flagOut == 0 {
			if h.Size > segment.InlineBytes {
				return fmt.Errorf("inline message of %d bytes", h.Size)
			}
			f.Payload = c.Inline[:h.Size]
			return nil
		}
		if long {
			limit = LongMax
		}
	default:
		return fmt.Errorf("kind %d", h.Kind)
	}
	if h.Size > limit || f.Offset < 0 || f.Offset > SizeMax-h.Size {
		return fmt.Errorf("kind %d with %d bytes at offset %d", h.Kind, h.Size, f.Offset)
	}
	var err error
	f.Payload, err = r.piece(word(c.Inline[:], at), h.Size, long)
	return err
}

// Advance implements Link.
func (p *Port) Advance(from int) {
	if r := &p.peers.At(from).in[Data]; r.ring != nil && !p.peers.At(from).closed[Data] {
		r.take()
	}
}

// TryControl implements Link. A cell carries up to InlineBytes of the frame. Its first header word
// is the length of the whole frame, its second the number of bytes in this cell.
func (p *Port) TryControl(to int, frame []byte, sent int) int {
	q, w := p.out(to, Control)
	if q.closed[Control] {
		return len(frame)
	}
	before := sent
	for sent < len(frame) {
		c := w.cell()
		if c == nil {
			break
		}
		n := min(len(frame)-sent, segment.InlineBytes)
		segment.Copy(c.Inline[:n], frame[sent:sent+n])
		c.SetWords(uint64(len(frame)), uint64(n))
		w.publish(c)
		sent += n
	}
	if sent > before {
		publish.Fence()
		p.tell(q, Control, park.Caller|park.Background)
	}
	return sent
}

// NextControl implements Link.
func (p *Port) NextControl(from int) ([]byte, bool) {
	q, r := p.in(from, Control)
	if r == nil {
		return nil, false
	}
	if r.awaited > 0 && len(r.assembled) == r.awaited { // the frame of the last call
		r.assembled, r.awaited = r.assembled[:0], 0
	}
	for {
		c := r.ready()
		if c == nil {
			return nil, false
		}
		total, n := c.Word1, c.Word2
		if r.awaited == 0 {
			r.awaited = int(min(total, ControlMax))
		}
		if total != uint64(r.awaited) || total == 0 || n == 0 || n > segment.InlineBytes || len(r.assembled)+int(n) > r.awaited {
			p.stop(q, fmt.Errorf("process %d sent a bad control frame: %d bytes of %d", from, n, total))
			return nil, false
		}
		r.assembled = append(r.assembled, c.Inline[:n]...)
		r.take()
		if len(r.assembled) == r.awaited {
			return r.assembled, true
		}
	}
}

// Take implements Link. It clears the bits before anyone polls the rings, so a frame published
// after that poll sets its bit again.
func (p *Port) Take(c Class, dst []int) []int {
	for i := range p.bits[c] {
		if segment.Load64(&p.bits[c][i]) == 0 {
			continue
		}
		for w := segment.Swap64(&p.bits[c][i], 0); w != 0; w &= w - 1 {
			if q := i<<6 + bits.TrailingZeros64(w); q < p.procs {
				dst = append(dst, q)
			}
		}
	}
	return dst
}

// Pending implements Link.
func (p *Port) Pending(except int) bool {
	for i := range p.bits[Data] {
		w := segment.Load64(&p.bits[Data][i])
		if except>>6 == i {
			w &^= 1 << (except & 63)
		}
		if w|segment.Load64(&p.bits[Control][i]) != 0 {
			return true
		}
	}
	return false
}

// Watch implements Link.
func (p *Port) Watch(from int) (*uint64, uint64) {
	_, r := p.in(from, Data)
	if r == nil {
		return nil, 0
	}
	return &r.cells[r.next&r.mask].Seq, r.next + 1
}

// WantRoom implements Link. The producer announces that it waits before it checks for room. The
// consumer publishes its progress before it checks for a waiting producer. So at least one of the
// two sees the other.
func (p *Port) WantRoom(to int, want bool) {
	for _, c := range [2]Class{Data, Control} {
		q, w := p.out(to, c)
		if q.closed[c] {
			continue
		}
		if v := segment.Load64(w.ring.WantsRoom) != 0; v != want {
			segment.Store64(w.ring.WantsRoom, boolWord(want))
		}
		if want {
			p.tell(q, c, park.Caller|park.Background)
		}
	}
}

func boolWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Sweep implements Link.
func (p *Port) Sweep(from int) {
	for _, c := range [2]Class{Data, Control} {
		q, r := p.in(from, c)
		if r == nil || segment.Load64(r.ring.WantsRoom) == 0 {
			continue
		}
		r.tellAll()
		// Set the bit as well as the bell: the producer may have checked for room just before, and
		// be about to sleep. The last thing it checks is its bits.
		p.tell(q, c, park.Caller|park.Background)
	}
}

// CreditReturned implements Link.
func (p *Port) CreditReturned(to int) uint64 {
	q, w := p.out(to, Data)
	if q.closed[Data] {
		return 0
	}
	return segment.Load64(w.ring.Credit)
}

// ReturnCredit implements Link.
func (p *Port) ReturnCredit(from int, total uint64) {
	if _, r := p.in(from, Data); r != nil {
		segment.Store64(r.ring.Credit, total)
	}
}

// CloseAll implements Link.
func (p *Port) CloseAll() {
	p.allClosed = true
	p.peers.Each(func(q *peer) { q.closed = [2]bool{true, true} })
}

// freshPeer returns the state of a peer before any contact.
func (p *Port) freshPeer() peer { return peer{closed: [2]bool{p.allClosed, p.allClosed}} }

// CloseControl implements Link.
func (p *Port) CloseControl(proc int) { p.peers.At(proc).closed[Control] = true }

// CloseData implements Link.
func (p *Port) CloseData(proc int) { p.peers.At(proc).closed[Data] = true }
