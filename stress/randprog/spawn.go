package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// spawnedMax is the maximal number of processes that a program spawns.
const spawnedMax = 4

// A place is the current place in the program, for a process that joins later.
type place struct {
	Stretch, Spawned int
	Slots            []string
	Base             string
}

// joinVariable holds, for a spawned process, the stretch at which it joins.
const joinVariable = "RANDPROG_JOIN"

// grow may start processes at the end of a successful stretch; they join the base communicator. The
// call succeeds at all members or at none, like every step that ends a stretch.
func (m *machine) grow(ctx context.Context) error {
	rng := stream(m.r.seed, 7, uint64(m.stretch))
	count := 1 + rng.IntN(2)
	if !one(rng, 5) || m.args == nil || m.spawned+count > spawnedMax || m.stretch+1 >= m.r.stretches {
		return nil
	}
	m.spawned += count
	s := m.newStep(ctx, &operation{name: "spawn"}, m.base, (m.stretch+m.r.stretches)*stepsMax, 0)
	s.name = fmt.Sprintf("%d.spawn", m.stretch)
	s.made = &group{name: "i" + strconv.Itoa(m.stretch)}
	m.log.put(record{What: recBegin, Step: s.name, Op: "spawn", Comm: m.base.name})
	ic, err := m.base.c.Spawn(ctx, comm.SpawnSpec{N: count, Args: m.args, Env: []string{joinVariable + "=" + strconv.Itoa(m.stretch)}})
	m.noteSpawn(s, ic, err)
	if classify(err) == classFenced {
		return err
	}
	good := uint64(0)
	if err == nil {
		good = 1
	}
	all, err := m.base.c.Agree(ctx, good)
	m.noteStep(s.name+"-agree", "spawn-agree", m.base, fmt.Sprintf("%d %v", all, err != nil), err)
	if err != nil && classify(err) != classFailed {
		return err
	}
	if err != nil || all == 0 {
		m.dropInter(ic, s.made)
		return m.repair(ctx)
	}
	merged, ok, err := m.merge(ctx, s.made, ic, rng.IntN(2) == 0, place{Stretch: m.stretch, Spawned: m.spawned})
	if err != nil {
		return err
	}
	if !ok {
		return m.repair(ctx)
	}
	m.free(m.base)
	m.base = merged
	return nil
}

// noteSpawn logs the end of a spawn. Only rank 0 knows the reason of a failure.
func (m *machine) noteSpawn(s *step, ic *comm.Intercomm, err error) {
	r := record{What: recEnd, Step: s.name, Op: "spawn", Comm: s.g.name, From: s.g.name}
	m.describe(s.g, &r, err)
	if errors.Is(err, comm.ErrPeerArgument) {
		r.Class, r.Procs = classFailed, nil // rank 0, which is alive, has the reason
	}
	r.Out = outcome(r.Class)
	m.log.put(r)
	if ic != nil {
		m.log.put(record{What: recMember, Comm: s.made.name, Procs: append(ic.Group().Processes(), ic.RemoteGroup().Processes()...)})
	}
}

// outcome returns the outcome of a creation, by the class of its error.
func outcome(class string) string {
	switch class {
	case "":
		return "made"
	case classFailed:
		return "none" // if a revocation has overtaken the creation, the communicator of the others is revoked
	}
	return ""
}

// noteStep logs the end of a call that is not a step.
func (m *machine) noteStep(name, op string, g *group, out string, err error) {
	r := record{What: recEnd, Step: name, Op: op, Comm: g.name, Out: out}
	m.describe(g, &r, err)
	m.log.put(r)
}

// dropInter revokes and frees an intercommunicator, so that the other side is notified.
func (m *machine) dropInter(ic *comm.Intercomm, g *group) {
	if ic == nil {
		return
	}
	m.log.put(record{What: recRevoke, Comm: g.name})
	_ = ic.Revoke()
	_ = ic.Free()
}

