package shmem_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/shmem"
)

// shown makes a test of an example: errors are printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// pes runs body as n PEs with a heap of 4096 bytes each. A program calls comm.Main and shmem.New
// instead.
func pes(n int, body func(ctx context.Context, h *shmem.Heap)) {
	commtest.Run(shown{}, n, func(ctx context.Context, c *comm.Comm) {
		h, err := shmem.New(ctx, c, 4096)
		if err != nil {
			fmt.Println(err)
			return
		}
		body(ctx, h)
		told(h.Free())
	})
}

// object is Alloc in examples of other calls.
func object[T comm.Elem](ctx context.Context, h *shmem.Heap, n int) shmem.Sym[T] {
	s, err := shmem.Alloc[T](ctx, h, n)
	if err != nil {
		panic(err)
	}
	return s
}

// told prints the first error of some calls.
func told(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		fmt.Println(err)
	}
}

func ExampleNew() {
	commtest.Run(shown{}, 3, func(ctx context.Context, c *comm.Comm) {
		h, err := shmem.New(ctx, c, 1<<20)
		if err != nil {
			fmt.Println(err)
			return
		}
		if h.PE() == 0 {
			fmt.Println(h.PEs(), h.Bytes(), h.Comm().Name(), h.Failed())
		}
		told(h.Free())
	})
	// Output: 3 1048576 world []
}

// Objects are made and freed by all PEs together.
func ExampleAlloc() {
	pes(2, func(ctx context.Context, h *shmem.Heap) {
		x, err := shmem.Alloc[float64](ctx, h, 10)
		told(err)
		flag, err := shmem.Alloc[bool](ctx, h, 1)
		told(err)
		_, err = shmem.Alloc[float64](ctx, h, 1000)
		if h.PE() == 0 {
			fmt.Println(x.Len(), flag.Local(), x.Heap() == h, errors.Is(err, comm.ErrNoRoom))
		}
		told(x.Free(ctx), flag.Free(ctx))
	})
	// Output: 10 [false] true true
}

// PE 1 stores into PE 0's elements and reads them; PE 0 makes no call meanwhile.
func ExampleSym_Put() {
	pes(2, func(ctx context.Context, h *shmem.Heap) {
		x := object[int](ctx, h, 5)
		if h.PE() == 1 {
			told(x.Part(1, 3).Put(ctx, 0, []int{7, 8}), x.P(ctx, 0, 4, 9))
			h.Fence() // later puts to PE 0 come after the earlier ones
			got := make([]int, 3)
			told(x.Get(ctx, 0, got), h.Quiet(ctx))
			nine, err := x.G(ctx, 0, 4)
			fmt.Println(got, nine, err)
		}
		told(h.BarrierAll(ctx))
		if h.PE() == 0 {
			fmt.Println(x.Local())
		}
	})
	// Output:
	// [0 7 8] 9 <nil>
	// [0 7 8 0 9]
}

// The column of a matrix of 3 x 3 is copied into a row.
func ExampleSym_PutStrided() {
	pes(2, func(ctx context.Context, h *shmem.Heap) {
		m := object[int](ctx, h, 9)
		if h.PE() == 1 {
			told(m.Part(1, 9).PutStrided(ctx, 0, 3, []int{1, 2, 3}, 1, 3))
			row := make([]int, 3)
			told(m.Part(1, 9).GetStrided(ctx, 0, 3, row, 1, 3))
			fmt.Println(row)
		}
		told(h.BarrierAll(ctx))
		if h.PE() == 0 {
			fmt.Println(m.Local())
		}
	})
	// Output:
	// [1 2 3]
	// [0 1 0 0 2 0 0 3 0]
}

// Requests of one-sided operations are waited for together with others.
func ExampleSym_Iput() {
	pes(2, func(ctx context.Context, h *shmem.Heap) {
		x, peer, got := object[int](ctx, h, 2), 1-h.PE(), make([]int, 1)
		told(comm.WaitAll(ctx, x.Iput(ctx, peer, []int{5, 6}), x.Part(1, 2).Iget(ctx, peer, got)))
		if h.PE() == 0 {
			fmt.Println(got)
		}
		told(h.BarrierAll(ctx))
	})
	// Output: [6]
}

