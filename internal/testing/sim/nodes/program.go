package nodes

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

// nodeHandle is a communicator as a program holds it.
type nodeHandle struct {
	group   commstate.Group
	key     world.GroupKey
	depth   int
	plan    []commstate.Kind // the same at all members
	next    int              // position in the plan
	open    [3]int           // calls that are not answered, by series
	made    [3]int
	revokes bool // this member revokes the communicator at some point
	closing bool
}

// nodeProgram is the program of a rank. The program runs when an event wakes it, and makes one call
// each time.
type nodeProgram struct {
	me        *nodeRank
	handles   []*nodeHandle // the world first; without closed ones
	calls     map[uint64]nodeCall
	token     uint64
	awake     bool // a wake is scheduled
	letters   int  // still to send
	finalized bool
}

// nodeCall is an open call.
type nodeCall struct {
	*nodeHandle
	call commstate.Call
	seq  int
}

func newNodeProgram(p *nodeRank) *nodeProgram {
	n := len(p.run.ranks)
	g := &nodeProgram{me: p, calls: map[uint64]nodeCall{}, letters: p.run.setup.letters}
	world := commstate.Group{UID: commstate.WorldUID(n), Indices: make([]uint32, n), Me: p.proc}
	for q := range n {
		world.Procs = append(world.Procs, q)
	}
	g.adopt(world, 0, p.run.setup.calls)
	return g
}

// adopt starts to work on a communicator.
func (g *nodeProgram) adopt(group commstate.Group, depth, calls int) {
	h := &nodeHandle{group: group, key: world.KeyOf(group), depth: depth}
	for k := range calls {
		h.plan = append(h.plan, g.me.run.kindOf(group.UID, k))
	}
	t := g.me.run.tape.Fork(forNodeCall, g.me.proc, int(g.me.run.common(group.UID, -2)>>1))
	h.revokes = t.Percent(g.me.run.setup.revokes) && t.Below(len(group.Procs)) < 2
	g.handles = append(g.handles, h)
	g.rouse()
}

// common returns a number that is the same at all members of a communicator.
func (r *nodeRun) common(uid commstate.UID, k int) uint64 {
	h := world.NewHash()
	h.Add(r.options.Seed)
	h.Add(binary.LittleEndian.Uint64(uid[:8]))
	h.Add(uint64(k))
	return uint64(h) >> 8
}

// kindOf returns the kind of the k-th call on a communicator.
func (r *nodeRun) kindOf(uid commstate.UID, k int) commstate.Kind {
	switch draw := r.common(uid, k) % 100; {
	case draw < 12:
		return commstate.KindShrink
	case draw < 22:
		return commstate.KindAgreeFailed
	case draw < 32:
		return commstate.KindDup
	}
	return commstate.KindAgree
}

// rouse wakes the program after a delay.
func (g *nodeProgram) rouse() {
	if g.awake {
		return
	}
	g.awake = true
	r, typical := g.me.run, g.me.run.setup.think
	if r.calm() { // no further fault can affect the program
		typical = min(typical, r.setup.period)
	}
	r.plan(r.draw(forNodeThink, g.me.proc).Uniform(typical)+1, func() { g.me.happen(g.wake) })
}

// wake makes one of the possible calls of the program, if any.
func (g *nodeProgram) wake() {
	g.awake = false
	var ready []func()
	for _, h := range g.handles {
		ready = append(ready, g.ready(h)...)
	}
	if g.letters > 0 {
		ready = append(ready, g.sendLetter)
	}
	if len(ready) == 0 || g.me.parting {
		return
	}
	ready[g.me.run.draw(forNodeCall, g.me.proc).Below(len(ready))]()
	g.rouse()
}

// ready returns the calls that can be made on h.
func (g *nodeProgram) ready(h *nodeHandle) []func() {
	var can []func()
	if h.next < len(h.plan) && h.open[h.plan[h.next].Series()] < g.me.run.setup.bursts {
		can = append(can, func() { g.callNext(h) })
	}
	if h.revokes {
		can = append(can, func() { g.revoke(h) })
	}
	last := h.depth > 0 || len(g.handles) == 1 && g.letters == 0
	if len(can) == 0 && g.me.run.setup.closes && h.idle() && last {
		can = append(can, func() { g.close(h) })
	}
	return can
}

// idle reports whether all calls on h are made and answered.
func (h *nodeHandle) idle() bool {
	return h.next == len(h.plan) && h.open == [3]int{} && !h.closing && !h.revokes
}

