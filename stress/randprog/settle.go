package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/ulfm"
)

// The flag of the agreement that ends a stretch: success of this rank, and the place in the program
// with its complement.
const (
	flagGood  = 1 << 0
	placeAt   = 1
	placeBits = 16
	placeMask = 1<<placeBits - 1
)

// settle ends a stretch. All live ranks take the same path from there on.
func (m *machine) settle(ctx context.Context) error {
	at := fmt.Sprintf("%d.settle", m.stretch)
	good := m.allWell()
	if m.wrong != nil {
		return m.wrong
	}
	place := uint64(m.stretch) & placeMask
	flag := place<<placeAt | (^place&placeMask)<<(placeAt+placeBits)
	stamp := flag
	if good {
		flag |= flagGood
	}
	m.log.put(record{What: recBegin, Step: at, Op: "settle", Comm: m.base.name})
	got, err := m.base.c.Agree(ctx, flag)
	r := record{What: recEnd, Step: at, Op: "settle", Comm: m.base.name, Out: fmt.Sprintf("%x %v", got, err != nil)}
	m.describe(m.base, &r, err)
	m.log.put(r)
	switch {
	case err != nil && !errors.Is(err, ulfm.ErrProcFailed):
		return err
	case got&^flagGood != stamp:
		return m.broken("settlement: the members are at different places: %x, here %x", got, stamp)
	case err == nil && got&flagGood != 0:
		m.keep()
		return m.grow(ctx)
	}
	if rng := stream(m.r.seed, 10, uint64(m.stretch)); m.mayLimp() && one(rng, 2) {
		return m.limp(ctx)
	}
	return m.repair(ctx)
}

// allWell reports whether this rank got no error in the stretch. Only communicators that all
// members have are kept.
func (m *machine) allWell() bool {
	if m.trouble.Load() || m.base.c.IsRevoked() {
		return false
	}
	for _, g := range m.slots {
		if g.c != nil && g.c.IsRevoked() {
			return false
		}
	}
	return !m.stumbled.Load()
}

const slotsMax = 5

// keep retains the communicators, which are sure now. Beyond slotsMax the oldest are freed.
func (m *machine) keep() {
	for _, g := range m.slots {
		g.sure = true
	}
	for len(m.slots) > slotsMax {
		m.free(m.slots[0])
		m.slots = m.slots[1:]
	}
}

// mayLimp reports whether nothing was revoked in the stretch, at any member.
func (m *machine) mayLimp() bool { return !m.leaves && !m.r.uniform && m.r.handler != handlerRevokes }

// limp continues with the same communicators: all acknowledge the same deaths.
func (m *machine) limp(ctx context.Context) error {
	var kept []*group
	for _, g := range m.slots {
		if g.sure {
			kept = append(kept, g)
		} else {
			m.free(g)
		}
	}
	m.slots = kept
	s := &step{ctx: ctx, m: m, op: &operation{name: "limp"}, name: fmt.Sprintf("%d.limp", m.stretch), g: m.base, c: m.base.c}
	m.log.put(record{What: recBegin, Step: s.name, Op: s.op.name, Comm: m.base.name})
	err := runAckAgree(s)
	m.note(s, err)
	m.limps = true
	if classify(err) == classFailed {
		return nil // the acknowledged deaths
	}
	return err
}

// repair continues with the live ranks. Communicators made in the stretch may be missing at some
// members; older communicators exist at all.
func (m *machine) repair(ctx context.Context) error {
	rng := stream(m.r.seed, 8, uint64(m.stretch))
	m.limps = false
	var kept []*group
	for _, g := range m.slots {
		if keeps := g.sure && one(rng, 2); !keeps {
			m.free(g)
			continue
		}
		small, err := m.shrink(ctx, g, "")
		if err != nil {
			return err
		}
		m.free(g)
		kept = append(kept, small)
	}
	m.slots = kept
	small, err := m.shrink(ctx, m.base, fmt.Sprintf("b%d", m.stretch))
	if err != nil {
		return err
	}
	m.free(m.base)
	m.base = small
	return nil
}

// shrink makes the group of the live members of g.
func (m *machine) shrink(ctx context.Context, g *group, name string) (*group, error) {
	if name == "" {
		name = g.name + "'"
	}
	small := &group{name: name, sure: true}
	if g.c == nil {
		return small, nil
	}
	at := fmt.Sprintf("%d.repair", m.stretch)
	m.log.put(record{What: recBegin, Step: at, Op: "repair", Comm: g.name})
	known := g.c.GetFailed().Processes()
	c, err := g.c.Shrink(ctx)
	r := record{What: recEnd, Step: at, Op: "repair", Comm: g.name, From: g.name}
	if err == nil {
		small.c, small.procs = c, c.Group().Processes()
		r.Out = fmt.Sprint(small.procs)
	}
	m.describe(g, &r, err)
	m.log.put(r)
	if err != nil {
		return nil, err
	}
	m.member(small)
	m.handle(small)
	return small, m.checkShrunk(g, small, known)
}

// checkShrunk checks that the new group is in the old order, contains this rank, and contains no
// process whose death was known.
func (m *machine) checkShrunk(g, small *group, known []int) error {
	at := 0
	for _, p := range small.procs {
		i := slices.Index(g.procs[at:], p)
		if i < 0 || slices.Contains(known, p) {
			return m.broken("shrink of %v, of which %v were known to be dead, gave %v", g.procs, known, small.procs)
		}
		at += i + 1
	}
	if small.procs[small.c.Rank()] != m.me {
		return m.broken("shrink of %v gave %v, where this rank is %d", g.procs, small.procs, small.c.Rank())
	}
	return nil
}
