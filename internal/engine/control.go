package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/alarm"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/departure"
	"github.com/goulfm/goulfm/internal/protocol/inquiry"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/ulfm"
)

// Contribution is the input of a member to a call that ends in an agreement.
type Contribution struct {
	Flag       uint64
	Veto       bool
	Color, Key int
	Spawned    commstate.Spawned // spawn and replace, at the root
	Ranks      []int             // replace: those of the processes that are started
	Digest     uint64            // of arguments that must be the same at all members
	Members    []int             // world processes that make a call which not all members make
	Tag        int               // of such a call
}

// propose hands a call to control. The caller holds mu and pushes on afterwards.
func (p *Proc) propose(c *Comm, call commstate.Call, in Contribution, what string) *Request {
	r := p.newCall(c, what)
	p.proposeFor(r, call, in)
	return r
}

func (p *Proc) newCall(c *Comm, what string) *Request {
	r := p.newRequest(callRequest, c, what)
	r.peer = Any
	return r
}

func (p *Proc) proposeFor(r *Request, call commstate.Call, in Contribution) {
	r.comm.adoptPlain()
	p.hand(r, control.Propose{Call: call, Flag: in.Flag, Veto: in.Veto, Color: in.Color, Key: in.Key, Digest: in.Digest, Members: in.Members, Tag: in.Tag, Spawned: in.Spawned, Ranks: in.Ranks})
}

// hand gives a proposal to control. A proposal that is agreed in memory is polled until it is
// decided.
func (p *Proc) hand(r *Request, ev control.Propose) {
	ev.Comm, ev.Token = r.comm.group.Index, uint64(r.handle())
	if series := ev.Call.Kind.Series(); r.comm.mem != nil && series != commstate.SeriesClose && !ev.Call.Kind.Gathers() {
		r.memory = &r.comm.mem[series]
		p.memory.open(r.comm)
	}
	p.rules.step(ev)
}

// Start begins a call that ends in an agreement and returns its handle.
func (c *Comm) Start(call commstate.Call, in Contribution, what string) (Handle, error) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	h, err := startCall(c, call, in, what)
	if err == nil {
		c.p.loop.hurryUp() // perhaps nobody waits for it
	}
	return h, err
}

// startCall is Start for a caller that holds mu, and waits for the call that it has started.
func startCall(c *Comm, call commstate.Call, in Contribution, what string) (Handle, error) {
	p := c.p
	p.calls++
	if err := c.alive(); err != nil {
		return 0, err
	}
	r := p.propose(c, call, in, what)
	p.progress()
	return r.handle(), nil
}

// TakeCall ends a request of Start if it is over, and reports whether it was.
func (p *Proc) TakeCall(h Handle) (out commstate.Outcome, made *Comm, over bool, err error) {
	c, out, made, over, err := p.takeCall(h)
	if over && c != nil {
		heed(c)
	}
	return out, made, over, err
}

