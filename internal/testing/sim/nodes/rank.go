package nodes

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// nodeRank is a process of the job. In each turn the rank reads the list of its node first, to its
// end, and then executes the purpose of the turn.
type nodeRank struct {
	run     *nodeRun
	proc    int
	station *station
	rules   *control.Control
	program *nodeProgram
	rings   [][][]byte // by process of this node: frames that it has sent, not received yet
	lanes   []*laneEnd // by process of another node
	looks   map[uint32]bool
	read    int // entries of the list
	doom    int // above 0: the rank dies in its next step, after doom-1 thousandths of the step

	told []commstate.Revocation // revocations of this rank that its daemon has learned

	died    bool
	left    bool // in peace
	parting bool // the rank has finalized, and waits until its lanes are closed
	halted  bool // the rank has found the lease over
	backlog []func()
	rest    []control.Action // of the step in which it halted
}

func (p *nodeRank) begin() {
	n := len(p.run.ranks)
	p.rings, p.lanes, p.looks = make([][][]byte, n), make([]*laneEnd, n), map[uint32]bool{}
	for _, q := range p.run.ranks {
		if q.station != p.station {
			p.lanes[q.proc] = newLaneEnd(p, q)
		}
	}
	p.rules = control.New(control.Config{
		N: n, Me: p.proc, Detector: fd.Config{Mode: fd.Exact}, Blocks: world.Blocks,
		Prepare: func(index uint32) { p.station.heap.Prepare(p.proc, index, 2) },
		Memory:  p.memory,
	})
	p.program = newNodeProgram(p)
}

// memory returns the memories in which a communicator agrees. A communicator on one node uses the
// memory of this node. A communicator on several nodes uses that of each node, unless each node has
// a single member or agreements use messages alone.
func (p *nodeRank) memory(_ uint32, g commstate.Group) (m commstate.Memory) {
	team := onenode.Sharing{Procs: g.Procs, Indices: g.Indices, Me: g.Me}
	if nodes := p.run.teamsOf(g); len(nodes) > 1 {
		if p.run.setup.flat || len(nodes) == len(g.Procs) {
			return m
		}
		m.Nodes = nodes
		team = onenode.Sharing{}
		for _, rank := range nodes[slices.IndexFunc(nodes, func(ranks []int) bool { return slices.Contains(ranks, g.Me) })] {
			if rank == g.Me {
				team.Me = len(team.Procs)
			}
			team.Procs, team.Indices = append(team.Procs, g.Procs[rank]), append(team.Indices, g.Indices[rank])
		}
		m.Tag = team.Indices[0]
	}
	team.Part = int(commstate.SeriesRepair)
	m.Repair = p.station.heap.Open(team)
	team.Part = int(commstate.SeriesCreate)
	m.Create = p.station.heap.Open(team)
	return m
}

// teamsOf returns the ranks of a communicator by node, the nodes in the order of their least ranks.
func (r *nodeRun) teamsOf(g commstate.Group) (nodes [][]int) {
	at := map[*station]int{}
	for rank, proc := range g.Procs {
		i, met := at[r.ranks[proc].station]
		if !met {
			i = len(nodes)
			at[r.ranks[proc].station], nodes = i, append(nodes, nil)
		}
		nodes[i] = append(nodes[i], rank)
	}
	return nodes
}

// moved makes the other members of a communicator on this node inspect the memory, each after a
// delay, after one member has changed it.
func (s *station) moved(of onenode.Sharing) {
	for i, proc := range of.Procs {
		p, comm := s.run.ranks[proc], of.Indices[i]
		if i == of.Me || p.looks[comm] {
			continue
		}
		p.looks[comm] = true
		s.run.plan(s.run.draw(forRing, proc).Uniform(world.MessageDelay)+1, func() {
			p.happen(func() {
				delete(p.looks, comm)
				p.step(control.Look{Comm: comm})
			})
		})
	}
}

func (p *nodeRank) ended() bool { return p.died || p.left }

// lives reports whether the rank runs and its results count.
func (p *nodeRank) lives() bool { return !p.died && p.station.counts() }

