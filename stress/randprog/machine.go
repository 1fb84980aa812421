package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// errContext is in every error of a call whose context was to end.
var errContext = errors.New("its context was to end")

// A group is a communicator of the program, as one member, or one that is none, knows it.
type group struct {
	name  string
	c     *comm.Comm // nil at those that are no members
	procs []int      // the members by rank, as numbers of processes
	in    []int      // ranks of the neighbours, in a communicator with a topology
	out   []int
	topo  bool
	sure  bool // every member that lives has it: agreements may be made on it
}

// A machine plays the program at one rank.
type machine struct {
	r     *round
	ops   []*operation
	me    int // number of the process
	world *comm.Comm
	log   *journal
	fate  *fate
	args  []string // of a process that it spawns; nil: it spawns none

	base    *group   // all that are alive, and some that are dead
	slots   []*group // those made of it, the same number at all members
	stretch int
	spawned int
	leaves  bool // in this stretch a member that gets an error leaves it
	limps   bool // members of the base are dead, and all have acknowledged the same

	point    atomic.Int64 // of a goroutine rank: at so many kill points it dies; 0: at none
	trouble  atomic.Bool  // it has left the stretch: it makes agreements alone
	stumbled atomic.Bool  // it got an error in the stretch
	pending  []*pending
	mu       sync.Mutex
	wrong    error
}

// A pending operation was started and is to be waited for.
type pending struct {
	step   *step
	finish func(*step) error
}

// A step is one operation on one communicator, at one rank.
type step struct {
	ctx    context.Context
	m      *machine
	op     *operation
	name   string
	number int    // of the step in the program
	id     uint64 // of the values that it moves
	tag    int    // the first of tagsEach that no other step of the program has
	g      *group
	c      *comm.Comm
	rng    *rand.Rand // draws the same at all members of the communicator
	own    *rand.Rand // draws another thing at each
	made   *group     // of a creation: what it makes
	out    string     // of an agreement: what all members must have
	late   bool       // it has only been started
	branch bool       // it is one of several goroutines'
}

const tagsEach = 16

// errDead ends a rank that is dead to the others.
var errDead = errors.New("this rank is dead")

func newMachine(r *round, ops []*operation, w *comm.Comm, log *journal, fate *fate) *machine {
	procs := w.Group().Processes()
	m := &machine{r: r, ops: ops, me: procs[w.Rank()], world: w, log: log, fate: fate}
	m.base = &group{name: "world", c: w, procs: procs, sure: true}
	return m
}

// play is the whole program at a rank that was there from the beginning.
func (m *machine) play(ctx context.Context) error {
	if m.r.uniform {
		m.world.SetUniform(true)
	}
	m.member(m.base)
	m.handle(m.base)
	return m.goOn(ctx)
}

// way returns the algorithm that the round has drawn for a verb; without one the table chooses.
func (s *step) way(verb string) collectives.Option {
	for choice := range strings.SplitSeq(s.m.r.choice, ",") {
		if of, name, _ := strings.Cut(choice, "="); of == verb {
			return collectives.Algorithm(name)
		}
	}
	return collectives.Option{}
}

// goOn plays what is left of the program.
func (m *machine) goOn(ctx context.Context) error {
	for ; m.stretch < m.r.stretches; m.stretch++ {
		m.playStretch(ctx)
		if err := m.settle(ctx); err != nil {
			return m.end(err)
		}
	}
	for _, g := range m.slots {
		m.free(g)
	}
	m.log.put(record{What: recOver})
	m.fate.over(m)
	return nil
}

// end tells how the program ended early.
func (m *machine) end(err error) error {
	if errors.Is(err, comm.ErrFenced) {
		m.log.put(record{What: recFenced})
		return errDead
	}
	return err
}

// broken notes that something does not hold. The rank goes no further. To a rank that is
// dead, and runs on for a moment, nothing is promised.
func (m *machine) broken(format string, args ...any) error {
	if _, err := m.world.AckFailed(0); errors.Is(err, comm.ErrFenced) {
		return err
	}
	err := trial.Broken(format, args...)
	m.log.put(record{What: recWrong, Err: err.Error()})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong == nil {
		m.wrong = err
	}
	return err
}

func (m *machine) member(g *group) {
	if g.c != nil {
		m.log.put(record{What: recMember, Comm: g.name, Procs: g.procs})
	}
}

// playStretch plays the steps up to the next settlement.
func (m *machine) playStretch(ctx context.Context) {
	rng := stream(m.r.seed, 2, uint64(m.stretch))
	m.leaves = rng.IntN(4) > 0 && !m.limps
	m.trouble.Store(false)
	m.stumbled.Store(false)
	for i := range 1 + rng.IntN(stepsMax) {
		m.fate.step(m)
		s := m.draw(ctx, rng, m.stretch*stepsMax+i)
		if s.op.makes {
			s.made = &group{name: s.name}
			m.slots = append(m.slots, s.made)
		}
		m.take(s)
	}
	m.drain(stream(m.r.seed, 3, uint64(m.stretch), uint64(m.me)))
}