// takeCall is TakeCall, and also returns the communicator of the call.
func (p *Proc) takeCall(h Handle) (c *Comm, out commstate.Outcome, made *Comm, over bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if !p.fenced.Load() {
		p.progress()
	}
	r := p.named(h)
	switch {
	case r == nil:
		return nil, out, nil, false, ErrInactive
	case !r.done():
		return nil, out, nil, false, nil
	}
	c, out, made, err = r.comm, r.out, r.made, r.err
	p.free(r)
	return c, out, made, true, err
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

// rules hosts the control rules.
type rules struct {
	p        *Proc
	todo     []control.Event // met while they are stepping
	stepping bool
	alarm    alarm.Alarm
	ring     func() // tick, made once: a method value
}

// step applies one event to the control rules and carries out the resulting actions. Rules never
// re-enter themselves: an event met meanwhile is queued. The caller holds mu.
func (rh *rules) step(ev control.Event) {
	if rh.p.fenced.Load() {
		return
	}
	rh.todo = append(rh.todo, ev)
	if rh.stepping {
		return
	}
	rh.stepping = true
	for i := 0; i < len(rh.todo); i++ {
		ev := rh.todo[i]
		rh.todo[i] = nil
		_, rh.p.memory.looking = ev.(control.Look)
		for _, a := range rh.p.ctl.Step(ev) {
			rh.execute(a)
		}
		rh.p.memory.node.Published = false
		if len(rh.p.memory.node.Touched) > 0 {
			rh.p.memory.tellTeams()
		}
	}
	rh.todo = rh.todo[:0]
	rh.stepping = false
	rh.setTimer()
}

func (rh *rules) execute(a control.Action) {
	switch a := a.(type) {
	case control.Send:
		rh.p.links.sendControl(a.To, a.Frame)
	case control.Declared:
		rh.p.declared(a)
	case control.Suspected:
		if a.Unanswered && rh.p.cfg.OnSilent != nil {
			rh.p.cfg.OnSilent(a.Proc)
			break
		}
		rh.p.observe(Event{What: "suspect", Procs: []int{a.Proc}})
	case control.Revoked:
		rh.p.revoked(a.Comm)
	case control.Reserved:
		for class := range matched {
			rh.p.match.Reserve(dataContext(a.Index, class))
		}
	case control.Decided:
		rh.p.decided(a)
	case control.Placed:
		rh.p.wakeAfterDecision(rh.p.commAt(a.Comm))
	case control.Forgotten:
		rh.p.forgotten(a.Index)
	case control.LetGo:
		rh.p.gone.vacate(a.Proc)
	case control.Fenced:
		rh.p.fenceLocked(a.Why)
	case control.Anomaly:
		rh.p.observe(Event{What: "anomaly", Procs: []int{a.From}, Text: a.Text})
	}
}

func (p *Proc) observe(ev Event) {
	if p.cfg.Observe != nil {
		p.cfg.Observe(ev)
	}
}

func (p *Proc) commAt(index uint32) *Comm {
	return p.comms.At(index)
}

func (p *Proc) revoked(index uint32) {
	c := p.commAt(index)
	if c == nil || c.revoked {
		return
	}
	c.revoked = true
	p.memory.publishRevocation(c)
	p.memory.stores.revoked(c)
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
		p.memory.pollRevocations() // another member may have opened and revoked it already
		if a.Outcome.Call.Kind.Starts() {
			p.gone.recall(r.comm, g)
		}
	}
	if kind := a.Outcome.Call.Kind; kind == commstate.KindShrink || kind.Series() == commstate.SeriesRepair && a.Outcome.Err != nil {
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
// unless another member has decided it before. The member that publishes the last line decides in
// the same step. That step may be a poll, because a decision lets the window admit a contribution
// that was held back. The others may sleep, and nobody else wakes them. A member that is the last
// to learn of a death decides at that moment, long after its line was published.
func (p *Proc) wakeAfterDecision(c *Comm) {
	if c != nil && c.mem != nil && c.shared && (p.memory.node.Published || !p.memory.looking) {
		p.notifyMembers(c)
	}
}

// openChild opens the communicator that a call on a parent made.
func (p *Proc) openChild(parent *Comm, g commstate.Group, kind commstate.Kind) *Comm {
	if kind == commstate.KindSpawn {
		return p.openComm(g, spawnName(&g))
	}
	c := p.openComm(g, "")
	c.name = parent.name.Child(kind)
	return c
}

// spawnName is the same on both sides.
func spawnName(g *commstate.Group) string { return fmt.Sprintf("spawn %v", g.UID) }

func sizeText(c *Comm) string {
	if c == nil {
		return ""
	}
	return fmt.Sprint(c.Size())
}

func (p *Proc) forgotten(index uint32) {
	why := ErrFreed
	if index == p.world.group.Index {
		why = ErrFinalized
		p.ending.reportUnreceived() // before the world is forgotten
	}
	for class := range matched {
		p.match.Free(dataContext(index, class), func(m *matchRecv) { p.complete(p.slots[m.Slot], why) }, p.dropped)
	}
	p.memory.take(index) // of one that nobody took up
	p.gone.early.Take(index)
	if c := p.commAt(index); c != nil {
		p.memory.oneSided.forget(c)
		p.comms.Forget(index)
		p.live = slices.DeleteFunc(p.live, func(x *Comm) bool { return x == c })
	}
}

// setTimer sets the alarm for control's next deadline.
func (rh *rules) setTimer() {
	at, ok := rh.p.ctl.Deadline()
	rh.alarm.Set(at, ok, rh.p.now, rh.ring)
}

func (rh *rules) tick() {
	select {
	case <-rh.p.loop.stop:
		return
	default:
	}
	rh.p.mu.Lock()
	defer rh.p.mu.Unlock()
	rh.alarm.Rang()
	if !rh.p.fenced.Load() && !rh.p.finalized.Load() {
		rh.p.progress()
		rh.step(control.Tick{Now: rh.p.now()})
		rh.p.links.pushOn()
	}
}

// engineFrames is the least first byte of the engine's own control frames, those of package
// rendezvous, departure.Kind and inquiry.Kind: the classes of control's are below it.
const engineFrames = rendezvous.KindGrant

// links holds the frames that wait for room towards peers.
type links struct {
	p        *Proc
	blocked  []int    // peers towards which something waits for room
	flushing *Request // ends when no control frame waits for room
	taken    []int    // scratch of Take
}

// sendControl gives a frame to a peer, behind all frames given before.
func (ln *links) sendControl(to int, frame []byte) {
	q := ln.p.peers.At(to)
	if q.dead && !ln.p.fences() || to == ln.p.me {
		return
	}
	q.outbox = append(q.outbox, frame)
	if len(q.outbox) == 1 {
		ln.flushControl(to)
	}
}

func (ln *links) flushControl(to int) {
	q := ln.p.peers.At(to)
	for len(q.outbox) > 0 {
		q.sent = ln.p.link.TryControl(to, q.outbox[0], q.sent)
		if q.sent < len(q.outbox[0]) {
			ln.block(to)
			return
		}
		q.outbox[0] = nil
		q.outbox, q.sent = q.outbox[1:], 0
	}
	q.outbox = nil
}

func (ln *links) readControl(from int) bool {
	did := false
	for {
		frame, ok := ln.p.link.NextControl(from)
		if ok && ln.p.others.isAway(from) && !ln.p.gone.reading && ln.p.node.Epoch() != ln.p.epochSeen.Load() {
			// The sender may have learned of a death on this node, which is in the list by then:
			// read the list first (B23). Frames of the dead are read in the middle of the list,
			// whose order stays.
			ln.p.others.link.PutBack(from)
			did = ln.p.gone.read() || did
			continue
		}
		if !ok {
			ln.checkBroken(from)
			return did
		}
		did = true
		switch {
		case len(frame) == 0 || frame[0] < engineFrames:
			ln.p.rules.step(control.Receive{From: from, Frame: frame})
		case frame[0] == departure.Kind:
			ln.p.hearLast(from, frame)
		case frame[0] == inquiry.Kind:
			ln.p.ending.answer(from)
		default:
			ln.p.transfers.hear(from, frame)
		}
	}
}

// checkBroken notifies control when a peer's memory is inconsistent.
func (ln *links) checkBroken(from int) {
	if err := ln.p.link.Broken(from); err != nil && !ln.p.isDead(from) {
		ln.p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
		ln.p.rules.step(control.Broken{Proc: from})
	}
}

// block remembers that something towards a peer waits for room.
func (ln *links) block(to int) {
	if q := ln.p.peers.At(to); !q.waiting {
		q.waiting = true
		ln.blocked = append(ln.blocked, to)
	}
}

// pushOn sends the frames that waited for room, as far as there is room now.
func (ln *links) pushOn() bool {
	if len(ln.blocked) == 0 {
		return false
	}
	list := ln.blocked
	ln.blocked = nil
	did := false
	for _, to := range list {
		ln.p.peers.At(to).waiting = false
		before := len(ln.p.peers.At(to).outbox) + len(ln.p.peers.At(to).pushes)
		ln.flushControl(to)
		did = ln.pushData(to) || did || len(ln.p.peers.At(to).outbox)+len(ln.p.peers.At(to).pushes) < before
		ln.p.link.WantRoom(to, ln.p.peers.At(to).waiting)
	}
	ln.checkFlushed()
	return did
}

// flush waits until every control frame is on its way: before this process
// leaves, its last decision must be in its peers' reach. A peer that has left
// needs nothing any more.
func (ln *links) flush(ctx context.Context) error {
	ln.p.mu.Lock()
	r := ln.p.newRequest(callRequest, ln.p.world, "finalize")
	ln.flushing = r
	ln.checkFlushed()
	ln.p.mu.Unlock()
	err := ln.p.leads.await(ctx, &r.own)
	ln.p.mu.Lock()
	ln.flushing = nil
	ln.p.complete(r, nil)
	ln.p.free(r)
	ln.p.mu.Unlock()
	return err
}

func (ln *links) checkFlushed() {
	if ln.flushing == nil {
		return
	}
	for _, to := range ln.blocked {
		// Nobody waits for room at a dead process. Frames may wait there for a process that was
		// declared dead and may live, to notify it of that.
		if len(ln.p.peers.At(to).outbox) > 0 && !ln.p.node.HasLeft(to) && !ln.p.isDead(to) {
			return
		}
	}
	ln.p.complete(ln.flushing, nil)
}

// declared carries out a death in the order that architecture section 6 demands.
func (p *Proc) declared(a control.Declared) {
	q := p.peers.At(a.Proc)
	if q.dead {
		return
	}
	if p.cfg.Detector.Fences() && a.Evidence != fd.ByExit && p.cfg.OnSilent != nil {
		p.cfg.OnSilent(a.Proc)
	}
	p.memory.stores.mourn(p, a.Proc) // (0) from here on this node executes none of its one-sided requests
	if pausepoint.Enabled {
		pausepoint.At("engine.declares")
	}
	q.outbox, q.sent = nil, 0 // (1) its queued control frames are dropped
	if !p.fences() {
		p.link.CloseControl(a.Proc)
	}
	p.drain(a.Proc) // (2) messages and answers that it published are matched as usual
	left := p.node.HasLeft(a.Proc)
	if left {
		p.transfers.progress() // the dead process has received the messages that it pulled
	}
	p.schedules.run()
	q.dead = true
	for _, c := range p.live {
		if c.RankOf(a.Proc) >= 0 {
			c.gone.Part(a.Proc, left)
		}
	}
	p.failPeer(a.Proc) // (3) requests that still need it fail
	p.checkProbes()
	p.link.CloseData(a.Proc)
	if p.fences() {
		// No daemon wakes the sleepers of the node then. The dead may have lowered a flag of a
		// sleeper and not have come to the wake:
		//
		//	the dead                     a sleeper
		//	                             flag up, sleeps
		//	takes its flag down, dies
		//	                             sleeps on: nobody sees a flag to wake it for
		p.node.WakeAll()
	}
	if !p.gone.isSpawned && !left {
		p.observe(Event{What: "detect", Procs: []int{a.Proc}, Text: a.Evidence.String()})
	}
}

// fences reports whether a process that was declared dead may still run. Then its control ring
// stays open: control drops frames from the dead, except that it notifies a process that still
// sends that it is dead (F6).
func (p *Proc) fences() bool { return p.cfg.Fence || p.cfg.Detector.Fences() }

func (p *Proc) failPeer(proc int) {
	for _, c := range p.live {
		if c.RankOf(proc) < 0 {
			continue
		}
		for class := range matched {
			if class == Collective && goesOn(c, c.gone.LastOfAll()) {
				p.match.Part(dataContext(c.group.Index, class), proc, func(m *matchRecv) { p.complete(p.slots[m.Slot], ulfm.ErrProcFailed) })
				continue
			}
			p.match.Fail(dataContext(c.group.Index, class), proc, func(m *matchRecv) { p.complete(p.slots[m.Slot], ulfm.ErrProcFailed) },
				func(m *matchRecv) { r := p.slots[m.Slot]; r.setPending(true); p.faults.Add(1); p.wakeWaiter(r) }, p.dropped)
		}
	}
	for _, r := range append([]*Request(nil), p.slots...) {
		if !r.active() || r.kind == callRequest {
			continue
		}
		// Parts of a schedule that concern other peers end when the schedule takes them back: a
		// peer that has not learned of the death may have granted them.
		collective := r.comm.RankOf(proc) >= 0 && r.class() == Collective && r.part == nil && !r.outlives()
		if collective || r.peer == proc && (r.kind == sendRequest || r.kind == oneSidedRequest || r.receiving.HasMatched()) {
			p.fail(r, ulfm.ErrProcFailed)
		}
	}
	for _, s := range slices.Backward(p.services[:]) { // schedules release their sends first
		s.peerDied(proc)
	}
	p.peers.At(proc).pushes = nil
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