// Each PE takes tickets from a counter at PE 0: no two get the same.
func ExampleFetchInc() {
	pes(4, func(ctx context.Context, h *shmem.Heap) {
		next, taken := object[int64](ctx, h, 1), object[int64](ctx, h, 1)
		for {
			ticket, err := shmem.FetchInc(ctx, next, 0, 0)
			if err != nil || ticket >= 100 {
				break
			}
			told(shmem.Inc(ctx, taken, 0, 0), shmem.Add(ctx, taken, 0, 0, 1))
		}
		told(h.BarrierAll(ctx))
		if h.PE() == 0 {
			fmt.Println(taken.Local())
		}
	})
	// Output: [200]
}

// Flags are bits of one word.
func ExampleOr() {
	pes(3, func(ctx context.Context, h *shmem.Heap) {
		x, mine := object[uint32](ctx, h, 1), uint32(1)<<h.PE()
		told(shmem.Or(ctx, x, 0, 0, mine), h.SyncAll(ctx))
		if h.PE() == 1 {
			was, err := shmem.FetchAnd(ctx, x, 0, 0, ^mine)
			told(err, shmem.Xor(ctx, x, 0, 0, 1<<7), shmem.And(ctx, x, 0, 0, 1<<7|1))
			more, err := shmem.FetchOr(ctx, x, 0, 0, 2)
			told(err)
			last, err := shmem.FetchXor(ctx, x, 0, 0, 1)
			fmt.Printf("%b %b %b %v\n", was, more, last, err)
		}
		told(h.SyncAll(ctx))
	})
	// Output: 111 10000001 10000011 <nil>
}

// The first PE that claims an element gets the element.
func ExampleSym_CompareSwap() {
	pes(4, func(ctx context.Context, h *shmem.Heap) {
		owner := object[int](ctx, h, 1)
		was, err := owner.CompareSwap(ctx, 0, 0, 0, h.PE()+1)
		told(err, h.SyncAll(ctx))
		now, err := owner.Fetch(ctx, 0, 0)
		if (was == 0) != (now == h.PE()+1) {
			fmt.Println("two owners", err)
		}
		told(h.SyncAll(ctx))
		if h.PE() == 0 {
			told(owner.Set(ctx, 0, 0, 9))
			fmt.Println(owner.Swap(ctx, 0, 0, 10))
			fmt.Println(owner.FetchOp(ctx, 0, 0, 3, collectives.Min))
		}
	})
	// Output:
	// 9 <nil>
	// 10 <nil>
}

// Data, and a signal that announces them.
func ExampleSym_PutSignal() {
	pes(3, func(ctx context.Context, h *shmem.Heap) {
		data, sig := object[float64](ctx, h, 3), object[uint64](ctx, h, 1)
		if me := h.PE(); me > 0 {
			told(data.Part(me, me+1).PutSignal(ctx, 0, []float64{float64(me) / 2}, sig, 1, shmem.SignalAdd))
		} else {
			_, err := shmem.WaitUntil(ctx, sig, 0, shmem.GE, 2, 1, 2) // PEs 1 and 2 signal, or die
			told(err)
			n, err := shmem.SignalFetch(ctx, sig)
			fmt.Println(data.Local(), n, err)
		}
		told(h.BarrierAll(ctx))
	})
	// Output: [0 0.5 1] 2 <nil>
}

// PE 0 takes elements in the order of their arrival.
func ExampleWaitUntilSome() {
	pes(4, func(ctx context.Context, h *shmem.Heap) {
		flags := object[int32](ctx, h, 4)
		told(flags.P(ctx, 0, h.PE(), 1))
		if h.PE() == 0 {
			seen := make([]bool, 4)
			for left := 4; left > 0; {
				some, err := shmem.WaitUntilSome(ctx, flags, seen, shmem.EQ, []int32{1})
				told(err)
				for _, pe := range some {
					seen[pe], left = true, left-1
				}
			}
			any, err := shmem.WaitUntilAny(ctx, flags, nil, shmem.NE, []int32{0})
			told(err, shmem.WaitUntilAll(ctx, flags, nil, shmem.GT, []int32{0, 0, -1, 0}))
			fmt.Println(seen, any)
			all, err := shmem.TestAll(ctx, flags, nil, shmem.LT, []int32{2})
			told(err)
			first, err := shmem.TestAny(ctx, flags, []bool{true, false, false, false}, shmem.EQ, []int32{1})
			told(err)
			none, err := shmem.TestSome(ctx, flags, nil, shmem.LE, []int32{0})
			told(err)
			one, err := shmem.Test(ctx, flags, 2, shmem.GE, 1)
			fmt.Println(all, first, none, one, err)
		}
		told(h.BarrierAll(ctx))
	})
	// Output:
	// [true true true true] 0
	// true 1 [] true <nil>
}

