package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/ulfm"
)

// Contribution is what a member brings into a call that ends in an agreement.
type Contribution struct {
	Flag       uint64
	Veto       bool
	Color, Key int
	Spawned    member.Spawned // spawn, at the root
	Digest     uint64         // of arguments that must be the same at all members
	Members    []int          // world processes that make a call which not all members make
	Tag        int            // of such a call
}

// propose hands a call to control. The caller holds mu and pushes on afterwards.
func (p *Proc) propose(c *Comm, call member.Call, in Contribution, what string) *Request {
	r := p.newCall(c, what)
	p.proposeFor(r, call, in)
	return r
}

func (p *Proc) newCall(c *Comm, what string) *Request {
	r := p.newRequest(callRequest, c, what)
	r.peer = Any
	return r
}

func (p *Proc) proposeFor(r *Request, call member.Call, in Contribution) {
	r.comm.adoptPlain()
	p.hand(r, control.Propose{Call: call, Flag: in.Flag, Veto: in.Veto, Color: in.Color, Key: in.Key, Digest: in.Digest, Members: in.Members, Tag: in.Tag, Spawned: in.Spawned})
}

// hand gives a proposal to control. One that is agreed in memory is looked after
// until it is decided.
func (p *Proc) hand(r *Request, ev control.Propose) {
	ev.Comm, ev.Token = r.comm.group.Index, uint64(r.handle())
	if series := ev.Call.Kind.Series(); r.comm.mem != nil && series != member.SeriesClose && !ev.Call.Kind.Gathers() {
		r.memory = &r.comm.mem[series]
		p.openMemory(r.comm)
	}
	p.step(ev)
}

// Start begins a call that ends in an agreement and returns its handle.
func (c *Comm) Start(call member.Call, in Contribution, what string) (Handle, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := c.alive(); err != nil {
		return 0, err
	}
	r := p.propose(c, call, in, what)
	p.progress()
	return r.handle(), nil
}

// TakeCall ends a request of Start if it is over, and says whether it was.
func (p *Proc) TakeCall(h Handle) (out member.Outcome, made *Comm, over bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if !p.fenced.Load() {
		p.progress()
	}
	r := p.named(h)
	switch {
	case r == nil:
		return out, nil, false, ErrInactive
	case !r.done():
		return out, nil, false, nil
	}
	out, made, err = r.out, r.made, r.err
	p.free(r)
	return out, made, true, err
}

// detach gives up the wait for a call: its result will be dropped.
func (p *Proc) detach(r *Request) {
	if !r.done() {
		r.detached = true
		return
	}
	p.discard(r.made)
	p.free(r)
}

// discard frees a communicator that nobody will use.
func (p *Proc) discard(c *Comm) {
	if c == nil {
		return
	}
	p.giveUp(c)
}

// step applies one event to the control rules and carries out what they decide.
// Rules never re-enter themselves: an event met meanwhile waits its turn. The
// caller holds mu.
func (p *Proc) step(ev control.Event) {
	if p.fenced.Load() {
		return
	}
	p.todo = append(p.todo, ev)
	if p.stepping {
		return
	}
	p.stepping = true
	for i := 0; i < len(p.todo); i++ {
		ev := p.todo[i]
		p.todo[i] = nil
		_, p.looking = ev.(control.Look)
		for _, a := range p.ctl.Step(ev) {
			p.execute(a)
		}
		p.published = false
	}
	p.todo = p.todo[:0]
	p.stepping = false
	p.setTimer()
}