// stands reports whether the rank is paused, frozen or halted.
func (p *nodeRank) stands() bool { return p.station.paused > 0 || p.station.frozen || p.halted }

// happen applies an event to the rank, as soon as the rank does not stand still.
func (p *nodeRank) happen(do func()) {
	switch {
	case p.ended():
	case p.stands(), len(p.backlog) > 0, len(p.rest) > 0:
		p.backlog = append(p.backlog, do)
	default:
		p.turn(do)
	}
}

// goOn executes the events that came while the rank stood still.
func (p *nodeRank) goOn() {
	for !p.stands() && !p.ended() {
		switch {
		case len(p.rest) > 0:
			rest := p.rest
			p.rest = nil
			p.carryOut(rest)
		case len(p.backlog) > 0:
			do := p.backlog[0]
			p.backlog = p.backlog[1:]
			p.turn(do)
		default:
			return
		}
	}
}

func (p *nodeRank) turn(do func()) {
	p.readList()
	switch {
	case p.ended():
	case p.stands():
		p.backlog = append([]func(){do}, p.backlog...)
	default:
		do()
	}
}

// readList applies the entries that this rank has not read. Earlier frames of a process that died
// are received before: see package engine.
func (p *nodeRank) readList() {
	for p.read < len(p.station.list) && !p.stands() && !p.ended() {
		e := p.station.list[p.read]
		p.read++
		if e.proc == p.proc {
			continue
		}
		if e.how != wentAway {
			p.hearLast(e.proc)
		}
		if lane := p.lanes[e.proc]; lane != nil {
			lane.peerEnded(e.how != wentAway)
		}
		switch e.how {
		case died:
			p.step(control.Exited{Proc: e.proc})
		case lost:
			p.step(control.Lost{Proc: e.proc})
		case wentAway:
			p.step(control.Left{Proc: e.proc})
		}
	}
}

// hearLast receives all frames of a process that have arrived.
func (p *nodeRank) hearLast(proc int) {
	p.hearRing(proc)
	if lane := p.lanes[proc]; lane != nil {
		lane.hearAll()
	}
}

// hearRing receives the frames of a process of this node.
func (p *nodeRank) hearRing(from int) {
	for len(p.rings[from]) > 0 && !p.ended() {
		if p.stands() {
			p.backlog = append(p.backlog, func() { p.hearRing(from) })
			return
		}
		frame := p.rings[from][0]
		p.rings[from] = p.rings[from][1:]
		p.hear(from, frame)
	}
}

// The first byte of a frame between ranks.
const (
	controlFrame byte = iota
	letterFrame
)

// hear handles a frame.
func (p *nodeRank) hear(from int, frame []byte) {
	if frame[0] == controlFrame {
		p.step(control.Receive{From: from, Frame: frame[1:]})
	}
}

// post sends a frame to another rank.
func (p *nodeRank) post(to int, kind byte, body []byte) {
	r, q := p.run, p.run.ranks[to]
	r.report.Frames++
	r.check.spoke(p, to)
	frame := append([]byte{kind}, body...)
	if lane := p.lanes[to]; lane != nil {
		lane.send(frame)
		return
	}
	q.rings[p.proc] = append(q.rings[p.proc], frame)
	r.plan(r.draw(forRing, p.proc).Uniform(world.MessageDelay)+1, func() { q.happen(func() { q.hearRing(p.proc) }) })
}

// step passes an event to the control rules. A doomed rank dies in the middle of the resulting
// actions.
func (p *nodeRank) step(ev control.Event) {
	if p.ended() {
		return
	}
	r := p.run
	r.report.Steps++
	if p.station.declared {
		r.report.Zombies++
	}
	acts := slices.Clone(p.rules.Step(ev))
	r.check.drew(p, acts)
	if p.doom > 0 && len(acts) > 0 && len(p.rest) == 0 {
		for _, a := range acts[:len(acts)*(p.doom-1)/1000] {
			if a, sends := a.(control.Send); sends {
				p.post(a.To, controlFrame, a.Frame)
			}
		}
		r.check.diedIn(p, acts)
		p.die()
		return
	}
	if p.stands() || len(p.rest) > 0 {
		p.rest = append(p.rest, acts...)
		return
	}
	p.carryOut(acts)
}