// Only the holder of the lock changes the counter. PE 2 dies with the lock; the PE that gets the
// error mends.
func ExampleHeap_Lock() {
	pes(3, func(ctx context.Context, h *shmem.Heap) {
		lock, count := object[int64](ctx, h, 1), object[int](ctx, h, 1)
		told(h.Lock(ctx, lock))
		v, err := count.G(ctx, 0, 0)
		told(err, count.P(ctx, 0, 0, v+1), h.Unlock(ctx, lock), h.BarrierAll(ctx))
		if h.PE() == 2 {
			got, err := h.TestLock(ctx, lock)
			told(err)
			if got {
				commtest.Kill(h.Comm())
			}
		}
		told(commtest.AwaitFailure(ctx, h.Comm(), 1))
		if h.PE() == 0 {
			fmt.Println(h.Lock(ctx, lock))
			told(h.Mend(ctx, lock), h.Unlock(ctx, lock), h.Lock(ctx, lock))
			fmt.Println(count.Local())
			told(h.Unlock(ctx, lock))
		}
	})
	// Output:
	// lock on heap of world with rank 2: process failed: it held the lock
	// [3]
}

// PEs of a team have numbers of their own, and barriers.
func ExampleHeap_Team() {
	pes(4, func(ctx context.Context, h *shmem.Heap) {
		x := object[int](ctx, h, 1)
		half, err := h.Comm().Split(ctx, h.PE()%2, 0)
		told(err)
		team, err := h.Team(ctx, half)
		told(err)
		seen, err := x.On(team)
		told(err, seen.P(ctx, 1-team.PE(), 0, h.PE()), team.BarrierAll(ctx))
		if h.PE() == 3 {
			fmt.Println(team.PEs(), x.Local()) // from PE 1, which is PE 0 of the team
		}
		told(team.Free())
	})
	// Output: 2 [1]
}

func ExampleReduce() {
	pes(3, func(ctx context.Context, h *shmem.Heap) {
		src, dst := object[int](ctx, h, 3), object[int](ctx, h, 3)
		copy(src.Local(), []int{h.PE(), 10 + h.PE(), 20 + h.PE()})
		show := func(err error) {
			told(err)
			if h.PE() == 2 {
				fmt.Println(dst.Local())
			}
		}
		show(shmem.Broadcast(ctx, 1, dst, src))
		show(shmem.Fcollect(ctx, dst, src.Part(1, 2)))
		_, err := shmem.Collect(ctx, dst, src.Part(0, h.PE()))
		show(err)
		show(shmem.Alltoall(ctx, dst, src))
		show(shmem.Reduce(ctx, dst, src, collectives.Sum))
		show(shmem.Scan(ctx, dst, src, collectives.Max))
		show(shmem.Exscan(ctx, dst, src, collectives.Sum))
	})
	// Output:
	// [1 11 21]
	// [10 11 12]
	// [1 2 12]
	// [20 21 22]
	// [3 33 63]
	// [2 12 22]
	// [1 21 41]
}

// PE 1 dies. The others continue with the same objects, and with the data of PE 1.
func ExampleHeap_Repair() {
	pes(3, func(ctx context.Context, h *shmem.Heap) {
		x := object[int](ctx, h, 2)
		told(x.P(ctx, h.PE(), 0, 10*h.PE()), h.BarrierAll(ctx))
		if h.PE() == 1 {
			commtest.Kill(h.Comm())
		}
		if err := h.BarrierAll(ctx); !comm.Recoverable(err) {
			told(err)
			return
		}
		h2, err := h.Repair(ctx) // PEs 0 and 1 are those that were 0 and 2
		told(err)
		y, err := x.On(h2)
		told(err)
		if h2.PE() == 0 {
			lost := make([]int, 2)
			told(x.Salvage(1, lost), y.Part(1, 2).Put(ctx, 1, lost[:1]))
		}
		told(h2.BarrierAll(ctx))
		if h2.PE() == 1 {
			same, err := y.Ptr(1)
			fmt.Println(h2.PEs(), y.Local(), same, err)
		}
		told(h2.BarrierAll(ctx), h2.Free())
	})
	// Output: 2 [20 10] [20 10] <nil>
}

