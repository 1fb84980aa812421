package main

import (
	"fmt"

	"github.com/goulfm/goulfm/bench/internal/log2phases"
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A machine is the LogP model: to send or to take a message occupies a process for an
// overhead, and it is under way for a latency; both are less within a node. The gap is
// the overhead: one message at a time.
type machine struct {
	overhead, between, within mono.Duration // o between nodes; L between and within nodes
	perNode                   int
}

// darter is a Cray XC30, 16 processes a node. The latencies are of the order of its
// network's; the overhead is fitted to one number of the paper, see fit.
var darter = machine{overhead: 500, between: 1300, within: 800, perNode: 16}

// occupied is o: a copy through shared memory costs half of a message over the network.
func (m machine) occupied(p, q int) mono.Duration {
	if p/m.perNode == q/m.perNode {
		return m.overhead / 2
	}
	return m.overhead
}

func (m machine) latency(p, q int) mono.Duration {
	if p/m.perNode == q/m.perNode {
		return m.within
	}
	return m.between
}

// A member is the side of one process in an agreement: era.Series, or log2phases.Series.
type member interface {
	Step(ev era.Event) []era.Action
	Describe() string
}

// A group is n members of one series of agreements in a LogP machine.
type group struct {
	machine
	agenda
	members []member
	entry   mono.Duration // cost of an entry of the list of all processes, see walk
	parent  func(int) int // the tree before any death; nil: see detour
	mended  mono.Duration // extra cost of a message over a link outside that tree, see detour
	free    []mono.Time   // when a process can do the next thing
	dead    rankset.Set   // the dead members
	decided []mono.Time   // when a member returned from the agreement in progress
	value   era.Value     // its result
}

func newGroup(m machine, n int, parent func(int) int) *group {
	g := &group{machine: m, free: make([]mono.Time, n), decided: make([]mono.Time, n)}
	for me := range n {
		g.members = append(g.members, era.NewSeries(era.Config{N: n, Me: me, Parent: parent}))
	}
	return g
}

// newTwoPhase is newGroup for Log2phases: the same machine, and the same cost of a message.
func newTwoPhase(m machine, n int) *group {
	g := &group{machine: m, free: make([]mono.Time, n), decided: make([]mono.Time, n)}
	for me := range n {
		g.members = append(g.members, log2phases.NewSeries(log2phases.Config{N: n, Me: me}))
	}
	return g
}

// agree plays one agreement that all living members enter at once, knowing and having
// acknowledged the deaths in acked. It returns the time of the last to return.
func (g *group) agree(acked rankset.Set) mono.Duration {
	begin := g.now
	for me := range g.members {
		g.decided[me] = 0
		if !g.dead.Has(me) {
			g.plan(begin, func() {
				g.work(me, begin, 0, era.Propose{Value: era.Value{Flag: 1, Lo: era.Claim{Call: 1, Rank: me}, Hi: era.Claim{Call: 1, Rank: me}, Acked: acked.Clone()}})
			})
		}
	}
	g.drain()
	last := begin
	for me, at := range g.decided {
		if g.dead.Has(me) {
			continue
		}
		if at == 0 {
			panic(fmt.Sprintf("member %d has not decided: %s", me, g.members[me].Describe()))
		}
		last = max(last, at)
	}
	g.now = last.Add(mono.Millisecond) // all is quiet
	return last.Sub(begin)
}

// work lets a process take an event, which costs it cost, and then send.
func (g *group) work(me int, at mono.Time, cost mono.Duration, ev era.Event) {
	if g.dead.Has(me) {
		return
	}
	t := max(at, g.free[me]).Add(cost)
	actions := g.members[me].Step(ev)
	if n := len(actions); n > 0 && !isDecision(actions[n-1]) {
		t = t.Add(g.walk())
	}
	for _, a := range actions {
		switch a := a.(type) {
		case era.Send:
			t = t.Add(g.occupied(me, a.To))
			g.plan(t.Add(g.latency(me, a.To)+g.detour(me, a.To)), func() {
				g.work(a.To, g.now, g.occupied(me, a.To), era.Receive{From: me, Seq: a.Seq, Msg: a.Msg})
			})
		case era.Decide:
			t = t.Add(g.walk())
			g.decided[me] = max(t, 1)
			g.value = a.Value
		case era.Anomaly:
			panic(a.Text)
		}
	}
	g.free[me] = t
}

// walk is the time of a walk through the list of all processes. The prototype of Log2phases makes
// one before a member votes, and one after it has passed the decision on; the rules make none.
func (g *group) walk() mono.Duration { return mono.Duration(len(g.members)) * g.entry }

func isDecision(a era.Action) bool {
	_, is := a.(era.Decide)
	return is
}

// detour is the extra cost of a message over a link that came with the repair of the tree: a
// connection that is new or takes another path. The extra cost is zero but in the experiment of
// Table 2d.
func (g *group) detour(p, q int) mono.Duration {
	if g.mended == 0 || g.parent(p) == q || g.parent(q) == p {
		return 0
	}
	return g.mended
}

// kill ends processes; the others learn this after a while, each at its own moment.
func (g *group) kill(victims []int, told mono.Duration) {
	for _, v := range victims {
		g.dead.Add(v)
	}
	for me := range g.members {
		spread := mono.Duration(mix(uint64(me), 1, 1) % uint64(told/10+1))
		for _, v := range victims {
			g.plan(g.now.Add(told+spread), func() { g.work(me, g.now, 0, era.Failed{Rank: v}) })
		}
	}
}

// The trees of ERA, §3. In the hierarchical ones a node's first process represents it.
var trees = []struct {
	name   string
	parent func(pos int) int
	most   int // members beyond which it is not worth drawing
}{
	{"binary over nodes, binary within (bin/bin)", binBin, 1 << 20},
	{"flat binary", func(p int) int { return (p+1)/2 - 1 }, 1 << 20},
	{"binary over nodes, star within (bin/star)", binStar, 1 << 20},
	{"star", func(p int) int { return min(p-1, 0) }, 1 << 20},
	{"chain", func(p int) int { return p - 1 }, 1024},
}

func binBin(p int) int {
	node, local := p/darter.perNode, p%darter.perNode
	if local > 0 {
		return node*darter.perNode + (local-1)/2
	}
	if node == 0 {
		return -1
	}
	return (node - 1) / 2 * darter.perNode
}

func binStar(p int) int {
	if p%darter.perNode > 0 {
		return p - p%darter.perNode
	}
	return binBin(p)
}

// fit returns the machine with the overhead at which bin/bin takes the paper's time for n
// processes. This is the one number of the paper that the simulation uses.
func fit(m machine, n int, stated mono.Duration) machine {
	g := newGroup(m, n, binBin)
	lo, hi := mono.Duration(1), 2*mono.Microsecond
	for hi-lo > 4 {
		g.overhead = (lo + hi) / 2
		if g.agree(rankset.Set{}) < stated {
			lo = g.overhead
		} else {
			hi = g.overhead
		}
	}
	return g.machine
}

// allreduce is a reduction up a flat binary tree and a broadcast down. Open MPI chooses this for a
// small message among many processes. An allreduce does not survive a failure.
func (m machine) allreduce(n int) mono.Duration { return m.upAndDown(n, 0) }

// byNode is the allreduce of a library that knows the nodes: binary trees within the nodes,
// recursive doubling among their first processes. It does not survive a failure.
func (m machine) byNode(n int) mono.Duration {
	ready := make([]mono.Duration, n)
	for p := n - 1; p > 0; p-- {
		if up := binBin(p); up/m.perNode == p/m.perNode {
			ready[up] = max(ready[up], ready[p]+m.occupied(p, up)+m.within) + m.occupied(p, up)
		}
	}
	ready = m.double(ready, m.perNode)
	for p := range n {
		for _, child := range []int{2*(p%m.perNode) + 1, 2*(p%m.perNode) + 2} {
			if c := p - p%m.perNode + child; child < m.perNode && c < n {
				ready[p] += m.occupied(p, c)
				ready[c] = ready[p] + m.within + m.occupied(p, c)
			}
		}
	}
	return latest(ready)
}

// double exchanges among processes 0, stride, 2·stride, ..., those beyond a power of two
// through a partner.
func (m machine) double(ready []mono.Duration, stride int) []mono.Duration {
	count := (len(ready) + stride - 1) / stride
	pow := 1 << floorLog2(count)
	hop := func(from, to int) {
		ready[from*stride] += m.overhead
		ready[to*stride] = max(ready[to*stride], ready[from*stride]+m.latency(from*stride, to*stride)) + m.overhead
	}
	for i := pow; i < count; i++ {
		hop(i, i-pow)
	}
	for step := 1; step < pow; step *= 2 {
		was := append([]mono.Duration(nil), ready...)
		for i := range pow {
			q := i ^ step
			ready[i*stride] = max(was[i*stride]+m.overhead, was[q*stride]+m.overhead+m.latency(i*stride, q*stride)) + m.overhead
		}
	}
	for i := pow; i < count; i++ {
		hop(i-pow, i)
	}
	return ready
}

// upAndDown gathers and then broadcasts over a flat binary tree. To take a message costs
// the overhead and extra.
func (m machine) upAndDown(n int, extra mono.Duration) mono.Duration {
	ready := make([]mono.Duration, n)
	for p := n - 1; p > 0; p-- {
		up := (p - 1) / 2
		o := m.occupied(p, up)
		ready[up] = max(ready[up], ready[p]+o+m.latency(p, up)) + o + extra
	}
	down := make([]mono.Duration, n)
	down[0] = ready[0]
	for p := range n {
		for _, c := range []int{2*p + 1, 2*p + 2} {
			if c < n {
				down[p] += m.occupied(p, c)
				down[c] = down[p] + m.latency(p, c) + m.occupied(p, c) + extra
			}
		}
	}
	return latest(down)
}

func latest(ready []mono.Duration) mono.Duration {
	last := mono.Duration(0)
	for _, t := range ready {
		last = max(last, t)
	}
	return last
}
