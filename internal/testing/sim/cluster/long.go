package cluster

import (
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// longs is the state of a program's long messages.
type longs struct {
	g     *program
	sends []*outgoing           // by handle minus 1
	asked map[announcement]bool // messages that their senders have withdrawn
}

// outgoing is a long message that a program sends.
type outgoing struct {
	rendezvous.Send
	handle *handle
	number uint64 // its own handle
	to     int    // rank
	proc   int
	parcel *parcel
	buf    []uint64
	over   bool // the program owns its buffer, and has overwritten it
}

// announcement names a long message at its receiver.
type announcement struct {
	from int // process
	send uint64
}

// chunk is a part of a long message.
type chunk struct {
	recv   uint64 // handle
	offset int
	words  []uint64
}

// wordsMax is the largest number of chunks of one word in a long message.
const wordsMax = 3

// wiped fills buffers that the program owns again.
const wiped = ^uint64(0)

// word is word k of a long message.
func (d *parcel) word(k int) uint64 { return world.Mix(d.contents + uint64(k)) }

// isLong reports whether a control frame belongs to a long message.
func isLong(frame []byte) bool { return len(frame) > 0 && frame[0] >= rendezvous.KindGrant }

// control sends a frame, unless its receiver is known to be dead.
func (l *longs) control(to int, frame []byte) {
	s := l.g.sim
	if l.g.me.rules.Dead().Has(to) {
		return
	}
	s.report.Frames++
	s.post(l.g.me, event{at: s.net.arrival(controlLane, l.g.me.id, to, s.now, l.g.me.slow), kind: arrival, proc: to, other: l.g.me.id, frame: frame})
}

// announce begins to send a long message. The parcel d becomes its announcement.
func (l *longs) announce(h *handle, to int, d *parcel) {
	o := &outgoing{handle: h, number: uint64(len(l.sends) + 1), to: to, proc: h.group.Procs[to], parcel: d}
	l.sends = append(l.sends, o)
	d.send, d.size = o.number, 1+int(d.contents>>40%wordsMax)
	for k := range d.size {
		o.buf = append(o.buf, d.word(k))
	}
	h.talk.out++
	o.Begin(o.proc)
	o.Announced(l.g.me.peers[o.proc].Count())
}

// pushable returns a message that still has chunks to be sent, or nil.
func (l *longs) pushable(h *handle) *outgoing {
	return l.sendOn(h, func(o *outgoing) bool { return o.HasMatched() })
}

// regrets returns a message that the program withdraws, or nil: one of four, if no message was sent
// to its receiver after it.
func (l *longs) regrets(h *handle) *outgoing {
	return l.sendOn(h, func(o *outgoing) bool {
		t := h.talk
		return o.Waits() && t.held[o.to] == 0 && t.sent[o.to] == o.parcel.seq+1 && t.regrets[o.to] <= o.parcel.seq && o.parcel.contents>>50%4 == 0
	})
}

func (l *longs) sendOn(h *handle, which func(*outgoing) bool) *outgoing {
	i := slices.IndexFunc(l.sends, func(o *outgoing) bool { return o.handle == h && !o.over && which(o) })
	if i < 0 {
		return nil
	}
	return l.sends[i]
}

// push sends one chunk.
func (l *longs) push(o *outgoing) {
	s := l.g.sim
	recv, offset, n := o.Chunk(1)
	c := &chunk{recv: recv, offset: offset, words: slices.Clone(o.buf[offset : offset+n])}
	s.post(l.g.me, event{at: s.net.arrival(dataLane, l.g.me.id, o.proc, s.now, l.g.me.slow), kind: piece, proc: o.proc, other: l.g.me.id, chunk: c})
	o.Pushed(n)
	if _, _, left := o.Chunk(1); left == 0 {
		l.endSend(o)
	}
}

// takeBack withdraws a message. The program sends the message again later.
func (l *longs) takeBack(o *outgoing) {
	t := o.handle.talk
	t.held[o.to], t.regrets[o.to] = o.number, o.parcel.seq+1
	if o.TakeBack() == rendezvous.Ask {
		l.control(o.proc, o.Withdraw(o.number).Append(nil))
	}
}

// endSend returns the buffer of a message to the program.
func (l *longs) endSend(o *outgoing) {
	if gone, tell := o.End(); tell {
		l.control(o.proc, gone.Append(nil))
	}
	o.over = true
	for k := range o.buf {
		o.buf[k] = wiped
	}
	o.handle.talk.out--
	o.letOn()
	l.g.rouse()
}

// letOn releases other messages to the receiver.
func (o *outgoing) letOn() {
	if held := o.handle.talk.held; held[o.to] == o.number {
		held[o.to] = 0
	}
}

// endReceive returns the buffer of a receive to the program before the message is complete.
func (l *longs) endReceive(r *receive) {
	r.long.End()
	r.over = true
	r.handle.talk.open--
	l.g.rouse()
}

// failPeer ends the operations that a death ends.
func (l *longs) failPeer(h *handle, proc int) {
	l.endWhich(h, func(p int) bool { return p == proc })
}

// endAll ends the operations that a revocation ends.
func (l *longs) endAll(h *handle) {
	l.endWhich(h, func(int) bool { return true })
}

func (l *longs) endWhich(h *handle, with func(proc int) bool) {
	for _, o := range l.sends {
		if o.handle == h && !o.over && with(o.proc) {
			l.endSend(o)
		}
	}
	for _, r := range l.g.receives {
		if r.handle == h && r.long.HasMatched() && with(r.parcel.from) {
			l.endReceive(r)
		}
	}
}

// refuse answers a message that has no receive any more.
func (l *longs) refuse(m *match.Message) {
	if m.Announced {
		l.control(m.Src, rendezvous.Refuse{Send: m.Handle}.Append(nil))
	}
}

func (l *longs) refuseParcel(d *parcel) {
	if d.send > 0 {
		l.control(d.from, rendezvous.Refuse{Send: d.send}.Append(nil))
	}
}

// begin handles a receive that has matched a long message.
func (l *longs) begin(r *receive, d *parcel) {
	if l.asked[announcement{d.from, d.send}] {
		l.g.sim.fail("I13", "process %d receives a long message of %d that was asked back before", l.g.me.id, d.from)
	}
	r.long.Match(d.from, d.send, d.size, d.size)
	r.parcel, r.buf = d, make([]uint64, d.size)
	if l.g.me.rules.Dead().Has(d.from) {
		l.endReceive(r)
		return
	}
	l.control(d.from, r.long.Grant(uint64(r.Slot)).Append(nil))
}

// chunk puts a chunk of a granted message in its place.
func (l *longs) chunk(from int, c *chunk) {
	if l.g.me.rules.Dead().Has(from) {
		return
	}
	r := l.g.receives[c.recv]
	if !r.long.Lands(from, c.offset, len(c.words)) {
		return
	}
	if r.over {
		l.g.sim.fail("I12", "process %d: a chunk of %d lands in a buffer that is the program's", l.g.me.id, from)
	}
	copy(r.buf[c.offset:], c.words)
	if !r.long.Landed(len(c.words)) {
		return
	}
	r.long.End()
	for k, v := range r.buf {
		if v != r.parcel.word(k) {
			l.g.sim.fail("I11", "process %d on %v receives %x as word %d of long message %d of rank %d", l.g.me.id, r.handle.group.UID, v, k, r.parcel.seq, r.parcel.src)
		}
	}
	l.g.sim.report.Long++
	l.g.received(r)
}

// hear handles a control frame of a long message.
func (l *longs) hear(from int, frame []byte) {
	if l.g.me.rules.Dead().Has(from) {
		return
	}
	if err := rendezvous.Hear(l, from, frame); err != nil {
		l.g.sim.fail("no anomaly", "process %d about process %d: %v", l.g.me.id, from, err)
	}
}

// Granted is a method of rendezvous.Host.
func (l *longs) Granted(from int, g rendezvous.Grant) {
	o := l.sends[g.Send-1]
	if !o.Grant(from, g, len(o.buf)) {
		l.control(from, rendezvous.Gone{Recv: g.Recv}.Append(nil))
		return
	}
	if o.over {
		l.g.sim.fail("I12", "process %d: what is read for %d is the program's", l.g.me.id, from)
	}
	o.letOn()
	l.g.rouse()
}

// AskedBack is a method of rendezvous.Host.
func (l *longs) AskedBack(from int, w rendezvous.Withdraw) {
	l.asked[announcement{from, w.Send}] = true
	if l.g.me.peers[from].TakeBack(l.g.me.match, from, w) {
		l.control(from, rendezvous.Withdrawn{Send: w.Send}.Append(nil))
	}
}

// Withdrawn is a method of rendezvous.Host.
func (l *longs) Withdrawn(from int, w rendezvous.Withdrawn) {
	if o := l.sends[w.Send-1]; o.Withdrawn(from) {
		l.endSend(o)
		o.handle.talk.sent[o.to]--
		l.g.sim.report.TakenBack++
	}
}

// Refused is a method of rendezvous.Host.
func (l *longs) Refused(from int, f rendezvous.Refuse) {
	if o := l.sends[f.Send-1]; o.Refused(from) {
		l.endSend(o)
	}
}

// Gone is a method of rendezvous.Host.
func (l *longs) Gone(from int, g rendezvous.Gone) {
	if r := l.g.receives[g.Recv]; r.long.IsGone(from) {
		l.endReceive(r)
	}
}