// One PE ends the use of the heap by all, including an endless wait.
func ExampleHeap_Revoke() {
	pes(2, func(ctx context.Context, h *shmem.Heap) {
		x := object[int](ctx, h, 1)
		if h.PE() == 1 {
			told(h.Revoke())
		}
		_, err := shmem.WaitUntil(ctx, x, 0, shmem.EQ, 1)
		if h.PE() == 0 {
			fmt.Println(errors.Is(err, comm.ErrRevoked))
		}
	})
	// Output: true
}

func ExampleHeap_Free()       { ExampleNew() }
func ExampleHeap_PE()         { ExampleNew() }
func ExampleHeap_PEs()        { ExampleNew() }
func ExampleHeap_Bytes()      { ExampleNew() }
func ExampleHeap_Comm()       { ExampleNew() }
func ExampleHeap_Failed()     { ExampleNew() }
func ExampleSym_Free()        { ExampleAlloc() }
func ExampleSym_Len()         { ExampleAlloc() }
func ExampleSym_Heap()        { ExampleAlloc() }
func ExampleSym_Local()       { ExampleAlloc() }
func ExampleSym_Get()         { ExampleSym_Put() }
func ExampleSym_Part()        { ExampleSym_Put() }
func ExampleSym_P()           { ExampleSym_Put() }
func ExampleSym_G()           { ExampleSym_Put() }
func ExampleHeap_Fence()      { ExampleSym_Put() }
func ExampleHeap_Quiet()      { ExampleSym_Put() }
func ExampleHeap_BarrierAll() { ExampleSym_Put() }
func ExampleSym_GetStrided()  { ExampleSym_PutStrided() }
func ExampleSym_Iget()        { ExampleSym_Iput() }
func ExampleAdd()             { ExampleFetchInc() }
func ExampleInc()             { ExampleFetchInc() }
func ExampleAnd()             { ExampleOr() }
func ExampleXor()             { ExampleOr() }
func ExampleFetchAnd()        { ExampleOr() }
func ExampleFetchOr()         { ExampleOr() }
func ExampleFetchXor()        { ExampleOr() }
func ExampleHeap_SyncAll()    { ExampleOr() }
func ExampleSym_Fetch()       { ExampleSym_CompareSwap() }
func ExampleSym_Set()         { ExampleSym_CompareSwap() }
func ExampleSym_Swap()        { ExampleSym_CompareSwap() }
func ExampleSym_FetchOp()     { ExampleSym_CompareSwap() }
func ExampleSignalFetch()     { ExampleSym_PutSignal() }
func ExampleWaitUntil()       { ExampleSym_PutSignal() }
func ExampleWaitUntilAny()    { ExampleWaitUntilSome() }
func ExampleWaitUntilAll()    { ExampleWaitUntilSome() }
func ExampleTest()            { ExampleWaitUntilSome() }
func ExampleTestAll()         { ExampleWaitUntilSome() }
func ExampleTestAny()         { ExampleWaitUntilSome() }
func ExampleTestSome()        { ExampleWaitUntilSome() }
func ExampleHeap_TestLock()   { ExampleHeap_Lock() }
func ExampleHeap_Unlock()     { ExampleHeap_Lock() }
func ExampleHeap_Mend()       { ExampleHeap_Lock() }
func ExampleSym_On()          { ExampleHeap_Team() }
func ExampleBroadcast()       { ExampleReduce() }
func ExampleCollect()         { ExampleReduce() }
func ExampleFcollect()        { ExampleReduce() }
func ExampleAlltoall()        { ExampleReduce() }
func ExampleScan()            { ExampleReduce() }
func ExampleExscan()          { ExampleReduce() }
func ExampleSym_Salvage()     { ExampleHeap_Repair() }
func ExampleSym_Ptr()         { ExampleHeap_Repair() }

// FetchAdd returns the previous value.
func ExampleFetchAdd() {
	pes(1, func(ctx context.Context, h *shmem.Heap) {
		x := object[float64](ctx, h, 1)
		told(x.Set(ctx, 0, 0, 1.5))
		fmt.Println(shmem.FetchAdd(ctx, x, 0, 0, 2))
		fmt.Println(x.Local())
	})
	// Output:
	// 1.5 <nil>
	// [3.5]
}
