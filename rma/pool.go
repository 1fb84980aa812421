package rma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/base/firstfit"
)

// A Pool is a window in which each member allocates objects independently, at any time, and passes
// their locations to others as a Ref: lists, trees and tables that grow (MPI 12.2.4,
// MPI_Win_create_dynamic). Its methods and the functions on a Pool may be called from any
// goroutine.
type Pool struct {
	bytes *Win[byte]
	slots *Win[uint64] // of each member: the words of its slots

	mu      sync.Mutex
	space   firstfit.Space
	used    []slot // of this member
	free    []int  // slots that may be used again
	leaving []int  // slots that were detached since the last successful Fence
}

// slot is one of this member's.
type slot struct {
	generation uint64 // number of objects that the slot has had; the word in memory has the type, too
	block      firstfit.Block
	attached   bool
}

// A Ref is the location of an object of a Pool: n elements of T at a member. A Ref can be sent, and
// be in an element of a window. The zero value refers to no object.
type Ref[T comm.Elem] struct {
	Rank       int32  // of the member that has the object
	Slot       int32  // number of the object's entry in the table of this member
	Generation uint64 // number of objects that the slot has had, this one included; 0: no object
	Offset     uint64 // in bytes, of the member's memory
	Len        uint64 // in elements of T
}

// A word of a slot is the generation of the object in the slot, and the code of its type; with code
// 0 there is no object.
const codeBits = 8

// bytesOfSlot is the number of bytes of a pool for each slot.
const bytesOfSlot = 256

// NewPool makes a Pool with the given number of bytes for the objects of each member. An object
// takes a multiple of 64 bytes. A member has at most bytes/256 + 8 objects at a time, rounded up to
// a multiple of 8. Pages are allocated at the first access if there are more than 64 MiB.
// Collective, uniform, and with the errors of Allocate; comm.ErrMismatch if the numbers of members
// give different sizes of the window.
func NewPool(ctx context.Context, c *comm.Comm, bytes int) (*Pool, error) {
	slots := 8 * roundTo(bytes/bytesOfSlot+8, 8)
	size := slots + roundTo(bytes, firstfit.Line)
	if bytes < 0 || bytes > math.MaxInt/4 {
		size = -1 // the error is that of the window, everywhere
	}
	w, err := Allocate[byte](ctx, c, size)
	if err != nil {
		return nil, err
	}
	p := &Pool{bytes: w, space: firstfit.Space{Bytes: w.Len(w.k.me) - slots}}
	for rank := range w.k.n {
		if w.Len(rank) != w.Len(0) {
			return nil, errors.Join(w.k.raise(w.k.fail("new_pool", nil, fmt.Errorf("%w: pools of %d and %d bytes", comm.ErrMismatch, w.Len(0), w.Len(rank)))), w.Free())
		}
	}
	if p.slots, err = View[uint64](w, 0, slots/8); err != nil {
		return nil, errors.Join(err, w.Free())
	}
	p.used = make([]slot, slots/8)
	for i := len(p.used) - 1; i >= 0; i-- {
		p.free = append(p.free, i)
	}
	return p, nil
}

func roundTo(n, unit int) int { return (n + unit - 1) / unit * unit }

// Comm is Win.Comm.
func (p *Pool) Comm() *comm.Comm { return p.bytes.Comm() }

// Fence is Win.Fence. After success the memory of objects that this member had detached before is
// free for new objects of this member.
func (p *Pool) Fence(ctx context.Context) error {
	p.mu.Lock()
	leaving := p.leaving
	p.leaving = nil
	p.mu.Unlock()
	err := p.bytes.Fence(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.leaving = append(p.leaving, leaving...)
		return err
	}
	for _, i := range leaving {
		p.space.Give(p.space.Find(p.used[i].block))
		p.free = append(p.free, i)
	}
	return nil
}

// Revoke is Win.Revoke.
func (p *Pool) Revoke() error { return p.bytes.Revoke() }

// Free is Win.Free.
func (p *Pool) Free() error { return p.bytes.Free() }

