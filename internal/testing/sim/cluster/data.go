package cluster

import (
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// parcel is one message between two programs, as the network carries the message.
type parcel struct {
	comm     world.GroupKey // the communicator as the sender knows it
	ctx      uint32         // the receiver's index of it
	src      int            // rank of the sender
	tag      int
	seq      int    // number among the messages of the pair on the communicator, from 0
	from     int    // process
	contents uint64 // function of communicator, pair and number
	send     uint64 // handle of a long message; the parcel is then its announcement
	size     int    // words of a long message
}

// tags is the number of tags that programs use.
const tags = 2

// talk holds the messages that a program sends and receives on one communicator.
type talk struct {
	to      []int // by rank: messages to send
	sent    []int
	from    []int // by rank: messages to expect
	posts   []int // by rank: number of these with a posted receive
	next    [][tags]int
	wild    bool     // receives from any source
	open    int      // receives that are posted and not over
	out     int      // long messages that are being sent
	held    []uint64 // by rank: handle of the withdrawn message; nothing is sent before its end or its grant
	regrets []int    // by rank: 1 plus the number of the message that was withdrawn last
	over    bool     // revoked: no message is sent or received any more
}

// receive is one posted receive.
type receive struct {
	match.Recv
	handle *handle
	long   rendezvous.Recv
	parcel *parcel // of a long message that has matched
	buf    []uint64
	over   bool // the program owns its buffer
}

// newTalk draws the messages on a communicator: each member sends to the next two ranks and to the
// rank half way round.
func (g *program) newTalk(h *handle) *talk {
	size, s := h.group.Size(), g.sim
	t := &talk{to: make([]int, size), sent: make([]int, size), from: make([]int, size), posts: make([]int, size), next: make([][tags]int, size), held: make([]uint64, size), regrets: make([]int, size)}
	if s.swarm.traffic == 0 || size < 2 {
		return t
	}
	t.wild = s.draw(h.name, 8, g.was(h, h.group.Me))%4 == 0
	for _, far := range []int{1, 2, size / 2} {
		to, from := (h.group.Me+far)%size, (h.group.Me+size-far%size)%size
		if to == h.group.Me {
			continue
		}
		t.to[to] = g.messages(h, h.group.Me, to)
		t.from[from] = g.messages(h, from, h.group.Me)
	}
	return t
}

// messages returns the number of messages from one rank to another.
func (g *program) messages(h *handle, from, to int) int {
	return int(g.sim.draw(h.name, 9, g.was(h, from)<<8|g.was(h, to)) % uint64(g.sim.swarm.traffic+1))
}

func (g *program) contents(h *handle, from, to, seq int) uint64 {
	return g.sim.draw(h.name, 10, g.was(h, from)<<20|g.was(h, to)<<10|seq)
}

// tagOf is the tag of the seq-th message of a pair.
func (g *program) tagOf(h *handle, from, to, seq int) int {
	return int(g.contents(h, from, to, seq) >> 7 % tags)
}

// owes reports whether there is a message to send. awaits reports whether a receive must be posted.
func (t *talk) owes() bool {
	for rank := range t.to {
		if t.sent[rank] < t.to[rank] {
			return true
		}
	}
	return false
}

// canSend reports whether there is a message to send that no withdrawal holds back.
func (t *talk) canSend() bool {
	for rank := range t.to {
		if t.sent[rank] < t.to[rank] && t.held[rank] == 0 {
			return true
		}
	}
	return false
}

func (t *talk) awaits() bool {
	for rank := range t.from {
		if t.posts[rank] < t.from[rank] {
			return true
		}
	}
	return false
}

// say posts the next receive and sends the next message, if there are any.
func (g *program) say(h *handle) {
	g.post(h)
	for to := range h.talk.to {
		if h.talk.sent[to] < h.talk.to[to] && h.talk.held[to] == 0 {
			g.sendNext(h, to)
			return
		}
	}
}

// quiet reports whether all messages on h have been sent and received.
func (g *program) quiet(h *handle) bool {
	t := h.talk
	return t.over || t.open == 0 && t.out == 0 && !t.owes() && !t.awaits()
}

func (g *program) sendNext(h *handle, to int) {
	t, s := h.talk, g.sim
	seq := t.sent[to]
	t.sent[to]++
	proc := h.group.Procs[to]
	if g.knows(h, to) {
		return
	}
	s.report.Messages++
	me := h.group.Me
	d := &parcel{comm: h.key, ctx: h.group.Indices[to], from: g.me.id, src: me, tag: g.tagOf(h, me, to, seq), seq: seq, contents: g.contents(h, me, to, seq)}
	if int(d.contents>>32%100) < s.swarm.longs {
		g.longs.announce(h, to, d)
	}
	at := s.net.arrival(dataLane, g.me.id, proc, s.now, g.me.slow)
	s.post(g.me, event{at: at, kind: message, proc: proc, other: g.me.id, data: d})
}

// post posts one receive that is still missing.
func (g *program) post(h *handle) {
	t := h.talk
	// Messages that the dead sent before their deaths were known would take receives from any
	// source that are meant for messages of others.
	t.wild = t.wild && !g.knowsAny(h)
	for src := range t.from {
		if t.posts[src] == t.from[src] {
			continue
		}
		seq := t.posts[src]
		t.posts[src]++
		r := &receive{handle: h}
		r.Ctx, r.Src, r.Tag = h.group.Index, h.group.Procs[src], g.tagOf(h, src, h.group.Me, seq)
		if t.wild {
			r.Src, r.Tag = match.Any, match.Any
		} else if g.sim.draw(h.name, 11, g.was(h, src))%2 == 0 {
			r.Tag = match.Any
		}
		t.open++
		g.receives = append(g.receives, r)
		r.Slot = uint32(len(g.receives) - 1)
		if g.postOne(r) && g.knows(h, src) { // posted first, checked for the dead after
			g.me.match.Withdraw(&r.Recv)
			t.open--
		}
		return
	}
}

// postOne posts a receive and reports whether the receive is pending.
func (g *program) postOne(r *receive) bool {
	for {
		m := g.me.match.Post(&r.Recv)
		if m == nil {
			return true
		}
		d := g.parcels[m.Transfer]
		delete(g.parcels, m.Transfer)
		if g.stray(r.handle, d) {
			g.longs.refuse(m)
			g.me.match.Recycle(m)
			continue
		}
		g.me.match.Recycle(m)
		g.matched(r, d)
		return false
	}
}

// stray reports whether a message belongs to another communicator with the same index. Its sender
// had decided the call that made the communicator with another result, together with processes that
// are all dead (A17).
func (g *program) stray(h *handle, d *parcel) bool {
	return d.comm != h.key && g.sim.check.mayDiffer(d.from, g.me.id)
}

// arrived passes a message to the matching rules, as the engine does. Sources are world processes,
// so that a message can be kept before its communicator exists.
func (g *program) arrived(from int, d *parcel) {
	if g.me.rules.Dead().Has(from) {
		return // closed: nothing is delivered after the notice (I6)
	}
	if d.send > 0 && g.me.peers[from].Hear(d.send) {
		g.longs.control(from, rendezvous.Withdrawn{Send: d.send}.Append(nil))
		return
	}
	if r := g.me.match.Arrive(d.ctx, from, d.tag); r != nil {
		r := g.receives[r.Slot]
		if g.stray(r.handle, d) {
			g.postOne(r)
			g.longs.refuseParcel(d)
			return
		}
		g.matched(r, d)
		return
	}
	if !g.me.match.Accepts(d.ctx) {
		if st := g.me.match.State(d.ctx); st != match.Revoked && st != match.Freed {
			g.sim.fail("I10", "process %d: a message of %d for index %d, which is %v", g.me.id, from, d.ctx, st)
		}
		g.longs.refuseParcel(d)
		return
	}
	m := g.me.match.Message()
	g.kept++
	m.Ctx, m.Src, m.Tag, m.Handle, m.Announced, m.Transfer = d.ctx, from, d.tag, d.send, d.send > 0, g.kept
	g.parcels[m.Transfer] = d
	g.me.match.Keep(m)
}

// matched checks I10 and I11: each message once, with its contents, those of a tag in the order in
// which they were sent, and none of another communicator.
func (g *program) matched(r *receive, d *parcel) {
	h := r.handle
	t := h.talk
	me := h.group.Me
	if d.comm != h.key || d.src >= len(t.from) || d.seq >= t.from[d.src] || d.contents != g.contents(h, d.src, me, d.seq) {
		g.sim.fail("I11", "process %d on %v receives %+v, which nobody sent there", g.me.id, h.key, *d)
		return
	}
	want := t.next[d.src][d.tag]
	for want < t.from[d.src] && g.tagOf(h, d.src, me, want) != d.tag {
		want++
	}
	if d.seq != want {
		g.sim.fail("I10", "process %d on %v receives message %d of rank %d with tag %d, %d is next", g.me.id, h.group.UID, d.seq, d.src, d.tag, want)
	}
	t.next[d.src][d.tag] = d.seq + 1
	if d.send > 0 {
		g.longs.begin(r, d)
		return
	}
	g.received(r)
}

// received ends a receive that has its message.
func (g *program) received(r *receive) {
	r.over = true
	r.handle.talk.open--
	g.sim.report.Received++
	g.rouse()
}

// declared ends the receives that a death ends, on every communicator.
func (g *program) declared(proc int) { g.gone(proc) }

// gone ends the receives from a process that sends nothing any more.
func (g *program) gone(proc int) {
	for _, h := range g.handles {
		if rank := h.rankOf(proc); rank >= 0 {
			g.failed(h, rank)
		}
	}
}

// failed ends the operations that wait for a dead member. Receives from any source would stay
// pending: the program replaces them by receives from the live members.
func (g *program) failed(h *handle, rank int) {
	t := h.talk
	var pending []*match.Recv
	g.longs.failPeer(h, h.group.Procs[rank])
	g.me.match.Fail(h.group.Index, h.group.Procs[rank], func(*match.Recv) { t.open-- }, func(r *match.Recv) { pending = append(pending, r) }, nil)
	t.posts[rank] = t.from[rank]
	if t.wild && !t.over {
		for _, r := range pending {
			g.me.match.Withdraw(r)
			t.open--
		}
		t.wild = false
		g.repost(h)
	}
	g.rouse()
}

// repost makes the program post receives for the messages that the live members still owe.
func (g *program) repost(h *handle) {
	t := h.talk
	for src := range t.from {
		if g.knows(h, src) {
			t.posts[src] = t.from[src]
			continue
		}
		// From any source, messages come in the order of the pair.
		t.posts[src] = max(t.next[src][0], t.next[src][1])
	}
}

// revoked ends everything on a communicator.
func (g *program) revoked(index uint32) {
	g.me.match.Revoke(index, nil, g.longs.refuse)
	for _, h := range g.handles {
		if h.group.Index == index {
			g.longs.endAll(h)
			h.talk.over, h.talk.open = true, 0
		}
	}
	g.rouse()
}

// knows reports whether a member is known to be dead. For a communicator that was closed in this
// very step the answer does not matter, and is true.
func (g *program) knows(h *handle, rank int) bool {
	known := g.me.rules.Failed(h.group.Index)
	return known == nil || known.Has(rank)
}

// knowsAny reports whether any member is known to be dead.
func (g *program) knowsAny(h *handle) bool {
	for rank := range h.group.Procs {
		if g.knows(h, rank) {
			return true
		}
	}
	return false
}

func (h *handle) rankOf(proc int) int {
	for rank, p := range h.group.Procs {
		if p == proc {
			return rank
		}
	}
	return -1
}
