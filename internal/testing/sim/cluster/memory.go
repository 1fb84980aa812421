package cluster

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Agree selects how the processes of a run agree.
type Agree uint8

// The ways.
const (
	// Both: every other run in memory, if its deaths are exact; the others by messages.
	Both Agree = iota
	// Era: by messages.
	Era
	// Node: in shared memory, as processes of one node. Deaths are exact.
	Node
)

func (a Agree) String() string { return [...]string{"both", "era", "node"}[a] }

// ParseAgree is the inverse of String.
func ParseAgree(text string) (Agree, error) {
	for a := Both; a <= Node; a++ {
		if a.String() == text {
			return a, nil
		}
	}
	return Both, fmt.Errorf("agree %q: want both, era or node", text)
}

// inMemory reports whether a run agrees in memory.
func (o Options) inMemory(d Detector) bool {
	return d == Exact && (o.Agree == Node || o.Agree == Both && o.Seed%2 == 1)
}

// lookAt is an inspection that is on the way to a process.
type lookAt struct {
	proc int
	comm uint32
}

// share gives a process the memory of the node.
func (s *simulation) share(cfg *control.Config) {
	me := cfg.Me
	cfg.Blocks = world.Blocks
	cfg.Prepare = func(index uint32) { s.heap.Prepare(me, index, 2) }
	cfg.Memory = func(_ uint32, g commstate.Group) (m commstate.Memory) {
		of := onenode.Sharing{Part: int(commstate.SeriesRepair), Procs: g.Procs, Indices: g.Indices, Me: g.Me}
		m.Repair = s.heap.Open(of)
		of.Part = int(commstate.SeriesCreate)
		m.Create = s.heap.Open(of)
		return m
	}
}

// moved makes the other members of a communicator inspect the memory, each after a delay, after one
// member has changed it. A process with a pending inspection will see this change, too.
func (s *simulation) moved(of onenode.Sharing) {
	for rank, proc := range of.Procs {
		at := lookAt{proc, of.Indices[rank]}
		if rank == of.Me || s.looks[at] {
			continue
		}
		s.looks[at] = true
		s.looked++
		t := s.delays.Fork(forLook, s.part.nameOf(proc), s.looked)
		delay := t.Uniform(world.MessageDelay / 2)
		if s.swarm.tails {
			delay += t.Tail(world.MessageDelay / 2)
		}
		s.queue.push(event{at: s.now.Add(delay + 1), kind: look, proc: proc, other: of.Procs[of.Me], comm: at.comm})
	}
}

// look makes a process inspect the memory of a communicator.
func (s *simulation) look(p *process, comm uint32) {
	delete(s.looks, lookAt{p.id, comm})
	s.step(p, control.Look{Comm: comm})
}

// patience is the percentage of unsuccessful polls of a plain agreement after which a process
// continues to poll.
const patience = 80

// enterPlainly makes a call on the fast path of agreements in memory, if the path is open and
// drawn. The result reports whether the call was made.
func (s *simulation) enterPlainly(p *process, ev control.Propose) bool {
	t := s.tape.Fork(forPlain, s.part.nameOf(p.id), int(ev.Token))
	kind := ev.Call.Kind
	if kind != commstate.KindAgree && kind != commstate.KindAgreeFailed || !p.rules.Plain(ev.Comm) || t.Percent(50) {
		return false
	}
	p.rules.EnterPlain(ev.Comm, ev.Call, ev.Flag)
	p.plain = append(p.plain, ev)
	s.report.Plain++
	s.poll(p)
	return true
}

// goOver passes a plain agreement of p on comm, if there is one, to Step.
func (s *simulation) goOver(p *process, comm uint32) {
	for i, ev := range p.plain {
		if ev.Comm == comm {
			p.plain = slices.Delete(p.plain, i, i+1)
			ev.Entered = true
			s.step(p, ev)
			return
		}
	}
}

// poll polls the plain agreements of p.
func (s *simulation) poll(p *process) {
	for _, ev := range slices.Clone(p.plain) {
		if !p.running() || p.stopped || !slices.ContainsFunc(p.plain, func(o control.Propose) bool { return o.Token == ev.Token }) {
			continue // the answer to an earlier call has ended or changed p's calls
		}
		p.polls++
		t := s.tape.Fork(forPlain, s.part.nameOf(p.id), -p.polls)
		flag, state := p.rules.PollPlain(ev.Comm)
		switch {
		case state == onenode.Decided:
			p.plain = slices.DeleteFunc(p.plain, func(o control.Propose) bool { return o.Token == ev.Token })
			seq := p.program.calls[ev.Token].seq
			s.carryOut(p, control.Decided{Comm: ev.Comm, Token: ev.Token, Outcome: commstate.Outcome{Seq: uint64(seq), Call: ev.Call, Flag: flag}})
		case state == onenode.Mixed, !t.Percent(patience):
			s.goOver(p, ev.Comm)
		}
	}
}
