package massdeath

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

// A member is one rank's part of a job.
type member struct {
	world   *comm.Comm
	c       *comm.Comm
	members []int // of c, as ranks of the world
	me      int   // rank in the world
	kind    string
	target  int // members at the end
	mine    *death
	phase   int    // repairs so far
	steps   uint64 // of this phase
	history uint64 // a hash over the outcomes that are the same everywhere
	out     io.Writer
	die     func()
}

func newMember(w *comm.Comm, o options, out io.Writer, die func()) *member {
	m := &member{world: w, c: w, members: w.Group().Processes(), me: w.Rank(), kind: o.kind, target: o.n - o.dying(), out: out, die: die}
	if d, dies := draw(o)[m.me]; dies {
		m.mine = &d
	}
	return m
}

// run works and repairs until the members are exactly the planned survivors.
func (m *member) run(ctx context.Context) error {
	m.dieIf(anywhere)
	for {
		err := m.work(ctx)
		if err == nil {
			return m.last(ctx)
		}
		if !ulfm.Recoverable(err) {
			return err
		}
		if err := m.repair(ctx); err != nil {
			return err
		}
	}
}

// dieIf sets the instant of this rank's death, if the wait for it begins here. The launcher sets
// the instants of its own kills.
func (m *member) dieIf(where place) {
	if d := m.mine; d != nil && !d.kill && d.where == where && d.phase == m.phase {
		time.AfterFunc(d.after, m.die)
	}
}

func (m *member) work(ctx context.Context) error {
	m.dieIf(inWork)
	step := m.reduce
	if m.kind == split {
		step = m.split
	}
	for m.steps = 0; m.c.Size() > m.target; m.steps++ {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reduce is a barrier, and every other time a reduction with a known result.
func (m *member) reduce(ctx context.Context) error {
	if m.steps%2 == 0 {
		return collectives.Barrier(ctx, m.c)
	}
	v := []uint64{m.steps * uint64(m.me+1)}
	if err := collectives.Allreduce(ctx, m.c, v, v, collectives.Sum); err != nil {
		return err
	}
	for _, r := range m.members {
		v[0] -= m.steps * uint64(r+1)
	}
	if v[0] != 0 {
		return trial.Broken("a reduction over %v gave a wrong result", m.members)
	}
	return nil
}

// split makes communicators of every third member. Split succeeds at all members or at none.
func (m *member) split(ctx context.Context) error {
	s, err := m.c.Split(ctx, m.c.Rank()%3, 0)
	m.note("split", err == nil)
	if err != nil {
		return err
	}
	var want []int
	for i := m.c.Rank() % 3; i < len(m.members); i += 3 {
		want = append(want, m.members[i])
	}
	if got := s.Group().Processes(); !slices.Equal(got, want) {
		return trial.Broken("split of %v gave %v, want %v", m.members, got, want)
	}
	return s.Free()
}

// note adds an outcome to the history.
func (m *member) note(outcome ...any) {
	h := fnv.New64a()
	fmt.Fprint(h, m.history, outcome)
	m.history = h.Sum64()
}

// repair continues without the dead.
func (m *member) repair(ctx context.Context) error {
	m.dieIf(inRepair)
	m.c.Mark(names[atRevoke], m.phase)
	if err := m.c.Revoke(); err != nil {
		return err
	}
	m.c.Mark(names[atShrink], m.phase)
	next, err := m.c.Shrink(ctx)
	if err != nil {
		return err
	}
	return m.moveTo(next)
}

func (m *member) moveTo(next *comm.Comm) error {
	before, old := m.members, m.c
	m.c, m.members = next, next.Group().Processes()
	m.phase++
	m.note("shrink", m.members)
	unknown := slices.ContainsFunc(m.members, func(r int) bool { return !slices.Contains(before, r) })
	switch {
	case unknown, !slices.IsSorted(m.members), m.members[next.Rank()] != m.me, len(m.members) != next.Size():
		return trial.Broken("shrink of %v gave %v, rank %d of %d", before, m.members, next.Rank(), next.Size())
	case len(m.members) >= len(before):
		return trial.Broken("shrink of %v left nobody out", before)
	case old == m.world: // which belongs to Main
		return nil
	}
	return old.Free()
}

// last checks the last communicator: nobody dies here any more, so all must succeed.
func (m *member) last(ctx context.Context) error {
	mine := m.history ^ hashOf(m.members)
	lo, hi := []uint64{mine}, []uint64{mine}
	if err := collectives.Allreduce(ctx, m.c, lo, lo, collectives.BAnd); err != nil {
		return trial.Broken("on the last communicator: %v", err)
	}
	if err := collectives.Allreduce(ctx, m.c, hi, hi, collectives.BOr); err != nil {
		return trial.Broken("on the last communicator: %v", err)
	}
	if lo[0] != mine || hi[0] != mine {
		return trial.Broken("the survivors differ in members or history: %x and %x, here %x", lo[0], hi[0], mine)
	}
	list := slices.Clone(m.members)
	if err := collectives.Bcast(ctx, m.c, 0, list); err != nil || !slices.Equal(list, m.members) {
		return trial.Broken("rank 0 of the last communicator has members %v, here %v (%v)", list, m.members, err)
	}
	fmt.Fprintf(m.out, "massdeath: rank %d ends with %d members after %d repairs\n", m.me, len(m.members), m.phase)
	return nil
}

func hashOf(members []int) uint64 {
	h := fnv.New64a()
	for _, r := range members {
		_ = binary.Write(h, binary.LittleEndian, int64(r)) // a hash takes all
	}
	return h.Sum64()
}

// settle repeats an agreement until one has no error: then all members have reached it, and the
// members with a planned death have not.
func (m *member) settle(ctx context.Context) error {
	for {
		_, err := m.c.Agree(ctx, 0)
		switch {
		case err == nil:
			return m.last(ctx)
		case !ulfm.Recoverable(err):
			return err
		}
		next, err := m.c.Shrink(ctx)
		if err != nil {
			return err
		}
		if err := m.moveTo(next); err != nil {
			return err
		}
	}
}

// finalizeEach is about the time of Finalize for each rank.
const finalizeEach = 25 * time.Microsecond

// dieLater checks the world and leaves; a rank with a planned death dies at an instant after that.
func (m *member) dieLater(ctx context.Context) error {
	if err := m.last(ctx); err != nil {
		return err
	}
	if err := collectives.Barrier(ctx, m.c); err != nil && !ulfm.Recoverable(err) {
		return err
	}
	if m.mine != nil {
		time.AfterFunc(m.mine.after%(finalizeEach*time.Duration(m.c.Size())), m.die)
	}
	return nil
}
