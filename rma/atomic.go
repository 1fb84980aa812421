package rma

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// Load returns one element, atomically. After an atomic store of this element, Load also makes all
// earlier stores of the storing member to this target visible.
//
// Errors are those of Put, and comm.ErrType for records, which have no atomic operations, and for
// complex128, whose components are atomic each: an Accumulate changes them.
func (t Target[T]) Load(ctx context.Context, disp int) (T, error) {
	var v T
	if t.k.isAway(t.rank) {
		bits, err := t.k.far(t.rank).askNumber(ctx, "load", disp, rmaserver.Frame{Op: rmaserver.Load})
		if err == nil {
			v = fromBits[T](bits)
		}
		return v, t.k.raise(err)
	}
	e, err := t.k.element(ctx, "load", t.rank, disp)
	if err == nil {
		if s, at := t.k.stripe(t.rank, disp); s != nil {
			v = fromBits[T](s.load(e, at))
		} else {
			v = fromBits[T](e.Load())
		}
		t.k.leave()
	}
	return v, t.k.raise(err)
}

// Store stores one element, atomically. Store takes effect after every operation of this member on
// this target whose call happened before (P1): a member that loads the element finds data that were
// put before. Errors as of Load.
func (t Target[T]) Store(ctx context.Context, disp int, v T) error {
	if t.k.isAway(t.rank) {
		return t.k.raise(t.k.far(t.rank).tellNumber(ctx, "store", disp, toBits(v)))
	}
	e, err := t.k.element(ctx, "store", t.rank, disp)
	if err == nil {
		if s, at := t.k.stripe(t.rank, disp); s != nil {
			s.swap(e, at, toBits(v))
		} else {
			e.Swap(toBits(v))
		}
		t.k.leave()
		t.k.ring(t.rank)
	}
	return t.k.raise(err)
}

// FetchAndOp combines one element with v, atomically, and returns the previous value (MPI 12.3.4,
// MPI_Fetch_and_op). FetchAndOp takes effect after every earlier operation on the target, as Store.
// Errors as of Load, comm.ErrArgument for a nil op, and comm.ErrUnsupported for a
// collectives.Custom of a nil function. If the program's function panics, so does the call.
func (t Target[T]) FetchAndOp(ctx context.Context, disp int, v T, op collectives.Op[T]) (T, error) {
	var prev T
	change, err := changeOf(t.k, "fetch_and_op", op)
	if err != nil {
		return prev, t.k.raise(err)
	}
	if t.k.isAway(t.rank) {
		bits, err := t.k.far(t.rank).change(ctx, "fetch_and_op", disp, change, toBits(v))
		if err == nil {
			prev = fromBits[T](bits)
		}
		return prev, t.k.raise(err)
	}
	e, err := t.k.element(ctx, "fetch_and_op", t.rank, disp)
	if err == nil {
		if s, at := t.k.stripe(t.rank, disp); s != nil {
			prev = fromBits[T](s.change(e, at, change, toBits(v)))
		} else {
			prev = fromBits[T](change.apply(e, toBits(v)))
		}
		t.k.leave()
		t.k.ring(t.rank)
	}
	return prev, t.k.raise(err)
}

// CompareAndSwap stores v in one element if the element equals old, atomically. The results are the
// previous value, and whether v was stored (MPI 12.3.4, MPI_Compare_and_swap). Floats are compared
// by their bits. CompareAndSwap takes effect after every earlier operation on the target, as Store.
// Errors as of Load.
func (t Target[T]) CompareAndSwap(ctx context.Context, disp int, old, v T) (prev T, swapped bool, err error) {
	if t.k.isAway(t.rank) {
		was, err := t.k.far(t.rank).askNumber(ctx, "compare_and_swap", disp, rmaserver.Frame{Op: rmaserver.CompareAndSwap, Count: toBits(old), Operand: toBits(v)})
		if err != nil {
			return prev, false, t.k.raise(err)
		}
		return fromBits[T](was), was == toBits(old), nil
	}
	e, err := t.k.element(ctx, "compare_and_swap", t.rank, disp)
	if err != nil {
		return prev, false, t.k.raise(err)
	}
	var was uint64
	if s, at := t.k.stripe(t.rank, disp); s != nil {
		was, swapped = s.compareAndSwap(e, at, toBits(old), toBits(v))
	} else {
		was, swapped = e.CompareAndSwap(toBits(old), toBits(v))
	}
	t.k.leave()
	if swapped {
		t.k.ring(t.rank)
	}
	return fromBits[T](was), swapped, nil
}

// Accumulate combines the target's elements from disp on with those of src, each atomically (of
// complex128 each component): other accumulates and atomic operations come before or after, element
// by element (MPI 12.3.4, MPI_Accumulate). If this member dies meanwhile any of the elements may
// have been changed, once each (W6). Errors as of Put, comm.ErrType for records, comm.ErrArgument
// for a nil op, and comm.ErrUnsupported for a collectives.Custom of a nil function and for all
// operations on complex128 but Sum.
func (t Target[T]) Accumulate(ctx context.Context, disp int, src []T, op collectives.Op[T]) error {
	return t.k.raise(accumulate(ctx, t, "accumulate", disp, src, nil, op))
}

// GetAccumulate is Accumulate that fills result with the previous values, element by element.
// result has the length of src; otherwise the error is comm.ErrLength (MPI 12.3.4,
// MPI_Get_accumulate).
func (t Target[T]) GetAccumulate(ctx context.Context, disp int, src, result []T, op collectives.Op[T]) error {
	const name = "get_accumulate"
	if len(src) != len(result) {
		return t.k.raise(t.k.fail(name, nil, fmt.Errorf("%w: %d elements, room for %d", comm.ErrLength, len(src), len(result))))
	}
	return t.k.raise(accumulate(ctx, t, name, disp, src, result, op))
}