// merge makes one communicator of both sides, sends the place in the program to the new processes,
// and agrees on the success. All members of both sides make the same calls.
func (m *machine) merge(ctx context.Context, inter *group, ic *comm.Intercomm, messages bool, at place) (merged *group, ok bool, err error) {
	child := m.base == nil
	inter.procs = ic.RemoteGroup().Processes() // errors name these processes
	name := fmt.Sprintf("m%d", at.Stretch)
	merged = &group{name: name, sure: true}
	err = func() error {
		if err := collectives.InterBarrier(ctx, ic); err != nil {
			return err
		}
		if messages {
			if err := m.interMessages(ctx, ic, uint64(at.Stretch)); err != nil {
				return err
			}
		}
		c, err := ic.Merge(ctx, child)
		if err == nil {
			merged.c, merged.procs = c, c.Group().Processes()
			m.member(merged)
			m.handle(merged)
		}
		r := record{What: recEnd, Step: name, Op: "merge", Comm: inter.name, From: inter.name, Out: outcome(classify(err))}
		m.describe(inter, &r, err)
		m.log.put(r)
		if err != nil {
			return err
		}
		at.Base = name
		for _, g := range m.slots {
			at.Slots = append(at.Slots, g.name)
		}
		return collectives.BcastValue(ctx, c, 0, &at)
	}()
	g := inter
	if merged.c != nil {
		g = merged
	}
	m.noteStep(name+".join", "join", g, "", err)
	good := uint64(1)
	if err != nil {
		good = 0
		m.log.put(record{What: recRevoke, Comm: inter.name})
		if err := ic.Revoke(); err != nil {
			return merged, false, err
		}
		m.revoke(merged)
	}
	all, err := ic.Agree(ctx, good)
	m.noteStep(name+".joined", "join-agree", inter, fmt.Sprint(err != nil), err) // each side has the other's flags
	if err != nil && classify(err) != classFailed {
		return merged, false, err
	}
	// An agreement returns the flags of the other side alone: a second agreement gives both sides
	// the same result.
	second, err2 := ic.Agree(ctx, all&good)
	m.noteStep(name+".joined2", "join-agree", inter, fmt.Sprint(err2 != nil), err2)
	if err2 != nil && classify(err2) != classFailed {
		return merged, false, err2
	}
	ok = err == nil && err2 == nil && all&good&second == 1
	if !ok {
		m.revoke(merged)
		m.free(merged)
	} else if child {
		m.stretch, m.spawned = at.Stretch, at.Spawned
		for _, slot := range at.Slots {
			m.slots = append(m.slots, &group{name: slot, sure: true})
		}
	}
	return merged, ok, ic.Free()
}

// interMessages exchanges messages and a reduction between both sides.
func (m *machine) interMessages(ctx context.Context, ic *comm.Intercomm, id uint64) error {
	sum := []uint64{word(id, m.me, 0)}
	if err := collectives.InterAllreduce(ctx, ic, sum, sum, collectives.Sum); err != nil {
		return err
	}
	for _, p := range ic.RemoteGroup().Processes() {
		sum[0] -= word(id, p, 0)
	}
	if sum[0] != 0 {
		return m.broken("a wrong sum of the other side")
	}
	peer := ic.Rank()
	if peer >= ic.RemoteSize() {
		return nil
	}
	in := make([]uint64, 500)
	if _, err := comm.SendRecv(ctx, ic.To(peer), vector[uint64](id, m.me, 500), ic.From(peer), in); err != nil {
		return err
	}
	if at := wrongAt(in, id, ic.RemoteGroup().Processes()[peer], 0); at >= 0 {
		return m.broken("wrong data at %d from the other side", at)
	}
	return nil
}

// join is the program of a spawned process. If the merge fails, the process ends.
func (m *machine) join(ctx context.Context) error {
	stretch, err := strconv.Atoi(os.Getenv(joinVariable))
	if err != nil {
		return m.broken("%s: %v", joinVariable, err)
	}
	rng := stream(m.r.seed, 7, uint64(stretch)) // the same draws as in grow
	rng.IntN(2)
	one(rng, 5)
	m.base = nil
	inter := &group{name: fmt.Sprintf("i%d", stretch)}
	merged, ok, err := m.merge(ctx, inter, m.world.Parent(), rng.IntN(2) == 0, place{Stretch: stretch})
	if err != nil {
		return m.end(err)
	}
	if !ok {
		m.log.put(record{What: recNote, Err: "the others do without it"})
		m.log.put(record{What: recOver, Op: "unwanted"})
		m.fate.over(m)
		return nil
	}
	m.base = merged
	m.stretch++
	return m.goOn(ctx)
}
