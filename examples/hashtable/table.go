package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// A table is a set of keys in the memory of all ranks. It has as many parts as there were ranks at
// first. A key belongs to one part, by its hash, and lies in one of the slots there. A slot holds a
// key plus 1, or 0 if it is free. Keys are inserted by compare-and-swap and never leave.
type table struct {
	c       *comm.Comm
	slots   int // of a part
	shelves []shelf
	where   []place // by part
}

// A shelf is a window and the part that each rank has there; none: -1. At first there is one shelf.
// After a death each part of a dead rank is on a shelf of its own.
type shelf struct {
	w     *rma.Win[uint64]
	parts []int
}

type place struct{ shelf, rank int }

var errFull = errors.New("a part of the table is full")

func newTable(ctx context.Context, c *comm.Comm, slots int) (*table, error) {
	w, err := rma.Allocate[uint64](ctx, c, slots)
	if err != nil {
		return nil, err
	}
	s := shelf{w: w}
	for rank := range c.Size() {
		s.parts = append(s.parts, rank)
	}
	t := &table{c: c, slots: slots, shelves: []shelf{s}, where: make([]place, c.Size())}
	t.index()
	return t, nil
}

// index finds the place of each part.
func (t *table) index() {
	for i, s := range t.shelves {
		for rank, part := range s.parts {
			if part >= 0 {
				t.where[part] = place{i, rank}
			}
		}
	}
}

// insert puts a key into the table, if the key is not there. Several ranks may insert the same key.
func (t *table) insert(ctx context.Context, key uint64) error {
	_, err := t.visit(key, func(to rma.Target[uint64], slot int) (uint64, error) {
		was, _, err := to.CompareAndSwap(ctx, slot, 0, key+1)
		return was, err
	})
	return err
}

// has reports whether a key is in the table.
func (t *table) has(ctx context.Context, key uint64) (bool, error) {
	was, err := t.visit(key, func(to rma.Target[uint64], slot int) (uint64, error) { return to.Load(ctx, slot) })
	return was == key+1, err
}

// visit calls look for one slot after the other until one is free or has the key, and returns the
// content of that slot.
func (t *table) visit(key uint64, look func(to rma.Target[uint64], slot int) (uint64, error)) (uint64, error) {
	h := hash(key)
	at := t.where[h%uint64(len(t.where))]
	to, first := t.shelves[at.shelf].w.At(at.rank), int(h/uint64(len(t.where))%uint64(t.slots))
	for i := range t.slots {
		was, err := look(to, (first+i)%t.slots)
		if err != nil || was == 0 || was == key+1 {
			return was, err
		}
	}
	return 0, errFull
}

// mine calls f for each key in this rank's memory.
func (t *table) mine(f func(key uint64)) {
	for _, s := range t.shelves {
		for _, v := range s.w.Local() {
			if v != 0 {
				f(v - 1)
			}
		}
	}
}

// repaired returns the table on the communicator of the survivors. Each survivor keeps its parts in
// place, and the parts of the dead are given to some of them. No key is lost while another process
// shares the memory of the dead one, since the memory then outlives its process. If a node and its
// memory are lost, the result is an empty table: fill inserts all keys again. The old table is
// unchanged until it is freed, so that a repair in which another rank dies can be repeated.
func (t *table) repaired(ctx context.Context, left *comm.Comm) (*table, error) {
	n := &table{c: left, slots: t.slots, where: make([]place, len(t.where))}
	ranks := left.RanksOf(t.c.Group()) // by old rank: the new one, or Undefined
	for _, s := range t.shelves {
		dead := s.lost(ranks)
		heirs, err := rma.Heirs(ctx, left, s.w, dead)
		if err == nil && slices.Contains(heirs, comm.Undefined) {
			return t.emptied(ctx, left, n)
		}
		if err == nil {
			err = n.move(ctx, s, ranks)
		}
		for i := 0; err == nil && i < len(dead); i++ {
			err = n.inherit(ctx, s, dead[i], heirs[i])
		}
		if err != nil {
			return nil, errors.Join(err, n.free())
		}
	}
	n.index()
	return n, nil
}

// lost returns the ranks of a shelf that have a part and are not among the survivors.
func (s shelf) lost(ranks []int) (dead []int) {
	for rank, part := range s.parts {
		if part >= 0 && ranks[rank] == comm.Undefined {
			dead = append(dead, rank)
		}
	}
	return dead
}

// emptied returns a table without keys, in place of a partial one with the old memory.
func (t *table) emptied(ctx context.Context, left *comm.Comm, n *table) (*table, error) {
	if err := n.free(); err != nil {
		return nil, err
	}
	all := t.slots * len(t.where)
	return newTable(ctx, left, all/left.Size()+1)
}

// move takes over the parts of the living ranks on a shelf.
func (t *table) move(ctx context.Context, old shelf, ranks []int) error {
	w, err := rma.Rebuild(ctx, t.c, old.w)
	if err != nil {
		return fmt.Errorf("move: %w", err)
	}
	parts := none(t.c.Size())
	for rank, part := range old.parts {
		if ranks[rank] != comm.Undefined {
			parts[ranks[rank]] = part
		}
	}
	t.shelves = append(t.shelves, shelf{w, parts})
	return nil
}

// inherit gives the part that a dead rank had on a shelf to a living one.
func (t *table) inherit(ctx context.Context, old shelf, dead, heir int) error {
	o := rma.Fresh(0)
	if t.c.Rank() == heir {
		o = rma.Inherit(dead)
	}
	w, err := rma.Rebuild(ctx, t.c, old.w, o)
	if err != nil {
		return fmt.Errorf("inherit: %w", err)
	}
	parts := none(t.c.Size())
	parts[heir] = old.parts[dead]
	t.shelves = append(t.shelves, shelf{w, parts})
	return nil
}

func none(n int) []int {
	parts := make([]int, n)
	for i := range parts {
		parts[i] = -1
	}
	return parts
}

func (t *table) free() error {
	var errs []error
	for _, s := range t.shelves {
		errs = append(errs, s.w.Free())
	}
	return errors.Join(errs...)
}

// hash is the finalizer of splitmix64.
func hash(k uint64) uint64 {
	k = (k ^ k>>30) * 0xbf58476d1ce4e5b9
	k = (k ^ k>>27) * 0x94d049bb133111eb
	return k ^ k>>31
}
