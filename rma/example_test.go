package rma_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// shown makes a test of an example: errors are printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// ranks runs body as n ranks. A program calls comm.Main instead.
func ranks(n int, body func(ctx context.Context, c *comm.Comm)) { commtest.Run(shown{}, n, body) }

// window is Allocate in examples of other calls.
func window[T comm.Elem](ctx context.Context, c *comm.Comm, n int, o ...rma.Option) *rma.Win[T] {
	w, err := rma.Allocate[T](ctx, c, n, o...)
	if err != nil {
		panic(err)
	}
	return w
}

// told prints the errors of some calls.
func told(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		fmt.Println(err)
	}
}

// Each rank has ten elements more than the one before, of which the others may use all.
func ExampleAllocate() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w, err := rma.Allocate[float64](ctx, c, 10*(c.Rank()+1))
		if err != nil {
			fmt.Println(err)
			return
		}
		if c.Rank() == 0 {
			fmt.Println(w.Len(0), w.Len(1), w.Len(2), len(w.Local()), w.Comm().Size())
		}
		told(w.Free())
	})
	// Output: 10 20 30 10 3
}

// One window holds a counter and a vector.
func ExampleView() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[byte](ctx, c, 64)
		counter, err := rma.View[int64](w, 0, 1)
		told(err)
		vector, err := rma.View[float32](w, 16, 4)
		told(err)
		told(vector.At(0).Put(ctx, 2*c.Rank(), []float32{1.5, 2.5}))
		_, err = counter.At(0).FetchAndOp(ctx, 0, 2, collectives.Sum)
		told(err, w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(counter.Local(), vector.Local())
		}
		told(w.Free())
	})
	// Output: [4] [1.5 2.5 1.5 2.5]
}

// A rank makes an object at any time, and sends its location to the other rank.
func ExampleNewPool() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		p, err := rma.NewPool(ctx, c, 1<<16)
		told(err)
		where := make([]rma.Ref[float64], 1)
		if c.Rank() == 0 {
			where[0], err = rma.Grow[float64](ctx, p, 3)
			told(err, comm.Send(ctx, c.To(1), where), p.Fence(ctx))
			mine, err := rma.Own(ctx, p, where[0])
			fmt.Println(mine, err)
			told(rma.Detach(ctx, p, where[0]), p.Fence(ctx))
		} else {
			_, err := comm.Recv(ctx, c.From(0), where)
			told(err)
			there, err := rma.Deref(ctx, p, where[0])
			told(err, there.Put(ctx, 1, []float64{2.5}), p.Fence(ctx), p.Fence(ctx))
			_, err = rma.Deref(ctx, p, where[0])
			last := make([]float64, 3)
			fmt.Println(errors.Is(err, rma.ErrStale), rma.SalvageObject(p, where[0], last), last)
		}
		told(p.Free())
	})
	// Output:
	// [0 2.5 0] <nil>
	// true <nil> [0 2.5 0]
}

func ExampleGrow()          { ExampleNewPool() }
func ExampleDetach()        { ExampleNewPool() }
func ExampleDeref()         { ExampleNewPool() }
func ExampleOwn()           { ExampleNewPool() }
func ExampleSalvageObject() { ExampleNewPool() }
func ExamplePool_Fence()    { ExampleNewPool() }
func ExamplePool_Free()     { ExampleNewPool() }

// A rank that cannot continue revokes the pool, so that no other rank waits for it in a Fence.
func ExamplePool_Revoke() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		p, err := rma.NewPool(ctx, c, 1<<10)
		told(err)
		if p.Comm().Rank() == 1 {
			told(p.Revoke())
		} else {
			err := p.Fence(ctx)
			fmt.Println(errors.Is(err, comm.ErrRevoked), p.Comm().IsRevoked())
		}
		told(p.Free())
	})
	// Output: true true
}

func ExamplePool_Comm() { ExamplePool_Revoke() }

// Pages of all the memory are there before the first access.
func ExamplePopulate() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w, err := rma.Allocate[byte](ctx, c, 1<<20, rma.Populate())
		told(err, w.Free())
		if c.Rank() == 0 {
			fmt.Println("there")
		}
	})
	// Output: there
}

// Rank 1 puts into rank 0's memory; rank 0 makes no call but the Fence.
func ExampleTarget_Put() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 4)
		if c.Rank() == 1 {
			to := w.At(0)
			told(to.Put(ctx, 1, []int{7, 8}), to.Flush(ctx))
		}
		told(w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(w.Local())
		}
		told(w.Free())
	})
	// Output: [0 7 8 0]
}