func (p *Proc) execute(a control.Action) {
	switch a := a.(type) {
	case control.Send:
		p.sendControl(a.To, a.Frame)
	case control.Declared:
		p.declared(a)
	case control.Suspected:
		if a.Unanswered && p.cfg.OnSilent != nil {
			p.cfg.OnSilent(a.Proc)
			break
		}
		p.observe(Event{What: "suspect", Procs: []int{a.Proc}})
	case control.Revoked:
		p.revoked(a.Comm)
	case control.Reserved:
		for class := range classes {
			p.match.Reserve(dataContext(a.Index, class))
		}
	case control.Decided:
		p.decided(a)
	case control.Placed:
		p.wakeAfterDecision(p.commAt(a.Comm))
	case control.Forgotten:
		p.forgotten(a.Index)
	case control.Fenced:
		p.fenceLocked(a.Why)
	case control.Anomaly:
		p.observe(Event{What: "anomaly", Procs: []int{a.From}, Text: a.Text})
	}
}

func (p *Proc) observe(ev Event) {
	if p.cfg.Observe != nil {
		p.cfg.Observe(ev)
	}
}

func (p *Proc) commAt(index uint32) *Comm {
	return p.comms.at(index)
}

func (p *Proc) revoked(index uint32) {
	c := p.commAt(index)
	if c == nil || c.revoked {
		return
	}
	c.revoked = true
	p.publishRevocation(c)
	p.endComm(c, ulfm.ErrRevoked)
	p.observe(Event{What: "revoke", Comm: c.Name()})
}

func (p *Proc) decided(a control.Decided) {
	r := p.find(Handle(a.Token))
	if r == nil {
		return
	}
	r.out = a.Outcome
	if r.flag != nil {
		*r.flag = a.Outcome.Flag
	}
	if g := a.Outcome.New; g != nil {
		r.made = p.openChild(r.comm, *g, a.Outcome.Call.Kind)
		p.lookRevocations() // another member may have it already, and have revoked it
	}
	if kind := a.Outcome.Call.Kind; kind == member.KindShrink || kind.Series() == member.SeriesRepair && a.Outcome.Err != nil {
		procs := make([]int, len(a.Outcome.Dead))
		for i, rank := range a.Outcome.Dead {
			procs[i] = r.comm.group.Procs[rank]
		}
		p.observe(Event{What: a.Outcome.Call.Kind.String(), Comm: r.comm.Name(), Procs: procs, Text: sizeText(r.made)})
	}
	if r.memory != nil {
		r.memory = nil
		p.wakeAfterDecision(r.comm)
	}
	made := r.made
	dropped := r.detached
	p.complete(r, a.Outcome.Err)
	if dropped {
		p.discard(made)
	}
}

// wakeAfterDecision wakes the other members where an agreement in memory has been decided here,
// unless another member has decided it before: who publishes the last line decides in the
// same step, also where that is a look, because a decision lets the window admit a
// contribution that was held back. The others may sleep, and nobody else wakes them. And a
// member that hears last of a death decides when it does, long after its line was published.
func (p *Proc) wakeAfterDecision(c *Comm) {
	if c != nil && c.mem != nil && (p.published || !p.looking) {
		p.notifyMembers(c)
	}
}

// openChild opens what a call on a parent made.
func (p *Proc) openChild(parent *Comm, g member.Group, kind member.Kind) *Comm {
	if kind == member.KindSpawn {
		return p.openComm(g, spawnName(&g))
	}
	c := p.openComm(g, "")
	c.name = parent.name.child(kind)
	return c
}

// spawnName is the same on both sides.
func spawnName(g *member.Group) string { return fmt.Sprintf("spawn %v", g.UID) }

func sizeText(c *Comm) string {
	if c == nil {
		return ""
	}
	return fmt.Sprint(c.Size())
}

func (p *Proc) forgotten(index uint32) {
	why := ErrFreed
	if index == control.World {
		why = ErrFinalized
		p.reportUnreceived() // before it is gone
	}
	for class := range classes {
		p.match.Free(dataContext(index, class), func(m *matchRecv) { p.complete(p.slots[m.Slot], why) }, p.dropped)
	}
	p.takeMemory(index) // of one that nobody took up
	if c := p.commAt(index); c != nil {
		p.comms.forget(index)
		p.live = slices.DeleteFunc(p.live, func(x *Comm) bool { return x == c })
	}
}