// carryOut executes the actions of the rules. Before an agreement between nodes returns, the rank
// checks the lease of its node (F13).
func (p *nodeRank) carryOut(acts []control.Action) {
	for i, a := range acts {
		if p.ended() {
			return
		}
		if d, returns := a.(control.Decided); returns && p.station.leaseIsOver() && p.program.spansNodes(d.Token) {
			p.rest = append(slices.Clone(acts[i:]), p.rest...)
			p.halt()
			return
		}
		p.do(a)
	}
	if p.program.finalized && !p.parting {
		p.part()
	}
}

func (p *nodeRank) do(a control.Action) {
	r := p.run
	switch a := a.(type) {
	case control.Send:
		p.post(a.To, controlFrame, a.Frame)
		return
	case control.Declared:
		r.check.declared(p, a)
	case control.Revoked:
		r.check.revoked(p, a)
	case control.Forgotten:
		p.program.forgotten(a)
	case control.Decided:
		r.report.Decisions++
		r.check.returned(p, a)
		r.check.decided(p, a)
		p.program.decided(a)
	case control.Fenced:
		p.fenced(a.Why)
	case control.Anomaly:
		if p.station.declared || a.From >= 0 && r.ranks[a.From].station.declared {
			break // messages across a declaration do not match
		}
		r.fail("no anomaly", "process %d about process %d: %s", p.proc, a.From, a.Text)
	}
	if r.options.Trace != nil {
		r.trace(p.name(), "%T %+v", a, a)
	}
}

// fenced ends a rank that has been informed of its death.
func (p *nodeRank) fenced(why string) {
	p.run.report.Refused++
	if !p.station.declared {
		p.run.fail("I6", "process %d is fenced, and nobody has declared its node: %s", p.proc, why)
	}
	p.kill()
	p.run.plan(world.MessageDelay, func() { p.station.found(p) })
}

// halt stops the rank, because the rank has found the lease over.
func (p *nodeRank) halt() {
	if !p.halted {
		p.run.report.Halts++
		p.run.trace(p.name(), "finds the lease over")
	}
	p.halted = true
}

// die ends the rank as a signal does: its daemon finds the death after a while.
func (p *nodeRank) die() {
	p.run.report.Deaths++
	p.run.trace(p.name(), "dies")
	p.kill()
	p.run.plan(p.run.draw(forFound, p.proc).Tail(20*world.MessageDelay)+1, func() { p.station.found(p) })
}

// kill ends the process: its kernel closes all its connections.
func (p *nodeRank) kill() {
	p.died = true
	p.closeLanes()
}

func (p *nodeRank) closeLanes() {
	for _, lane := range p.lanes {
		if lane != nil {
			lane.abandon()
		}
	}
}

// part is the end of finalize: all sent bytes must be processed before the process ends.
func (p *nodeRank) part() {
	p.parting = true
	for _, lane := range p.lanes {
		if lane != nil {
			lane.close()
		}
	}
	p.leaveIfParted()
}

func (p *nodeRank) leaveIfParted() {
	if !p.parting || p.ended() || slices.ContainsFunc(p.lanes, func(l *laneEnd) bool { return l != nil && !l.closed }) {
		return
	}
	p.left = true
	p.run.trace(p.name(), "leaves")
	p.closeLanes()
	p.run.plan(p.run.draw(forFound, p.proc).Tail(20*world.MessageDelay)+1, func() { p.station.found(p) })
}

func (p *nodeRank) name() string { return fmt.Sprintf("rank %d", p.proc) }

func (p *nodeRank) describe() string {
	if p.ended() {
		return ""
	}
	text := fmt.Sprintf("  rank %d: halted %v, parting %v, read %d of the list\n%s%s", p.proc, p.halted, p.parting, p.read, p.rules.Describe(), p.program.describe())
	for _, lane := range p.lanes {
		if lane != nil {
			text += "  lane " + lane.s.Describe() + fmt.Sprintf(", %d frames wait\n", len(lane.waiting))
		}
	}
	return text
}