// Iaccumulate is Accumulate, as a request (MPI 12.3.5, MPI_Raccumulate): see Iput.
func (t Target[T]) Iaccumulate(ctx context.Context, disp int, src []T, op collectives.Op[T]) comm.Request {
	return door.NotStarted(t.Accumulate(ctx, disp, src, op))
}

// IgetAccumulate is GetAccumulate, as a request (MPI 12.3.5, MPI_Rget_accumulate): see Iput.
func (t Target[T]) IgetAccumulate(ctx context.Context, disp int, src, result []T, op collectives.Op[T]) comm.Request {
	return door.NotStarted(t.GetAccumulate(ctx, disp, src, result, op))
}

func accumulate[T comm.Elem](ctx context.Context, t Target[T], name string, disp int, src, result []T, op collectives.Op[T]) error {
	change, err := changeOf(t.k, name, op)
	if err != nil {
		return err
	}
	in, out := byteview.Bytes(src), byteview.Bytes(result)
	if t.k.isAway(t.rank) {
		return t.k.far(t.rank).accumulate(ctx, name, disp, len(src), change, in, out)
	}
	mem, err := t.k.reach(ctx, name, t.rank, disp, len(src))
	if err != nil {
		return err
	}
	p := &t.k.pieces[t.rank]
	changeAll(p.stripes, change, mem, p.at+disp*t.k.unit, in, out)
	t.k.leave()
	t.k.ring(t.rank)
	return nil
}

// stripe returns the locks of a target's elements, or nil, and the byte at which an element begins.
func (k *core) stripe(rank, disp int) (s *stripes, at int) {
	p := &k.pieces[rank]
	return p.stripes, p.at + disp*k.unit
}

// element begins an atomic access to one element of a target.
func (k *core) element(ctx context.Context, op string, rank, disp int) (e window.Element, err error) {
	if err := k.atomic(op); err != nil {
		return e, err
	}
	mem, err := k.reach(ctx, op, rank, disp, 1)
	if err != nil {
		return e, err
	}
	return window.At(mem, k.unit), nil
}

// atomic returns an error if elements have no atomic operations as a whole.
func (k *core) atomic(op string) error {
	if k.elem == 0 || k.unit > 8 {
		return k.fail(op, nil, fmt.Errorf("%w: %s have no atomic operations", comm.ErrType, byteview.CodeName(k.spec.code)))
	}
	return nil
}

// A change is the effect of an operation on one number of size bytes.
type change struct {
	code uint16 // op and elem; four fields are as many as the compiler keeps in registers
	size int
	adds bool // the operation is a sum of integers
	f    func(acc, in uint64) uint64
}

// changeBy is the change by a built-in operation; its f is nil if there is no such operation.
func changeBy(op kernel.Op, elem kernel.Elem, size int) change {
	return change{code: uint16(op)<<8 | uint16(elem), size: size, adds: op == kernel.Sum && elem <= kernel.Uint64, f: kernel.Scalar(op, elem)}
}

// op is the operation of package kernel; 0: another one, which f alone performs (see opOf).
func (c change) op() kernel.Op { return kernel.Op(c.code >> 8) }

func (c change) elem() kernel.Elem { return kernel.Elem(c.code & 0xff) }

// changeOf returns the effect of op on an element, or on each component of a complex128.
func changeOf[T comm.Elem](k *core, name string, op collectives.Op[T]) (c change, err error) {
	if op == nil {
		return c, k.fail(name, nil, fmt.Errorf("%w: nil operation", comm.ErrArgument))
	}
	if k.elem == 0 {
		return c, k.fail(name, nil, fmt.Errorf("%w: %s have no atomic operations", comm.ErrType, byteview.CodeName(k.spec.code)))
	}
	code, elem, size := opOf(op.String()), k.elem, k.unit
	if elem == kernel.Complex128 {
		if code != kernel.Sum {
			return c, k.fail(name, nil, fmt.Errorf("%w: %s of complex128", comm.ErrUnsupported, op.String()))
		}
		elem, size = kernel.Float64, 8
	}
	c = changeBy(code, elem, size)
	if code == 0 {
		c.f = foldOf(op.Func())
	}
	if c.f == nil {
		return c, k.fail(name, nil, fmt.Errorf("%w: %s of %s", comm.ErrUnsupported, op.String(), byteview.CodeName(k.spec.code)))
	}
	return c, nil
}

// foldOf is the function f of the program, or of Replace, on one element, and nil without one. The
// program's function may be called repeatedly: a caller that finds the element changed meanwhile
// calls the function again.
func foldOf[T comm.Elem](f func(acc, in []T)) func(acc, in uint64) uint64 {
	if f == nil {
		return nil
	}
	return func(acc, in uint64) uint64 {
		a, b := []T{fromBits[T](acc)}, []T{fromBits[T](in)}
		f(a, b)
		return toBits(a[0])
	}
}

// opOf returns the code of an operation of package kernel by its name; 0: an operation of the
// program, Replace, or an operation on records.
func opOf(name string) kernel.Op {
	for op := kernel.Sum; op <= kernel.LXor; op++ {
		if op.String() == name {
			return op
		}
	}
	return 0
}

// toBits and fromBits convert between a number of up to 8 bytes and the lowest bits of a word.
func toBits[T any](v T) uint64 {
	one := [1]T{v}
	return byteview.BitsAt(byteview.Bytes(one[:]), byteview.Size[T]())
}

func fromBits[T any](bits uint64) T {
	var one [1]T
	byteview.SetBitsAt(byteview.Bytes(one[:]), byteview.Size[T](), bits)
	return one[0]
}