// draw draws the next step; all ranks draw the same operation and the same place among
// the communicators.
func (m *machine) draw(ctx context.Context, rng *rand.Rand, number int) *step {
	op := m.drawOperation(rng, func(*operation) bool { return true })
	g := m.base
	if i := rng.IntN(len(m.slots) + 2); i < len(m.slots) && !op.whole {
		g = m.slots[i]
	}
	if op.agreed && !g.sure {
		g = m.base
	}
	return m.newStep(ctx, op, g, number, 0)
}

func (m *machine) drawOperation(rng *rand.Rand, fits func(*operation) bool) *operation {
	may := func(op *operation) bool { return (m.leaves || op.stays) && fits(op) }
	total := 0
	for _, op := range m.ops {
		if may(op) {
			total += op.weight
		}
	}
	if total == 0 {
		return barrierOp
	}
	at := rng.IntN(total)
	for _, op := range m.ops {
		if may(op) {
			if at -= op.weight; at < 0 {
				return op
			}
		}
	}
	return nil
}

// branchesMax and branchMax bound the goroutines of a step, and the steps of each.
const branchesMax, branchMax = 3, 4

// newStep gives a step its numbers; part is 0, or which step of which goroutine it is.
func (m *machine) newStep(ctx context.Context, op *operation, g *group, number, part int) *step {
	at := uint64(number*(1+branchesMax*branchMax) + part)
	s := &step{ctx: ctx, m: m, op: op, g: g, c: g.c, tag: int(at) * tagsEach, number: number}
	s.name = fmt.Sprintf("%d.%d", number/stepsMax, number%stepsMax)
	if part > 0 {
		s.branch = true
		s.name += fmt.Sprintf(".%d", part)
	}
	s.id = stream(m.r.seed, 4, at).Uint64()
	s.rng = stream(m.r.seed, 5, at)
	if len(g.procs) > 0 {
		s.rng = stream(m.r.seed, 5, at, uint64(g.procs[0])) // each part of a split its own
	}
	s.own = stream(m.r.seed, 6, at, uint64(m.me))
	return s
}

// take makes a step. A rank in trouble takes part in agreements alone, for which the others
// wait whatever has happened.
func (m *machine) take(s *step) {
	if s.c == nil || m.trouble.Load() && !s.op.agreed {
		return
	}
	m.log.put(record{What: recBegin, Step: s.name, Op: s.op.name, Comm: s.g.name})
	m.note(s, s.op.run(s))
}

// note writes down how a step ended, and what that means for this rank.
func (m *machine) note(s *step, err error) {
	r := record{What: recEnd, Step: s.name, Op: s.op.name, Comm: s.g.name, Out: s.out}
	if s.made != nil && !s.late {
		m.noteMade(s, &r, err)
	}
	m.describe(s.g, &r, err)
	m.log.put(r)
	if s.made != nil && s.made.c != nil {
		m.member(s.made)
		m.handle(s.made)
		if m.trouble.Load() { // made after this rank had left: others may wait for it there, too
			m.revoke(s.made)
		}
	}
	if err == nil {
		return
	}
	m.stumbled.Store(true)
	if !trial.IsBroken(err) {
		m.leave()
	}
}

// describe puts an error into a record.
func (m *machine) describe(g *group, r *record, err error) {
	if err == nil {
		return
	}
	r.Err, r.Class = err.Error(), classify(err)
	for _, rank := range namedRanks(err) {
		if rank >= 0 && rank < len(g.procs) {
			r.Procs = append(r.Procs, g.procs[rank])
		} else {
			r.Procs = append(r.Procs, -1)
		}
	}
}

// noteMade writes down the outcome of a creation, which is the same at all members.
func (m *machine) noteMade(s *step, r *record, err error) {
	r.From = s.g.name
	if r.Out == "" && (err != nil || s.made.c != nil || !s.op.ofGroup) {
		r.Out = outcome(classify(err))
	}
}

// leave has this rank leave the stretch, if that is what members do in it: it revokes
// all that it has, so that nobody waits for it.
func (m *machine) leave() {
	if !m.leaves || m.trouble.Swap(true) {
		return
	}
	for _, g := range append(slices.Clone(m.slots), m.base) {
		m.revoke(g)
	}
}

func (m *machine) revoke(g *group) {
	if g.c == nil {
		return
	}
	m.log.put(record{What: recRevoke, Comm: g.name})
	if err := g.c.Revoke(); err != nil && classify(err) != classFenced {
		_ = m.broken("revoke of %s: %v", g.name, err)
	}
}

func (m *machine) free(g *group) {
	if g.c == nil || g.c == m.world {
		return
	}
	if err := g.c.Free(); err != nil && classify(err) != classFenced {
		_ = m.broken("free of %s: %v", g.name, err)
	}
	g.c = nil
}

// later has a request waited for at some later moment of the stretch.
func (m *machine) later(s *step, finish func(*step) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.late = true
	m.pending = append(m.pending, &pending{s, finish})
}

// drain waits for what is pending, in any order.
func (m *machine) drain(rng *rand.Rand) {
	m.mu.Lock()
	all := m.pending
	m.pending = nil
	m.mu.Unlock()
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, p := range all {
		s := *p.step
		s.name, s.own, s.late = s.name+"w", rng, false
		m.log.put(record{What: recBegin, Step: s.name, Op: s.op.name, Comm: s.g.name})
		m.note(&s, p.finish(&s))
	}
}