// Grow makes an object of n zeroed elements in this member's part of a pool. Local. Errors:
// comm.ErrNoRoom if no stretch of free bytes is as long, or no slot is free; comm.ErrType,
// comm.ErrArgument for a wrong T or n; comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced.
func Grow[T comm.Elem](ctx context.Context, p *Pool, n int) (Ref[T], error) {
	k := p.bytes.k
	const op = "grow"
	s := specOf[T](op, n, nil)
	if s.err != nil {
		return Ref[T]{}, k.raise(k.fail(op, nil, s.err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b, at, fits := p.space.Fit(n * s.unit)
	if !fits || len(p.free) == 0 {
		return Ref[T]{}, k.raise(k.fail(op, nil, fmt.Errorf("%w: %d elements of %d bytes in a pool of %d, in which there are %d objects more", comm.ErrNoRoom, n, s.unit, p.space.Bytes, len(p.free))))
	}
	i := p.free[len(p.free)-1]
	off := p.slots.Len(k.me)*8 + b.Off
	if local := p.bytes.Local(); local != nil {
		clear(local[off : off+b.Bytes])
	}
	generation := p.used[i].generation + 1
	if err := p.slots.At(k.me).Store(ctx, i, generation<<codeBits|uint64(s.code)); err != nil {
		return Ref[T]{}, err
	}
	p.free = p.free[:len(p.free)-1]
	p.space.Take(b, at)
	p.used[i] = slot{generation, b, true}
	return Ref[T]{Rank: int32(k.me), Slot: int32(i), Generation: generation, Offset: uint64(off), Len: uint64(n)}, nil
}

// Detach removes an object of this member: from now on a Deref of the object is ErrStale. Earlier
// Targets of the object may be used until the next Fence, after which its memory may be another
// object's. Errors: ErrStale, comm.ErrRank for another member's object, comm.ErrRevoked,
// comm.ErrFreed.
func Detach[T comm.Elem](ctx context.Context, p *Pool, ref Ref[T]) error {
	k := p.bytes.k
	const op = "detach"
	if int(ref.Rank) != k.me {
		return k.raise(k.fail(op, []int{int(ref.Rank)}, fmt.Errorf("%w: an object of another member", comm.ErrRank)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := int(ref.Slot)
	if i < 0 || i >= len(p.used) || !p.used[i].attached || p.used[i].generation != ref.Generation {
		return k.raise(k.fail(op, []int{k.me}, ErrStale))
	}
	if err := p.slots.At(k.me).Store(ctx, i, ref.Generation<<codeBits); err != nil {
		return err
	}
	p.used[i].attached = false
	p.leaving = append(p.leaving, i)
	return nil
}

// Deref returns the target of an object: its elements are counted from 0, and there are no others.
// Deref checks that the object is still attached; a later Detach is not noticed. Errors: ErrStale
// for an object that was detached, or never attached; comm.ErrType for an object of another type;
// comm.ErrRank; ErrBounds for an Offset or a Len of ref that lies outside of the pool,
// comm.ErrArgument for an Offset that T does not permit; comm.ErrProcFailed for an object of a dead
// member; comm.ErrRevoked, comm.ErrFreed.
func Deref[T comm.Elem](ctx context.Context, p *Pool, ref Ref[T]) (Target[T], error) {
	k := p.bytes.k
	const op = "deref"
	rank := int(ref.Rank)
	if i := int(ref.Slot); rank >= 0 && rank < k.n && (i < 0 || i >= p.slots.Len(rank) || ref.Generation == 0) {
		return Target[T]{}, k.raise(k.fail(op, []int{rank}, ErrStale))
	}
	word, err := p.slots.At(rank).Load(ctx, int(ref.Slot))
	code := uint64(byteview.Code[T]())
	switch {
	case err != nil:
		return Target[T]{}, err
	case word>>codeBits != ref.Generation || word&(1<<codeBits-1) == 0:
		return Target[T]{}, k.raise(k.fail(op, []int{rank}, ErrStale))
	case word&(1<<codeBits-1) != code:
		return Target[T]{}, k.raise(k.fail(op, []int{rank}, fmt.Errorf("%w: %s of %s", comm.ErrType, byteview.CodeName(uint8(code)), byteview.CodeName(uint8(word)))))
	case ref.Offset > math.MaxInt || int(ref.Offset) < 8*p.slots.Len(rank) || ref.Len > math.MaxInt/uint64(max(byteview.Size[T](), 1)):
		return Target[T]{}, k.raise(k.fail(op, []int{rank}, ErrBounds))
	}
	w, err := View[T](p.bytes, int(ref.Offset), int(ref.Len))
	if err != nil {
		return Target[T]{}, err
	}
	return w.At(rank), nil
}

// Own returns the elements of an object of this member, to load and store directly (Win.Local).
// Errors: comm.ErrRank for another member's object, and those of Deref.
func Own[T comm.Elem](ctx context.Context, p *Pool, ref Ref[T]) ([]T, error) {
	t, err := Deref(ctx, p, ref)
	if err == nil && int(ref.Rank) != p.bytes.k.me {
		k := p.bytes.k
		err = k.raise(k.fail("own", []int{int(ref.Rank)}, fmt.Errorf("%w: an object of another member", comm.ErrRank)))
	}
	if err != nil {
		return nil, err
	}
	return (&Win[T]{k: t.k}).Local(), nil
}

// SalvageObject copies an object's elements into dst, from the first on, also those of a dead
// member's object. SalvageObject does not check that the object is attached. Errors as of
// Win.Salvage.
func SalvageObject[T comm.Elem](p *Pool, ref Ref[T], dst []T) error {
	k := p.bytes.k
	if uint64(len(dst)) > ref.Len {
		return k.raise(k.fail("salvage", []int{int(ref.Rank)}, fmt.Errorf("%w: %d elements of %d", ErrBounds, len(dst), ref.Len)))
	}
	return p.bytes.Salvage(int(ref.Rank), int(ref.Offset), byteview.Bytes(dst))
}
