package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
	"github.com/goulfm/goulfm/ulfm"
)

// plan holds the numbers of calls of the members of a communicator. A plan is a function of the
// seed and the communicator's uid, so all members have the same plan.
type plan struct {
	repairs   int // calls of agree, agree_failed, shrink
	creations int // calls of dup, split
	bursts    int // calls open at once in a series, at most
	gathers   int // creations from a group; a member makes those that include it
}

// handle is a communicator as a program holds it.
type handle struct {
	group   commstate.Group
	key     world.GroupKey
	name    commstate.UID // its uid in the whole run
	roll    []int         // its members in the whole run, by their names and in order
	depth   int
	plan    plan
	passed  [3]int // calls of the plan that were made or left out, by series
	made    [3]int // calls so far, by series
	open    [3]int // of these, not answered
	shrinks int    // of the open calls of the repair series
	gathers gathers
	revokes bool // this member revokes the communicator at some point
	talk    *talk
	closing bool
}

// program is the program of a process. The program runs when an event wakes it, and makes one call
// each time.
type program struct {
	sim     *simulation
	me      *process
	handles []*handle // the world first; without closed ones
	calls   map[uint64]call
	token   uint64
	awake   bool // a wake event is on the way

	receives []*receive
	longs    longs
	parcels  map[int]*parcel // unexpected messages, by Transfer; also withdrawn ones
	kept     int
	wakes    int
}

// call is an open call.
type call struct {
	*handle
	call commstate.Call
	seq  int // its number in its series, if any

	members []int // of a creation from a group; then seq is its number among all of them
	number  int   // in the plan
	color   int   // of a split
}

func newProgram(s *simulation, p *process) *program {
	prog := &program{sim: s, me: p, calls: map[uint64]call{}, parcels: map[int]*parcel{}}
	prog.longs = longs{g: prog, asked: map[announcement]bool{}}
	world := commstate.Group{UID: commstate.WorldUID(s.swarm.n), Indices: make([]uint32, s.swarm.n), Me: p.id}
	for q := range s.swarm.n {
		world.Procs = append(world.Procs, q)
	}
	p.program = prog
	prog.adopt(world, 0, commstate.WorldUID(max(s.part.whole, s.swarm.n)))
	prog.handles[0].plan.repairs = s.swarm.agreements
	return prog
}

// adopt starts to work on a communicator.
func (g *program) adopt(group commstate.Group, depth int, name commstate.UID) {
	s := g.sim
	h := &handle{group: group, key: world.KeyOf(group), name: name, depth: depth, plan: s.planFor(name, depth)}
	h.roll = s.part.rollOf(name, group.Procs)
	s.adopted[name] = true
	me := s.part.nameOf(g.me.id)
	t := s.tape.Fork(forRevoke, me, int(s.draw(name, 7, 0)>>1))
	h.revokes = t.Percent(s.swarm.revokes) && t.Below(len(h.roll)) < 3 && !s.part.skipped(name, opRevoke, me)
	h.talk = g.newTalk(h)
	g.me.match.Open(group.Index, g.sim.swarm.n, false)
	g.handles = append(g.handles, h)
	g.rouse()
}

func (s *simulation) planFor(uid commstate.UID, depth int) plan {
	p := plan{bursts: 1 + int(s.draw(uid, 1, 0)%uint64(s.swarm.bursts))}
	if depth > world.DepthMax {
		return p
	}
	p.repairs = 1 + int(s.draw(uid, 2, 0)%4)
	if s.swarm.creations > 0 {
		p.creations = int(s.draw(uid, 3, 0) % uint64(s.swarm.creations+1))
	}
	if s.swarm.gatherings > 0 {
		p.gathers = int(s.draw(uid, drawGathers, 0) % uint64(s.swarm.gatherings+1))
	}
	return p
}

// draw returns a number that is the same at all members of a communicator.
func (s *simulation) draw(uid commstate.UID, what, k int) uint64 {
	h := world.NewHash()
	h.Add(s.options.Seed)
	h.Add(binary.LittleEndian.Uint64(uid[:8]))
	h.Add(uint64(what)<<32 | uint64(k))
	return uint64(h) >> 8
}

// rouse wakes the program after a delay.
func (g *program) rouse() {
	if !g.awake {
		g.awake = true
		g.wakes++
		t := g.sim.tape.Fork(forThink, g.sim.part.nameOf(g.me.id), g.wakes)
		g.sim.queue.push(event{at: g.sim.now.Add(t.Uniform(3 * world.MessageDelay)), kind: wake, proc: g.me.id, other: g.me.id})
	}
}