func ExampleTarget_Get() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 4)
		copy(w.Local(), []int{1, 2, 3, 4})
		told(w.Fence(ctx))
		if c.Rank() == 1 {
			got := make([]int, 2)
			err := w.At(0).Get(ctx, 2, got)
			fmt.Println(got, err)
			fmt.Println(w.At(0).Get(ctx, 3, got)) // there is no element 4
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output:
	// [3 4] <nil>
	// get on window of world with rank 0: outside of the window: elements 3 to 5 of 4
}

// Requests of one-sided operations are waited for together with others.
func ExampleTarget_Iput() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 2)
		to, got, was := w.At(1-c.Rank()), make([]int, 2), make([]int, 1)
		told(comm.WaitAll(ctx, to.Iput(ctx, 0, []int{5, 6}), to.Iaccumulate(ctx, 0, []int{10, 10}, collectives.Sum)))
		told(comm.WaitAll(ctx, to.IgetAccumulate(ctx, 1, []int{1}, was, collectives.Sum), to.Iget(ctx, 0, got)))
		if c.Rank() == 0 {
			fmt.Println(got, was)
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: [15 17] [16]
}

func ExampleTarget_Iget()           { ExampleTarget_Iput() }
func ExampleTarget_Iaccumulate()    { ExampleTarget_Iput() }
func ExampleTarget_IgetAccumulate() { ExampleTarget_Iput() }

// A flag that is stored after data shows them, without a flush.
func ExampleTarget_Store() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		data, flag := window[float64](ctx, c, 100), window[int32](ctx, c, 1)
		if c.Rank() == 0 {
			told(data.At(1).Put(ctx, 99, []float64{2.5}), flag.At(1).Store(ctx, 0, 1))
		} else {
			set := func(v int32) bool { return v == 1 }
			_, err := flag.Wait(ctx, 0, set, 0) // rank 0 stores the flag, or dies
			fmt.Println(data.Local()[99], err)
		}
		told(flag.Free(), data.Free())
	})
	// Output: 2.5 <nil>
}

func ExampleWin_Wait() { ExampleTarget_Store() }

func ExampleTarget_Load() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		told(w.At(c.Rank()).Store(ctx, 0, 40+c.Rank()), w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(w.At(1).Load(ctx, 0))
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: 41 <nil>
}

// Each rank takes tickets from a counter at rank 0: no two get the same.
func ExampleTarget_FetchAndOp() {
	ranks(4, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		taken := 0
		for {
			ticket, err := w.At(0).FetchAndOp(ctx, 0, 1, collectives.Sum)
			if err != nil || ticket >= 100 {
				break
			}
			taken++
		}
		told(w.Fence(ctx))
		all, err := collectives.AllreduceOne(ctx, c, taken, collectives.Sum)
		if c.Rank() == 0 {
			fmt.Println(all, w.Local()[0], err)
		}
		told(w.Free())
	})
	// Output: 100 104 <nil>
}

// The first rank that claims an element gets the element.
func ExampleTarget_CompareAndSwap() {
	ranks(4, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		owner, mine, err := w.At(0).CompareAndSwap(ctx, 0, 0, c.Rank()+1)
		told(err, w.Fence(ctx))
		now, err := w.At(0).Load(ctx, 0)
		if mine == (now == c.Rank()+1) && (mine || owner == now) && c.Rank() == 0 {
			fmt.Println("one owner", err)
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: one owner <nil>
}

// All ranks add vectors at rank 0, each element atomically.
func ExampleTarget_Accumulate() {
	ranks(4, func(ctx context.Context, c *comm.Comm) {
		w := window[float64](ctx, c, 3)
		told(w.At(0).Accumulate(ctx, 0, []float64{1, 0.5, float64(c.Rank())}, collectives.Sum), w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(w.Local())
		}
		told(w.Free())
	})
	// Output: [4 2 6]
}

// GetAccumulate with Replace is an atomic put that returns the previous values.
func ExampleTarget_GetAccumulate() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 2)
		copy(w.Local(), []int{1, 2})
		told(w.Fence(ctx))
		if c.Rank() == 1 {
			was := make([]int, 2)
			err := w.At(0).GetAccumulate(ctx, 0, []int{8, 9}, was, collectives.Replace)
			fmt.Println(was, err)
		}
		told(w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(w.Local())
		}
		told(w.Free())
	})
	// Output:
	// [1 2] <nil>
	// [8 9]
}

// Each rank writes data that its neighbour reads after the fence.
func ExampleWin_Fence() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		for step := range 3 {
			told(w.At((c.Rank()+1)%3).Put(ctx, 0, []int{10*step + c.Rank()}), w.Fence(ctx))
			if c.Rank() == 0 {
				fmt.Println(w.Local()[0])
			}
			told(w.Fence(ctx)) // no rank writes before all have read
		}
		told(w.Free())
	})
	// Output:
	// 2
	// 12
	// 22
}