// setTimer has Tick called when control next wants it. No clock is read unless
// control has a deadline at all.
func (p *Proc) setTimer() {
	at, ok := p.ctl.Deadline()
	if !ok {
		if p.timer != nil && p.timerAt != 0 {
			p.timer.Stop()
			p.timerAt = 0
		}
		return
	}
	if p.timerAt != 0 && at >= p.timerAt {
		return // it fires early enough
	}
	p.timerAt = at
	d := max(time.Duration(at-p.now()), 0)
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.tick)
		return
	}
	p.timer.Reset(d)
}

func (p *Proc) tick() {
	select {
	case <-p.stop:
		return
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timerAt = 0
	if !p.fenced.Load() && !p.finalized.Load() {
		p.progress()
		p.step(control.Tick{Now: p.now()})
		p.pushOn()
	}
}

// Control frames of the engine itself: the first byte tells them from control's,
// whose classes are below engineFrames.
const (
	engineFrames   byte = 0x80
	frameGrant     byte = 0x80 // the receiver matched an announced message: push so many bytes
	frameWithdraw  byte = 0x81 // the sender takes an announced message back
	frameWithdrawn byte = 0x82 // the receiver had not matched it
	frameRefuse    byte = 0x83 // there is no such communicator any more
	frameGone      byte = 0x84 // what was asked for by a grant is no longer there
)

func controlFrame(kind byte, words ...uint64) []byte {
	b := append(make([]byte, 0, 24), kind)
	for _, w := range words {
		b = binary.AppendUvarint(b, w)
	}
	return b
}

// sendControl gives a frame to a peer, behind all frames given before.
func (p *Proc) sendControl(to int, frame []byte) {
	q := &p.peers[to]
	if q.dead && !p.fences() || to == p.me {
		return
	}
	q.outbox = append(q.outbox, frame)
	if len(q.outbox) == 1 {
		p.flushControl(to)
	}
}

func (p *Proc) flushControl(to int) {
	q := &p.peers[to]
	for len(q.outbox) > 0 {
		q.sent = p.link.TryControl(to, q.outbox[0], q.sent)
		if q.sent < len(q.outbox[0]) {
			p.block(to)
			return
		}
		q.outbox[0] = nil
		q.outbox, q.sent = q.outbox[1:], 0
	}
	q.outbox = nil
}

func (p *Proc) readControl(from int) bool {
	did := false
	for {
		frame, ok := p.link.NextControl(from)
		if !ok {
			p.checkBroken(from)
			return did
		}
		did = true
		if len(frame) > 0 && frame[0] >= engineFrames {
			p.engineFrame(from, frame)
			continue
		}
		p.step(control.Receive{From: from, Frame: frame})
	}
}

// checkBroken tells control when a peer's memory makes no sense any more.
func (p *Proc) checkBroken(from int) {
	if err := p.link.Broken(from); err != nil && !p.peers[from].dead {
		p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
		p.step(control.Broken{Proc: from})
	}
}

// block remembers that something towards a peer waits for room.
func (p *Proc) block(to int) {
	if q := &p.peers[to]; !q.waiting {
		q.waiting = true
		p.blocked = append(p.blocked, to)
	}
}

// pushOn sends what waited for room, as far as there is room now.
func (p *Proc) pushOn() bool {
	if len(p.blocked) == 0 {
		return false
	}
	list := p.blocked
	p.blocked = nil
	did := false
	for _, to := range list {
		p.peers[to].waiting = false
		before := len(p.peers[to].outbox) + len(p.peers[to].pushes)
		p.flushControl(to)
		did = p.pushData(to) || did || len(p.peers[to].outbox)+len(p.peers[to].pushes) < before
		p.link.WantRoom(to, p.peers[to].waiting)
	}
	p.checkFlushed()
	return did
}

// flush waits until every control frame is on its way: before this process
// leaves, its last decision must be in its peers' reach. A peer that has left
// needs nothing any more.
func (p *Proc) flush(ctx context.Context) error {
	p.mu.Lock()
	r := p.newRequest(callRequest, p.world, "finalize")
	p.flushing = r
	p.checkFlushed()
	p.mu.Unlock()
	err := p.await(ctx, &r.own)
	p.mu.Lock()
	p.flushing = nil
	p.complete(r, nil)
	p.free(r)
	p.mu.Unlock()
	return err
}

func (p *Proc) checkFlushed() {
	if p.flushing == nil {
		return
	}
	for _, to := range p.blocked {
		// Nobody waits for room at a process that is gone, though frames for one that was
		// declared dead and may live wait there, to tell it so.
		if len(p.peers[to].outbox) > 0 && !p.node.HasLeft(to) && !p.peers[to].dead {
			return
		}
	}
	p.complete(p.flushing, nil)
}

// declared carries out a death in the order that architecture section 6 demands.
func (p *Proc) declared(a control.Declared) {
	q := &p.peers[a.Proc]
	if q.dead {
		return
	}
	q.outbox, q.sent = nil, 0 // (1) its queued control frames are dropped
	if !p.fences() {
		p.link.CloseControl(a.Proc)
	}
	p.drain(a.Proc) // (2) what it published is matched as usual
	p.runSchedules()
	q.dead = true
	for _, c := range p.live {
		if c.RankOf(a.Proc) >= 0 {
			c.deaths++
		}
	}
	p.failPeer(a.Proc) // (3) what still needs it fails
	p.checkProbes()
	p.link.CloseData(a.Proc)
	old := p.departures > 0 && p.departures <= p.older // before this process was started
	if !old && !p.node.HasLeft(a.Proc) {
		p.observe(Event{What: "detect", Procs: []int{a.Proc}, Text: a.Evidence.String()})
	}
}

// fences says whether a process that was declared dead may still run. Then its
// control ring stays open: control drops what comes from the dead, except that it
// tells one who still speaks that it is dead (F6).
func (p *Proc) fences() bool { return p.cfg.Fence || p.cfg.Detector.Fences() }

func (p *Proc) failPeer(proc int) {
	for _, c := range p.live {
		if c.RankOf(proc) < 0 {
			continue
		}
		for class := range classes {
			p.match.Fail(dataContext(c.group.Index, class), proc, func(m *matchRecv) { p.complete(p.slots[m.Slot], ulfm.ErrProcFailed) },
				func(m *matchRecv) { r := p.slots[m.Slot]; r.setPending(true); p.faults.Add(1); p.wakeWaiter(r) }, p.dropped)
		}
	}
	for _, r := range append([]*Request(nil), p.slots...) {
		if !r.active() || r.kind == callRequest {
			continue
		}
		// The parts of a schedule that concern others end as the schedule takes them
		// back: a peer that has not heard of the death may have granted them.
		collective := r.comm.RankOf(proc) >= 0 && r.class() == Collective && r.part == nil
		if collective || r.peer == proc && (r.kind == sendRequest || r.matched) {
			p.fail(r, ulfm.ErrProcFailed)
		}
	}
	p.runSchedules()
	p.peers[proc].pushes = nil
	p.dropPushes(func(t *push) bool { return t.peer == proc })
}

// class returns which context of its communicator a data request is in.
func (r *Request) class() Class {
	switch r.kind {
	case recvRequest:
		return Class(r.Recv.Ctx % uint32(classes))
	case collectiveRequest, scheduleRequest:
		return Collective
	}
	return Class(r.ctx % uint32(classes))
}

func (p *Proc) closePeer(proc int) {
	p.link.CloseControl(proc)
	p.link.CloseData(proc)
	q := &p.peers[proc]
	q.outbox, q.sent, q.pushes = nil, 0, nil
}
