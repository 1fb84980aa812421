package rma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/batch"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/shmem"
)

// manyPuts is the number of puts before a flush in put64.
const manyPuts = 64

// bench is the data of the loops.
type bench struct {
	me     int
	data   *rma.Win[float64]
	words  *rma.Win[int64]
	to     rma.Target[float64] // the other of ranks 0 and 1
	word   rma.Target[int64]
	buf    []float64
	peer   comm.Group
	heap   *shmem.Heap
	object shmem.Sym[int64]
	lock   shmem.Sym[int64]
	turns  int64 // so far
}

// Elements of words.
const (
	counterAt = iota // a counter
	flagAt           // the turns of the other rank
	stopAt           // number of finished batches of busy
	wordsHere
)

// newBench makes the windows for an operation: that of the data with Bulk for bulk, and of the
// program's memory for own_...
func newBench(ctx context.Context, w *comm.Comm, op string, size int) (*bench, error) {
	n := max(size, 8) / 8
	b := &bench{me: w.Rank(), buf: make([]float64, n)}
	for i := range b.buf {
		b.buf[i] = 1
	}
	var errs [6]error
	switch op {
	case "bulk":
		b.data, errs[0] = rma.Allocate[float64](ctx, w, n, rma.Notifications(1), rma.Populate(), rma.Bulk())
	case "own_put", "own_get":
		b.data, errs[0] = rma.Create(ctx, w, make([]float64, n), rma.Notifications(1))
	default:
		b.data, errs[0] = rma.Allocate[float64](ctx, w, n, rma.Notifications(1), rma.Populate())
	}
	b.words, errs[1] = rma.Allocate[int64](ctx, w, wordsHere)
	b.heap, errs[2] = shmem.New(ctx, w, 4096)
	b.peer, errs[3] = w.Group().Incl(1 - min(w.Rank(), 1))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	b.object, errs[4] = shmem.Alloc[int64](ctx, b.heap, 1)
	b.lock, errs[5] = shmem.Alloc[int64](ctx, b.heap, 1)
	b.to, b.word = b.data.At(1-min(w.Rank(), 1)), b.words.At(1-min(w.Rank(), 1))
	return b, errors.Join(errs[:]...)
}

func (b *bench) free() error { return errors.Join(b.data.Free(), b.words.Free(), b.heap.Free()) }

// loop returns the loop of an operation at this rank.
func (b *bench) loop(op string) batch.Loop {
	switch op {
	case "fence":
		return each(b.data.Fence)
	case "post":
		return b.both(b.post)
	case "flag":
		return b.both(b.flag)
	case "notify":
		return b.both(b.notify)
	case "lock_both":
		return b.both(each(b.locked))
	case "busy":
		if b.me == 1 {
			return b.compute
		}
		return b.first(b.disturb)
	case "put64":
		return b.first(b.put64)
	}
	one := map[string]func(context.Context) error{
		"put": b.put, "get": b.get,
		"load":  func(ctx context.Context) error { _, err := b.word.Load(ctx, counterAt); return err },
		"store": func(ctx context.Context) error { return b.word.Store(ctx, counterAt, 1) },
		"fetch_add": func(ctx context.Context) error {
			_, err := b.word.FetchAndOp(ctx, counterAt, 1, collectives.Sum)
			return err
		},
		"cas":        func(ctx context.Context) error { _, _, err := b.word.CompareAndSwap(ctx, counterAt, 0, 0); return err },
		"accumulate": b.accumulate, "bulk": b.accumulate, "own_put": b.put, "own_get": b.get,
		"lock": b.locked, "shmem_put": b.shmemPut,
		"shmem_inc":  func(ctx context.Context) error { return shmem.Inc(ctx, b.object, 1, 0) },
		"shmem_lock": b.shmemLocked,
	}[op]
	return b.first(each(one))
}

func (b *bench) get(ctx context.Context) error { return b.to.Get(ctx, 0, b.buf) }

func (b *bench) accumulate(ctx context.Context) error {
	return b.to.Accumulate(ctx, 0, b.buf, collectives.Sum)
}

