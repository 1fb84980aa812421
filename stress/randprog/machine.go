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

// errContext is part of every error of a call whose context was meant to end.
var errContext = errors.New("its context was to end")

// A group is a communicator of the program, as known by one rank, which need not be a member.
type group struct {
	name  string
	c     *comm.Comm // nil at ranks that are not members
	procs []int      // the members by rank, as numbers of processes
	in    []int      // ranks of the neighbours, in a communicator with a topology
	out   []int
	topo  bool
	sure  bool // every live member has the communicator: agreements may be made on it
}

// A machine runs the program at one rank.
type machine struct {
	r     *round
	ops   []*operation
	me    int // number of the process
	world *comm.Comm
	log   *journal
	fate  *fate
	args  []string // of a process that the rank spawns; nil: the rank spawns none

	base    *group   // all live processes, and perhaps some dead ones
	slots   []*group // communicators made of base, the same number at all members
	stretch int
	spawned int
	leaves  bool // in this stretch a member that gets an error leaves the stretch
	limps   bool // members of the base are dead, and all have acknowledged the same deaths

	point    atomic.Int64 // of a goroutine rank: kill points until its death; 0: it does not die at one
	trouble  atomic.Bool  // the rank has left the stretch: it only takes part in agreements
	stumbled atomic.Bool  // the rank got an error in the stretch
	pending  []*pending
	mu       sync.Mutex
	wrong    error
}

// A pending operation was started, and its end must be awaited.
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
	id     uint64 // of the values that the step transfers
	tag    int    // the first of tagsEach tags that belong to this step alone
	g      *group
	c      *comm.Comm
	rng    *rand.Rand // the same at all members of the communicator
	own    *rand.Rand // different at each member
	made   *group     // of a creation: the new communicator
	out    string     // of an agreement: the outcome, the same at all members
	late   bool       // the step has only been started
	branch bool       // the step belongs to one of several goroutines
}

const tagsEach = 16

// errDead ends a rank that the others have declared dead.
var errDead = errors.New("this rank is dead")

func newMachine(r *round, ops []*operation, w *comm.Comm, log *journal, fate *fate) *machine {
	procs := w.Group().Processes()
	m := &machine{r: r, ops: ops, me: procs[w.Rank()], world: w, log: log, fate: fate}
	m.base = &group{name: "world", c: w, procs: procs, sure: true}
	return m
}

// play runs the whole program at an initial rank.
func (m *machine) play(ctx context.Context) error {
	if m.r.uniform {
		m.world.SetUniform(true)
	}
	m.member(m.base)
	m.handle(m.base)
	return m.goOn(ctx)
}

// way returns the algorithm that the round has drawn for a verb. Without one, the table chooses.
func (s *step) way(verb string) collectives.Option {
	for choice := range strings.SplitSeq(s.m.r.choice, ",") {
		if of, name, _ := strings.Cut(choice, "="); of == verb {
			return collectives.Algorithm(name)
		}
	}
	return collectives.Option{}
}

// goOn runs the rest of the program.
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

// end logs an early end of the program and returns its error.
func (m *machine) end(err error) error {
	if errors.Is(err, comm.ErrFenced) {
		m.log.put(record{What: recFenced})
		return errDead
	}
	return err
}

// broken logs a violated property. The rank then ends. Nothing is promised to a rank that was
// declared dead and still runs for a moment.
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

// playStretch runs the steps up to the next settlement.
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

// draw draws the next step; all ranks draw the same operation and the same index among the
// communicators.
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

// newStep gives a step its numbers; part is 0, or identifies a step of one of several goroutines.
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
		s.rng = stream(m.r.seed, 5, at, uint64(g.procs[0])) // a separate stream for each part of a split
	}
	s.own = stream(m.r.seed, 6, at, uint64(m.me))
	return s
}

// take makes a step. A rank in trouble only takes part in agreements, because the others always
// wait for it there.
func (m *machine) take(s *step) {
	if s.c == nil || m.trouble.Load() && !s.op.agreed {
		return
	}
	m.log.put(record{What: recBegin, Step: s.name, Op: s.op.name, Comm: s.g.name})
	m.note(s, s.op.run(s))
}

// note logs the end of a step, and applies the consequences for this rank.
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

// noteMade logs the outcome of a creation, which is the same at all members.
func (m *machine) noteMade(s *step, r *record, err error) {
	r.From = s.g.name
	if r.Out == "" && (err != nil || s.made.c != nil || !s.op.ofGroup) {
		r.Out = outcome(classify(err))
	}
}

// leave makes this rank leave the stretch, if members leave this stretch after errors. The rank
// revokes all its communicators, so that no member waits for it.
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

// later registers a request whose end is awaited later in the stretch.
func (m *machine) later(s *step, finish func(*step) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.late = true
	m.pending = append(m.pending, &pending{s, finish})
}

// drain waits for the pending operations, in random order.
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