// wake makes one of the possible calls of the program, if any.
func (g *program) wake() {
	g.awake = false
	var ready []func()
	for _, h := range g.handles {
		ready = append(ready, g.ready(h)...)
	}
	if len(ready) == 0 {
		return
	}
	t := g.sim.tape.Fork(forChoice, g.sim.part.nameOf(g.me.id), g.wakes)
	g.me.called = append(g.me.called, made{skip{what: opOther}, g.me.steps})
	ready[t.Below(len(ready))]()
	g.rouse()
}

// notes records which call the program makes.
func (g *program) notes(h *handle, what operation, k int) {
	g.me.called[len(g.me.called)-1].skip = skip{h.name, what, k}
}

// ready returns the calls that can be made on h.
func (g *program) ready(h *handle) []func() {
	var can []func()
	if g.left(h, commstate.SeriesRepair) && h.open[commstate.SeriesRepair] < h.plan.bursts {
		can = append(can, func() { g.repair(h) })
	}
	if g.left(h, commstate.SeriesCreate) && h.open[commstate.SeriesCreate] < h.plan.bursts {
		can = append(can, func() { g.create(h) })
	}
	if members := g.gathering(h); members != nil && h.gathers.open < h.plan.bursts {
		can = append(can, func() { g.gather(h, members) })
	}
	if h.revokes {
		can = append(can, func() { g.revoke(h) })
	}
	if t := h.talk; !t.over && (t.canSend() || t.awaits()) {
		can = append(can, func() { g.say(h) })
	}
	if o := g.longs.pushable(h); o != nil {
		can = append(can, func() { g.longs.push(o) })
	}
	if o := g.longs.regrets(h); o != nil {
		can = append(can, func() { g.longs.takeBack(o) })
	}
	if len(can) == 0 && g.sim.swarm.closes && g.idle(h) && (h.depth > 0 || len(g.handles) == 1) {
		can = append(can, func() { g.close(h) })
	}
	return can
}

// idle reports whether all calls on h are made and answered.
func (g *program) idle(h *handle) bool {
	return h.open == [3]int{} && h.gathers.open == 0 && g.gathering(h) == nil && !h.closing && !g.left(h, commstate.SeriesRepair) && !g.left(h, commstate.SeriesCreate) && g.quiet(h)
}

// left reports whether calls of a series are left in the plan of h. Calls that are left out are
// skipped.
func (g *program) left(h *handle, s commstate.Series) bool {
	planned, what := h.plan.repairs, opRepair
	if s == commstate.SeriesCreate {
		planned, what = h.plan.creations, opCreate
	}
	for h.passed[s] < planned && g.sim.part.skipped(h.name, what, h.passed[s]) {
		h.passed[s]++
	}
	return h.passed[s] < planned
}

// was returns the rank of a member in the whole run, or its present rank if the former is unknown.
func (g *program) was(h *handle, rank int) int {
	if old := slices.Index(h.roll, g.sim.part.nameOf(h.group.Procs[rank])); old >= 0 {
		return old
	}
	return rank
}

// childName returns the name of the communicator that a call makes.
func (g *program) childName(c call) commstate.UID {
	if c.members != nil {
		return g.gatheredName(c)
	}
	return commstate.ChildUID(c.name, c.call.Kind, uint64(c.number+1), c.color)
}

// done reports whether the program has no call left to make or to wait for.
func (g *program) done() bool {
	return len(g.calls) == 0 && !slices.ContainsFunc(g.handles, func(h *handle) bool { return !g.idle(h) })
}

// describe returns the open operations of the program.
func (g *program) describe() string {
	text := ""
	for _, h := range g.handles {
		if !g.idle(h) {
			text += fmt.Sprintf("  program on %d %v: calls %v open %v of %+v, receives %+v\n", h.group.Index, h.group.Procs, h.made, h.open, h.plan, *h.talk)
		}
	}
	return text
}

func (g *program) repair(h *handle) {
	k := h.passed[commstate.SeriesRepair]
	g.notes(h, opRepair, k)
	kind := commstate.KindAgree
	switch g.sim.draw(h.name, 4, k) % 50 {
	case 0, 1, 2, 3, 4, 5:
		kind = commstate.KindShrink
	case 6, 7, 8, 9, 10:
		kind = commstate.KindAgreeFailed
	case 11: // members call different operations
		kind = []commstate.Kind{commstate.KindAgree, commstate.KindShrink, commstate.KindAgreeFailed}[g.was(h, h.group.Me)%3]
	}
	t := g.sim.tape.Fork(forAck, g.sim.part.nameOf(g.me.id), int(g.token))
	if t.Percent(g.sim.swarm.ack) {
		if _, err := g.me.rules.Failed(h.group.Index).Ack(h.group.Size()); err != nil {
			g.sim.fail("R21", "process %d acknowledges all: %v", g.me.id, err)
		}
	}
	g.propose(h, control.Propose{Call: commstate.Call{Kind: kind}})
}