// done reports whether the program has no call left to make or to wait for.
func (g *nodeProgram) done() bool {
	return len(g.calls) == 0 && g.letters == 0 && !slices.ContainsFunc(g.handles, func(h *nodeHandle) bool { return !h.idle() })
}

func (g *nodeProgram) callNext(h *nodeHandle) {
	kind := h.plan[h.next]
	h.next++
	r := g.me.run
	if r.draw(forNodeCall, g.me.proc).Percent(r.setup.ack) {
		if _, err := g.me.rules.Failed(h.group.Index).Ack(h.group.Size()); err != nil {
			r.fail("R21", "process %d acknowledges all: %v", g.me.proc, err)
		}
	}
	g.propose(h, kind)
}

func (g *nodeProgram) revoke(h *nodeHandle) {
	h.revokes = false
	g.me.run.report.Revokes++
	g.me.run.trace(g.me.name(), "revokes %v", h.group.UID)
	g.me.told = append(g.me.told, h.group.UID.RevokedBy(g.me.proc))
	g.me.step(control.Revoke{Comm: h.group.Index})
}

func (g *nodeProgram) close(h *nodeHandle) {
	h.closing = true
	kind := commstate.KindClose
	if h.depth == 0 {
		kind = commstate.KindFinalize
	}
	g.propose(h, kind)
}

// propose makes a call. Its flag names the caller, so that the result shows the contributors.
func (g *nodeProgram) propose(h *nodeHandle, kind commstate.Kind) {
	s := kind.Series()
	h.made[s]++
	h.open[s]++
	g.token++
	c := nodeCall{h, commstate.Call{Kind: kind}, h.made[s]}
	g.calls[g.token] = c
	g.me.run.check.proposed(g.me, c)
	g.me.run.trace(g.me.name(), "calls %v/%d on %v", c.call, c.seq, h.group.UID)
	g.me.step(control.Propose{Comm: h.group.Index, Token: g.token, Call: c.call, Flag: ^(uint64(1) << h.group.Me)})
}

// decided processes the answer of a call.
func (g *nodeProgram) decided(a control.Decided) {
	c, open := g.calls[a.Token]
	if !open {
		g.me.run.fail("I4", "process %d: call %d was answered before, or never made", g.me.proc, a.Token)
		return
	}
	delete(g.calls, a.Token)
	c.open[c.call.Kind.Series()]--
	if errors.Is(a.Outcome.Err, ulfm.ErrRevoked) { // no creation can succeed any more
		left := slices.DeleteFunc(slices.Clone(c.plan[c.next:]), func(k commstate.Kind) bool { return k == commstate.KindDup })
		c.plan = append(slices.Clone(c.plan[:c.next]), left...)
	}
	if a.Outcome.New != nil {
		calls := 0
		if c.depth < world.DepthMax {
			calls = 1 + int(g.me.run.common(a.Outcome.New.UID, -1)%4)
		}
		g.adopt(*a.Outcome.New, c.depth+1, calls)
	}
	if c.call.Kind == commstate.KindFinalize {
		g.finalized = true
	}
	g.rouse()
}

// spansNodes reports whether a call is on a communicator with members on several nodes.
func (g *nodeProgram) spansNodes(token uint64) bool {
	c, open := g.calls[token]
	return open && len(g.me.run.teamsOf(c.group)) > 1
}

// forgotten drops the handle of a closed communicator.
func (g *nodeProgram) forgotten(a control.Forgotten) {
	g.handles = slices.DeleteFunc(g.handles, func(h *nodeHandle) bool { return h.group.Index == a.Index })
	g.rouse()
}

// sendLetter sends a letter to a random rank, if that rank is on another node.
func (g *nodeProgram) sendLetter() {
	g.letters--
	t := g.me.run.draw(forLetter, g.me.proc)
	to := t.Below(len(g.me.run.ranks))
	if g.me.lanes[to] != nil {
		g.me.post(to, letterFrame, make([]byte, t.Below(g.me.run.setup.copied/2)))
	}
}

func (g *nodeProgram) describe() string {
	text := ""
	for _, h := range g.handles {
		if !h.idle() {
			text += fmt.Sprintf("    on %v %v: %d of %d calls, open %v\n", h.group.UID, h.group.Procs, h.next, len(h.plan), h.open)
		}
	}
	return text
}