// each repeats a call.
func each(call func(ctx context.Context) error) batch.Loop {
	return func(ctx context.Context, iters int) error {
		for range iters {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// first is a loop of rank 0; the others wait in the next barrier.
func (b *bench) first(l batch.Loop) batch.Loop {
	if b.me == 0 {
		return l
	}
	return nothing
}

// both is a loop of ranks 0 and 1.
func (b *bench) both(l batch.Loop) batch.Loop {
	if b.me < 2 {
		return l
	}
	return nothing
}

func nothing(context.Context, int) error { return nil }

func (b *bench) put(ctx context.Context) error {
	if err := b.to.Put(ctx, 0, b.buf); err != nil {
		return err
	}
	return b.to.Flush(ctx)
}

func (b *bench) put64(ctx context.Context, iters int) error {
	for range iters {
		for range manyPuts {
			if err := b.to.Put(ctx, 0, b.buf); err != nil {
				return err
			}
		}
		if err := b.to.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// locked locks and unlocks the lock of rank 1.
func (b *bench) locked(ctx context.Context) error {
	t := b.words.At(1)
	if err := t.Lock(ctx, rma.LockExclusive); err != nil {
		return err
	}
	return t.Unlock(ctx)
}

func (b *bench) post(ctx context.Context, iters int) error {
	for range iters {
		if err := b.data.Post(ctx, b.peer); err != nil {
			return err
		}
		if err := b.data.Start(ctx, b.peer); err != nil {
			return err
		}
		if err := b.data.Complete(ctx); err != nil {
			return err
		}
		if err := b.data.WaitPosted(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) flag(ctx context.Context, iters int) error {
	for range iters {
		b.turns++
		come := func(v int64) bool { return v >= b.turns }
		if b.me == 1 {
			if _, err := b.words.Wait(ctx, flagAt, come, 0); err != nil {
				return err
			}
		}
		if err := b.to.Put(ctx, 0, b.buf); err != nil {
			return err
		}
		if err := b.word.Store(ctx, flagAt, b.turns); err != nil {
			return err
		}
		if b.me == 0 {
			if _, err := b.words.Wait(ctx, flagAt, come, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) notify(ctx context.Context, iters int) error {
	for range iters {
		b.turns++
		if b.me == 1 {
			if err := b.data.WaitNotify(ctx, 0, uint64(b.turns), 0); err != nil {
				return err
			}
		}
		if err := b.to.PutNotify(ctx, 0, b.buf, 0); err != nil {
			return err
		}
		if b.me == 0 {
			if err := b.data.WaitNotify(ctx, 0, uint64(b.turns), 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// disturb puts while the other rank computes, and signals the end of the batch.
func (b *bench) disturb(ctx context.Context, iters int) error {
	if err := each(b.put)(ctx, iters); err != nil {
		return err
	}
	b.turns++
	return b.word.Store(ctx, stopAt, b.turns)
}

// compute makes no call until the signal of disturb.
func (b *bench) compute(context.Context, int) error {
	b.turns++
	for at := &b.words.Local()[stopAt]; atomic.LoadInt64(at) < b.turns; {
		for range 1000 {
			b.buf[0] *= 1.0000001
		}
	}
	return nil
}

func (b *bench) shmemPut(ctx context.Context) error {
	if err := b.object.P(ctx, 1, 0, 1); err != nil {
		return err
	}
	return b.heap.Quiet(ctx)
}

func (b *bench) shmemLocked(ctx context.Context) error {
	if err := b.heap.Lock(ctx, b.lock); err != nil {
		return err
	}
	return b.heap.Unlock(ctx, b.lock)
}

// check checks that the put data has arrived.
func (b *bench) check(ctx context.Context, op string) error {
	if err := b.data.Fence(ctx); err != nil {
		return err
	}
	if b.me != 1 {
		return nil
	}
	for i, v := range b.data.Local() {
		if (op == "put" || op == "own_put" || op == "accumulate" || op == "bulk") && v < 1 || op == "put" && v != 1 {
			return fmt.Errorf("element %d is %v", i, v)
		}
	}
	return nil
}