// One rank computes the elements of several targets and completes the puts for all of them.
func ExampleWin_FlushAll() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		if c.Rank() == 0 {
			told(w.At(1).Put(ctx, 0, []int{1}), w.At(2).Put(ctx, 0, []int{2}))
			told(w.At(1).FlushLocal(ctx), w.FlushLocalAll(ctx), w.FlushAll(ctx))
			w.Sync()
			one, err := w.Slice(1)
			fmt.Println(one, err)
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: [1] <nil>
}

func ExampleTarget_Flush()      { ExampleWin_FlushAll() }
func ExampleTarget_FlushLocal() { ExampleWin_FlushAll() }
func ExampleWin_FlushLocalAll() { ExampleWin_FlushAll() }
func ExampleWin_Sync()          { ExampleWin_FlushAll() }
func ExampleWin_Slice()         { ExampleWin_FlushAll() }

// The lock of rank 0 protects two elements that belong together. Its holder, rank 2, dies between
// them; rank 1 gets an error and mends, and then finds both elements consistent.
func ExampleTarget_Lock() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 2)
		t := w.At(0)
		if c.Rank() == 2 {
			told(t.Lock(ctx, rma.LockExclusive), t.Put(ctx, 0, []int{5}))
		}
		told(w.Fence(ctx))
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		if c.Rank() == 1 {
			fmt.Println(t.Lock(ctx, rma.LockExclusive))
			told(t.Lock(ctx, rma.LockMend))
			pair := make([]int, 2)
			told(t.Get(ctx, 0, pair), t.Put(ctx, 1, pair[:1]), t.Unlock(ctx))
			told(t.Lock(ctx, rma.LockShared), t.Get(ctx, 0, pair), t.Unlock(ctx))
			fmt.Println(pair)
		}
		_, _ = c.Agree(ctx, 1)
		told(w.Free())
	})
	// Output:
	// lock on window of world with rank 2: process failed: it held the lock of rank 0
	// [5 5]
}

func ExampleTarget_Unlock() { ExampleTarget_Lock() }

// A reader of many targets holds a share of each lock: no rank with an exclusive lock writes
// meanwhile.
func ExampleWin_LockAll() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		told(w.At(c.Rank()).Lock(ctx, rma.LockExclusive), w.At(c.Rank()).Put(ctx, 0, []int{1}), w.At(c.Rank()).Unlock(ctx), w.Fence(ctx))
		told(w.LockAll(ctx))
		sum := 0
		for rank := range 3 {
			v, err := w.At(rank).Load(ctx, 0)
			told(err)
			sum += v
		}
		told(w.UnlockAll(ctx))
		if c.Rank() == 0 {
			fmt.Println(sum)
		}
		told(w.Free())
	})
	// Output: 3
}

func ExampleWin_UnlockAll() { ExampleWin_LockAll() }

// Rank 0 waits until each of the others has put its part and notified rank 0.
func ExampleTarget_PutNotify() {
	ranks(4, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 4, rma.Notifications(2))
		const parts, ready = 0, 1
		if c.Rank() > 0 {
			told(w.At(0).PutNotify(ctx, c.Rank(), []int{c.Rank() * c.Rank()}, parts), w.At(0).Notify(ctx, ready))
		} else {
			told(w.WaitNotify(ctx, parts, 3, 1, 2, 3), w.WaitNotify(ctx, ready, 3))
			fmt.Println(w.Local(), w.Notified(parts), w.TakeNotified(parts), w.Notified(parts))
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: [0 1 4 9] 3 3 0
}

func ExampleTarget_Notify()    { ExampleTarget_PutNotify() }
func ExampleWin_WaitNotify()   { ExampleTarget_PutNotify() }
func ExampleWin_Notified()     { ExampleTarget_PutNotify() }
func ExampleWin_TakeNotified() { ExampleTarget_PutNotify() }
func ExampleNotifications()    { ExampleTarget_PutNotify() }

// Ranks 1 and 2 write to rank 0 in an epoch of their own; rank 3 is not part of the epoch.
func ExampleWin_Post() {
	ranks(4, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 3)
		writers, err := c.Group().Incl(1, 2)
		told(err)
		reader, err := c.Group().Incl(0)
		told(err)
		switch c.Rank() {
		case 0:
			told(w.Post(ctx, writers))
			for {
				over, err := w.TestPosted()
				told(err)
				if over {
					break
				}
			}
			fmt.Println(w.Local())
			told(w.Post(ctx, writers), w.WaitPosted(ctx))
			fmt.Println(w.Local())
		case 1, 2:
			for step := range 2 {
				told(w.Start(ctx, reader), w.At(0).Put(ctx, c.Rank(), []int{10*step + c.Rank()}), w.Complete(ctx))
			}
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output:
	// [0 1 2]
	// [0 11 12]
}

func ExampleWin_Start()      { ExampleWin_Post() }
func ExampleWin_Complete()   { ExampleWin_Post() }
func ExampleWin_WaitPosted() { ExampleWin_Post() }
func ExampleWin_TestPosted() { ExampleWin_Post() }

// After a death the survivors have their elements in a window on the shrunken communicator, and one
// of them has those of the dead in another.
func ExampleRebuild() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 2)
		w.Local()[0] = 10 * c.Rank()
		told(w.Fence(ctx))
		if c.Rank() == 1 {
			commtest.Kill(c)
		}
		left, err := c.Shrink(ctx) // ranks 0 and 2
		told(err)
		dead := make([]int, 2)
		told(w.Salvage(1, 0, dead))
		own, err := rma.Rebuild(ctx, left, w)
		told(err)
		o := rma.Fresh(0)
		if left.Rank() == 0 {
			o = rma.Inherit(1)
		}
		lost, err := rma.Rebuild(ctx, left, w, o)
		told(err, w.Free())
		if left.Rank() == 1 {
			one, two := make([]int, 2), make([]int, 2)
			told(own.At(0).Get(ctx, 0, one), lost.At(0).Get(ctx, 0, two))
			fmt.Println(one, own.Local(), two, dead)
		}
		told(own.Fence(ctx), own.Free(), lost.Free())
	})
	// Output: [0 0] [20 0] [10 0] [10 0]
}

