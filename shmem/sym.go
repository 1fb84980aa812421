package shmem

import (
	"context"
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/base/firstfit"
	"github.com/goulfm/goulfm/rma"
)

// A Sym is a symmetric object, or a part of one: n elements of T at each PE, at the same place of
// the heap. A Sym is a small value; each call on the zero Sym returns comm.ErrArgument. Its methods
// may be called from any goroutine.
//
// Calls name a PE and elements of that PE, from 0. The order, atomicity and errors of package rma
// hold here.
type Sym[T comm.Elem] struct {
	h      *Heap
	w      *rma.Win[T]
	object firstfit.Block
	at, n  int  // of the object's elements
	number bool // elements can be changed atomically
}

// Alloc makes an object of n zeroed elements of T at each PE. Collective over the heap, and a
// barrier: all make the same requests, in the same order. Alloc succeeds at every living PE or at
// none (shmem_calloc, shmem_malloc, shmem_align: objects begin at multiples of 64 bytes).
//
// Errors: comm.ErrNoRoom at all if no stretch of free bytes is as long; comm.ErrMismatch if PEs
// made different requests; comm.ErrType, comm.ErrArgument for a wrong T or n, comm.ErrUnsupported
// for a team; comm.ErrProcFailed when a PE has died: then the heap must be repaired first. If ctx
// ends first the heap is revoked.
func Alloc[T comm.Elem](ctx context.Context, h *Heap, n int) (Sym[T], error) {
	const op = "alloc"
	if h.root != h {
		return Sym[T]{}, h.raise(h.fail(op, nil, fmt.Errorf("%w: a team: allocate on the heap that it was made of", comm.ErrUnsupported)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	size, code := byteview.Size[T](), byteview.Code[T]()
	var mine error
	var b firstfit.Block
	var at int
	fits := false
	switch {
	case code == 0:
		mine = fmt.Errorf("%w: elements that have no fixed size or hold pointers", comm.ErrType)
	case n < 0:
		mine = fmt.Errorf("%w: %d elements", comm.ErrArgument, n)
	case n <= h.space.Bytes/max(size, 1):
		if b, at, fits = h.space.Fit(n * size); fits {
			clear(h.win.Local()[headBytes+b.Off:][:b.Bytes]) // no PE uses the block before all have agreed
		}
	}
	if err := h.agree(ctx, op, h.space.Digest(uint64(n), uint64(code)), mine); err != nil {
		return Sym[T]{}, h.raise(err)
	}
	if !fits {
		return Sym[T]{}, h.raise(h.fail(op, nil, fmt.Errorf("%w: %d elements of %d bytes in a heap of %d", comm.ErrNoRoom, n, size, h.space.Bytes)))
	}
	h.space.Take(b, at)
	return symOf[T](h, b, n)
}

// symOf is an object as seen by a heap.
func symOf[T comm.Elem](h *Heap, b firstfit.Block, n int) (Sym[T], error) {
	w, err := rma.View[T](h.win, headBytes+b.Off, n)
	if err != nil {
		return Sym[T]{}, err
	}
	return Sym[T]{h: h, w: w, object: b, n: n, number: isNumber[T]()}, nil
}

// isNumber reports whether elements are numbers or bools of up to 8 bytes.
func isNumber[T comm.Elem]() bool {
	return byteview.Size[T]() <= 8 && byteview.Code[T]() <= uint8(reflect.Complex128) // records have higher codes
}

// Free frees the object's memory; any part of the object will do. Collective over the heap, and a
// barrier; afterwards symbols of the object are invalid at all PEs. Errors: comm.ErrFreed, and
// those of Alloc (shmem_free).
func (s Sym[T]) Free(ctx context.Context) error {
	const op = "free"
	if s.w == nil {
		return s.raise(s.wrong(op))
	}
	h := s.h.root
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.space.Find(s.object)
	if s.h != h {
		return h.raise(h.fail(op, nil, fmt.Errorf("%w: by a team: free it on the heap that has it", comm.ErrUnsupported)))
	}
	if err := h.agree(ctx, op, h.space.Digest(s.object.ID), nil); err != nil {
		return h.raise(err)
	}
	if at < 0 {
		return h.raise(h.fail(op, nil, comm.ErrFreed))
	}
	h.space.Give(at)
	return nil
}

// On returns the object as seen by another heap: the result of a Repair, or a team. Local. Errors:
// comm.ErrFreed if that heap has no such object any more, comm.ErrArgument for an unrelated heap.
func (s Sym[T]) On(h *Heap) (Sym[T], error) {
	const op = "on"
	switch {
	case s.w == nil:
		return s, s.raise(s.wrong(op))
	case h == nil || h.kin != s.h.kin:
		return Sym[T]{}, s.raise(s.h.fail(op, nil, fmt.Errorf("%w: a heap that is neither a team nor a repair of that of the object", comm.ErrArgument)))
	}
	h.root.mu.Lock()
	at := h.root.space.Find(s.object)
	h.root.mu.Unlock()
	if at < 0 {
		return Sym[T]{}, h.raise(h.fail(op, nil, comm.ErrFreed))
	}
	t, err := symOf[T](h, s.object, s.object.Bytes/max(byteview.Size[T](), 1))
	if err != nil {
		return Sym[T]{}, err
	}
	t.at, t.n = s.at, s.n
	return t, nil
}

// Heap returns the heap of the symbol.
func (s Sym[T]) Heap() *Heap { return s.h }

// Len returns the number of elements at each PE.
func (s Sym[T]) Len() int { return s.n }

// Part returns elements i to j, j not included, as a symbol of their own. Like a slice expression
// Part panics if they are out of range.
func (s Sym[T]) Part(i, j int) Sym[T] {
	if i < 0 || j < i || j > s.n {
		panic(fmt.Sprintf("shmem: part %d to %d of %d elements", i, j, s.n))
	}
	s.at, s.n = s.at+i, j-i
	return s
}

// Local returns this PE's elements, to load and store directly; see rma.Win.Local.
func (s Sym[T]) Local() []T {
	if s.w == nil {
		return nil
	}
	if all := s.w.Local(); all != nil {
		return all[s.at : s.at+s.n : s.at+s.n]
	}
	return nil
}

// Ptr returns a PE's elements, to load and store directly. They can be read also when the PE is
// dead; see Salvage (shmem_ptr). Errors: comm.ErrRank, comm.ErrFreed; comm.ErrUnsupported for a PE
// whose memory is not shared.
func (s Sym[T]) Ptr(pe int) ([]T, error) {
	if s.w == nil {
		return nil, s.raise(s.wrong("ptr"))
	}
	all, err := s.w.Slice(pe)
	if err != nil {
		return nil, err
	}
	return all[s.at : s.at+s.n : s.at+s.n], nil
}

// Put stores src in a PE's elements, from the first on; src belongs to the caller again on return.
// Each element is stored as a whole (shmem_put).
//
// Errors: comm.ErrRank, rma.ErrBounds; comm.ErrProcFailed when the PE is known to be dead, without
// effect; comm.ErrRevoked, comm.ErrFreed.
func (s Sym[T]) Put(ctx context.Context, pe int, src []T) error {
	if s.isOutside(0, len(src)) {
		return s.raise(s.outside("put", pe, 0, len(src)))
	}
	return s.w.At(pe).Put(ctx, s.at, src)
}

// Get copies a PE's elements from the first on into dst, as many as dst has. On an error dst is
// unchanged. Errors as of Put (shmem_get).
func (s Sym[T]) Get(ctx context.Context, pe int, dst []T) error {
	if s.isOutside(0, len(dst)) {
		return s.raise(s.outside("get", pe, 0, len(dst)))
	}
	return s.w.At(pe).Get(ctx, s.at, dst)
}

// PutStrided stores elements 0, srcStep, 2 srcStep ... of src in a PE's elements 0, step, 2 step
// ..., n of them. If the PE dies meanwhile any of them may be stored. Errors as of Put, and
// comm.ErrArgument for a step below 1 or a src that is too short (shmem_iput).
func (s Sym[T]) PutStrided(ctx context.Context, pe, step int, src []T, srcStep, n int) error {
	const op = "put_strided"
	if err := s.strided(op, pe, step, srcStep, n, len(src)); err != nil {
		return s.raise(err)
	}
	to := s.w.At(pe)
	for k := range n {
		if err := to.Put(ctx, s.at+k*step, src[k*srcStep:k*srcStep+1]); err != nil {
			return err
		}
	}
	return nil
}

// GetStrided copies a PE's elements 0, step, 2 step ... into dst's elements 0, dstStep, 2 dstStep
// ..., n of them. Errors as of PutStrided; dst may have some of them then (shmem_iget).
func (s Sym[T]) GetStrided(ctx context.Context, pe, step int, dst []T, dstStep, n int) error {
	const op = "get_strided"
	if err := s.strided(op, pe, step, dstStep, n, len(dst)); err != nil {
		return s.raise(err)
	}
	from := s.w.At(pe)
	for k := range n {
		if err := from.Get(ctx, s.at+k*step, dst[k*dstStep:k*dstStep+1]); err != nil {
			return err
		}
	}
	return nil
}

// strided returns an error if the arguments of a strided copy are invalid.
func (s Sym[T]) strided(op string, pe, step, otherStep, n, others int) error {
	switch {
	case s.w == nil:
		return s.wrong(op)
	case step < 1 || otherStep < 1 || n < 0:
		return s.h.fail(op, nil, fmt.Errorf("%w: %d elements at steps of %d and %d", comm.ErrArgument, n, step, otherStep))
	case n > 0 && (n-1) > (others-1)/otherStep:
		return s.h.fail(op, nil, fmt.Errorf("%w: %d elements at a step of %d in a slice of %d", comm.ErrArgument, n, otherStep, others))
	case n > 0 && (n-1) > (s.n-1)/step:
		return s.outside(op, pe, 0, n*step)
	}
	return nil
}

// Iput is Put, as a request: the Wait returns its errors (shmem_put_nbi).
func (s Sym[T]) Iput(ctx context.Context, pe int, src []T) comm.Request {
	return door.NotStarted(s.Put(ctx, pe, src))
}

// Iget is Get, as a request (shmem_get_nbi).
func (s Sym[T]) Iget(ctx context.Context, pe int, dst []T) comm.Request {
	return door.NotStarted(s.Get(ctx, pe, dst))
}

// P stores v in element i of a PE. A number is stored atomically, and after all earlier operations
// on that PE (P1): data, then a flag by P, need no Fence. Errors as of Put (shmem_p).
func (s Sym[T]) P(ctx context.Context, pe, i int, v T) error {
	switch {
	case s.isOutside(i, 1):
		return s.raise(s.outside("p", pe, i, 1))
	case s.number:
		return s.w.At(pe).Store(ctx, s.at+i, v)
	}
	return s.w.At(pe).Put(ctx, s.at+i, []T{v})
}

// G returns element i of a PE. A number is loaded atomically. Errors as of Put (shmem_g).
func (s Sym[T]) G(ctx context.Context, pe, i int) (T, error) {
	var v T
	switch {
	case s.isOutside(i, 1):
		return v, s.raise(s.outside("g", pe, i, 1))
	case s.number:
		return s.w.At(pe).Load(ctx, s.at+i)
	}
	one := []T{v}
	err := s.w.At(pe).Get(ctx, s.at+i, one)
	return one[0], err
}

// Salvage copies a PE's elements, also those of a dead PE, into dst, as many as dst has: each is
// the value of some whole write. Salvage works until the heap is freed here, also after a
// revocation or a repair. Errors: comm.ErrRank, rma.ErrBounds, comm.ErrFreed; comm.ErrUnsupported
// as of Ptr.
func (s Sym[T]) Salvage(pe int, dst []T) error {
	if s.isOutside(0, len(dst)) {
		return s.raise(s.outside("salvage", pe, 0, len(dst)))
	}
	return s.w.Salvage(pe, s.at, dst)
}

// isOutside reports whether some of elements i to i+n-1 do not exist.
func (s Sym[T]) isOutside(i, n int) bool { return s.w == nil || uint(i) > uint(s.n) || n > s.n-i }

func (s Sym[T]) outside(op string, pe, i, n int) error {
	if s.w == nil {
		return s.wrong(op)
	}
	return s.h.fail(op, []int{pe}, fmt.Errorf("%w: elements %d to %d of %d", rma.ErrBounds, i, i+n, s.n))
}

// wrong is the error of the zero symbol.
func (s Sym[T]) wrong(op string) error {
	return &comm.Error{Op: op, Err: fmt.Errorf("%w: a symbol that Alloc has not returned", comm.ErrArgument)}
}

func (s Sym[T]) raise(err error) error {
	if s.h == nil {
		return err
	}
	return s.h.raise(err)
}