func (g *program) create(h *handle) {
	k, me := h.passed[commstate.SeriesCreate], g.was(h, h.group.Me)
	g.notes(h, opCreate, k)
	draw := g.sim.draw(h.name, 5, k)
	if draw%2 == 0 {
		g.propose(h, control.Propose{Call: commstate.Call{Kind: commstate.KindDup}, Veto: draw%32 == 0 && me == len(h.roll)/2})
		return
	}
	colors := []int{0, 1, 2, commstate.Undefined}
	mine := g.sim.draw(h.name, 6+k, me)
	g.propose(h, control.Propose{
		Call:  commstate.Call{Kind: commstate.KindSplit},
		Color: colors[mine%(2+draw/2%3)],
		Key:   int(mine / 8 % 5),
	})
}

func (g *program) revoke(h *handle) {
	h.revokes = false
	g.notes(h, opRevoke, g.sim.part.nameOf(g.me.id))
	g.sim.report.Revokes++
	g.sim.mark(g.me.id, markCall, "revoke %d", h.group.Index)
	g.sim.step(g.me, control.Revoke{Comm: h.group.Index})
}

func (g *program) close(h *handle) {
	h.closing = true
	kind := commstate.KindClose
	if h.depth == 0 {
		kind = commstate.KindFinalize
	}
	g.propose(h, control.Propose{Call: commstate.Call{Kind: kind}})
}

// propose makes a call. Its flag names the caller, so that the result shows the contributors.
func (g *program) propose(h *handle, ev control.Propose) {
	series := ev.Call.Kind.Series()
	c := call{handle: h, call: ev.Call, number: h.passed[series], color: ev.Color}
	h.passed[series]++
	h.made[series]++
	h.open[series]++
	if ev.Call.Kind == commstate.KindShrink {
		h.shrinks++
	}
	c.seq = h.made[series]
	g.make(c, ev)
}

// make makes a call that is counted already.
func (g *program) make(c call, ev control.Propose) {
	h := c.handle
	g.token++
	ev.Comm, ev.Token, ev.Flag = h.group.Index, g.token, ^(uint64(1) << h.group.Me)
	g.calls[g.token] = c
	g.sim.check.proposed(g.me, c)
	g.sim.mark(g.me.id, markCall, "%v/%d", ev.Call, c.seq)
	if g.sim.options.Trace != nil {
		g.sim.trace(g.me.id, "calls %v/%d on %v token %d", ev.Call, c.seq, h.group.UID, ev.Token)
	}
	g.sim.goOver(g.me, ev.Comm)
	if !g.sim.enterPlainly(g.me, ev) {
		g.sim.step(g.me, ev)
	}
}

// decided processes the answer of a call.
func (g *program) decided(a control.Decided) {
	c, open := g.calls[a.Token]
	if !open {
		g.sim.fail("I4", "process %d: call %d was answered before, or never made", g.me.id, a.Token)
		return
	}
	delete(g.calls, a.Token)
	if c.members != nil {
		c.gathers.open--
	} else {
		c.open[c.call.Kind.Series()]--
	}
	if c.call.Kind == commstate.KindShrink {
		c.shrinks--
	}
	if errors.Is(a.Outcome.Err, ulfm.ErrRevoked) { // no creation can succeed any more
		c.plan.creations, c.plan.gathers = 0, 0
	}
	if a.Outcome.New != nil {
		g.sim.report.Communicators++
		g.adopt(*a.Outcome.New, c.depth+1, g.childName(c))
	}
	if c.call.Kind == commstate.KindFinalize {
		g.sim.leave(g.me)
	}
	g.rouse()
}

// forgotten drops the handle of a closed communicator.
func (g *program) forgotten(a control.Forgotten) {
	g.me.match.Free(a.Index, nil, g.longs.refuse)
	g.handles = slices.DeleteFunc(g.handles, func(h *handle) bool { return h.group.Index == a.Index })
}

// leave ends a process in peace. The others are notified later.
func (s *simulation) leave(p *process) {
	p.left = true
	s.check.left(p)
	s.mark(p.id, markLeave, "leaves")
	s.notify(p.id, goodbye)
}