// All free the window first, repair, and continue from the memory that they have kept.
func ExampleKeep() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1, rma.Keep())
		w.Local()[0] = 10 * c.Rank()
		told(w.Fence(ctx), w.Free())
		if c.Rank() == 1 {
			commtest.Kill(c)
		}
		left, err := c.Shrink(ctx) // ranks 0 and 2
		told(err)
		w, err = rma.Rebuild(ctx, left, w)
		told(err)
		if left.Rank() == 0 {
			got := make([]int, 1)
			told(w.At(1).Get(ctx, 0, got))
			fmt.Println(got)
		}
		told(w.Fence(ctx), w.Free())
	})
	// Output: [20]
}

// The living find a rank that shares the memory of the dead: with several nodes, a rank of its own
// node.
func ExampleHeirs() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		w.Local()[0] = 10 * c.Rank()
		told(w.Fence(ctx))
		if c.Rank() == 1 {
			commtest.Kill(c)
		}
		left, err := c.Shrink(ctx)
		told(err)
		heirs, err := rma.Heirs(ctx, left, w, []int{1})
		told(err)
		o := rma.Fresh(0)
		if left.Rank() == heirs[0] {
			o = rma.Inherit(1)
		}
		lost, err := rma.Rebuild(ctx, left, w, o)
		told(err)
		if left.Rank() == heirs[0] {
			fmt.Println(lost.Local())
		}
		told(lost.Fence(ctx), lost.Free(), w.Free())
	})
	// Output: [10]
}

// Long accumulates are many times as fast under locks.
func ExampleBulk() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w, err := rma.Allocate[int](ctx, c, 100_000, rma.Bulk())
		told(err)
		told(w.At(0).Accumulate(ctx, 0, make([]int, 100_000), collectives.Sum), w.At(0).Accumulate(ctx, 99_999, []int{1}, collectives.Sum))
		told(w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(w.Local()[99_999])
		}
		told(w.Free())
	})
	// Output: 3
}

// Others change a slice of the program.
func ExampleCreate() {
	ranks(2, func(ctx context.Context, c *comm.Comm) {
		mine := make([]float64, 3)
		w, err := rma.Create(ctx, c, mine)
		told(err)
		if c.Rank() == 1 {
			told(w.At(0).Put(ctx, 1, []float64{2.5}))
		}
		told(w.Fence(ctx))
		if c.Rank() == 0 {
			fmt.Println(mine)
		}
		told(w.Free())
	})
	// Output: [0 2.5 0]
}

func ExampleInherit()     { ExampleRebuild() }
func ExampleFresh()       { ExampleRebuild() }
func ExampleWin_Salvage() { ExampleRebuild() }

// One rank ends the use of a window at all of them; the communicator that the window was made of
// stays usable.
func ExampleWin_Revoke() {
	ranks(3, func(ctx context.Context, c *comm.Comm) {
		w := window[int](ctx, c, 1)
		if c.Rank() == 2 {
			told(w.Revoke())
		}
		err := w.Fence(ctx)
		if c.Rank() == 0 {
			fmt.Println(errors.Is(err, comm.ErrRevoked))
		}
		told(collectives.Barrier(ctx, c), w.Free())
	})
	// Output: true
}

func ExampleWin_Free() { ExampleAllocate() }
