// Window uses one-sided windows between processes, some of which end themselves in the middle.
//
//	window calls    every operation, and what it returns
//	window puts     all ranks but 0 and 1 are killed while they put into rank 0's memory
//	window counts   all ranks but 0 and 1 are killed while they count in it
//	window rebuild  rank 2 is killed; the others take its memory over, beside their own
//	window lock     all ranks but 0 and 1 are killed: half of them with the lock of rank 0, the others anywhere
//	window late     all ranks but 0 and 1 are killed while they put at rank 0, which rank 1 and the last rank read as they learn of each death
//	window waiter   all ranks but 0 and 1 are killed, one by one, while they wait for the lock of rank 0, which rank 1 holds
//	window notify   neighbours in a chain over the nodes put data with a notification, and wait for each other's; nobody dies
//	window own      windows of the program's memory: all ranks but 0 and 1 are killed while rank 1 reads theirs, and what they put at rank 0
//	window fenced   rank 1 stops while it stores, is declared dead, and goes on: nobody hears it
//	window near-... the same among the ranks of each node
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

func main() {
	bodies := map[string]func(context.Context, *comm.Comm) error{"calls": calls, "puts": puts, "counts": counts, "lock": lock, "rebuild": rebuild, "own": own, "fenced": fenced, "late": late, "waiter": waiter, "notify": notify}
	name, near := strings.CutPrefix(os.Args[1], "near-")
	comm.Main(func(ctx context.Context, c *comm.Comm) error {
		if near {
			var err error
			if c, err = c.SplitNode(ctx); err != nil {
				return err
			}
		}
		return bodies[name](ctx, c)
	})
}

// doom ends this process at some moment before life is over.
func doom(life time.Duration) {
	go func() {
		time.Sleep(rand.N(life))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
}

// doomAfter ends this process at some moment after done has counted to n.
func doomAfter(done *atomic.Int64, n int64) {
	go func() {
		for done.Load() < n {
			runtime.Gosched()
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
}

// buried returns when all ranks but the first two are known to be dead.
func buried(c *comm.Comm) {
	for c.GetFailed().Size() < c.Size()-2 {
		runtime.Gosched()
	}
}

func check(errs ...error) error { return errors.Join(errs...) }

func calls(ctx context.Context, c *comm.Comm) error {
	n, me := c.Size(), c.Rank()
	w, err := rma.Allocate[int32](ctx, c, 100+me, rma.Notifications(1))
	if err != nil {
		return err
	}
	next := w.At((me + 1) % n)
	err = check(next.Put(ctx, 10, []int32{int32(me), 5}), w.Fence(ctx))
	got := []int32{0, 0, 0}
	err = check(err, next.Get(ctx, 10, got))
	if got[0] != int32(me) || got[1] != 5 || w.Local()[10] != int32((me+n-1)%n) {
		return fmt.Errorf("rank %d: %v, %v: %w", me, got, w.Local()[10], err)
	}
	for range 1000 {
		_, e := w.At(0).FetchAndOp(ctx, 0, 1, collectives.Sum)
		err = check(err, e, w.At(0).Lock(ctx, rma.LockExclusive), w.At(0).Get(ctx, 1, got[:1]),
			w.At(0).Put(ctx, 1, []int32{got[0] + 1}), w.At(0).Unlock(ctx))
	}
	err = check(err, next.PutNotify(ctx, 20, []int32{77}, 0), w.WaitNotify(ctx, 0, 1, (me+n-1)%n))
	if w.Local()[20] != 77 {
		return fmt.Errorf("rank %d: notified of %d: %w", me, w.Local()[20], err)
	}
	err = check(err, w.Fence(ctx))
	if l := w.Local(); me == 0 && (l[0] != int32(1000*n) || l[1] != l[0]) {
		return fmt.Errorf("counted %d and %d: %w", l[0], l[1], err)
	}
	over, e := w.Wait(ctx, 20, func(v int32) bool { return v == 77 })
	err = check(err, e, w.Fence(ctx), w.Free())
	if me == 0 && over == 77 {
		fmt.Println("ok")
	}
	return err
}

// puts: rank 0 has 4096 elements for each other rank, which puts one number after another into all
// of them. What it leaves is whole numbers of one put, or of two that followed each other, and does
// not change once the death is known.
func puts(ctx context.Context, c *comm.Comm) error {
	const each = 4096
	n := 0
	if c.Rank() == 0 {
		n = each * c.Size()
	}
	w, err := rma.Allocate[uint32](ctx, c, n)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	if c.Rank() > 1 {
		doom(3 * time.Millisecond)
		src := make([]uint32, each)
		for v := uint32(1); ; v++ {
			for i := range src {
				src[i] = v<<16 | v&0xffff
			}
			if err := w.At(0).Put(ctx, each*c.Rank(), src); err != nil {
				return err
			}
		}
	}
	buried(c)
	if c.Rank() == 1 {
		_, _ = w.Comm().Agree(ctx, 1)
		return w.Free()
	}
	seen := append([]uint32{}, w.Local()...)
	torn, begun := 0, 0
	for range 20 {
		for i, v := range w.Local() {
			if v != seen[i] {
				return fmt.Errorf("element %d changed after the death of rank %d was known", i, i/each)
			}
		}
	}
	for r := 2; r < c.Size(); r++ {
		part := seen[each*r : each*(r+1)]
		if slices.Min(part) != slices.Max(part) {
			torn++
		}
		if slices.Max(part) != 0 {
			begun++
		}
		for i, v := range part {
			if v>>16 != v&0xffff || max(v, part[0])>>16 > min(v, part[0])>>16+1 {
				return fmt.Errorf("rank %d has left %#x in element %d and %#x in 0", r, v, i, part[0])
			}
		}
	}
	fmt.Printf("begun: %d, in the middle: %d\n", begun, torn)
	_, _ = w.Comm().Agree(ctx, 1)
	return w.Free()
}

// counts: each rank adds 1 to a common element and then to its own: after its death the common one
// is ahead by 0 or 1 for each of the dead.
func counts(ctx context.Context, c *comm.Comm) error {
	w, err := rma.Allocate[uint64](ctx, c, c.Size())
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	if c.Rank() > 1 {
		var counted atomic.Int64
		doomAfter(&counted, 1+rand.N[int64](200))
		for ; ; counted.Add(1) {
			if _, err := w.At(0).FetchAndOp(ctx, 0, 1, collectives.Sum); err != nil {
				return err
			}
			if err := w.At(0).Accumulate(ctx, c.Rank(), []uint64{1}, collectives.Sum); err != nil {
				return err
			}
		}
	}
	buried(c)
	_, _ = w.Comm().Agree(ctx, 1)
	if c.Rank() == 0 {
		sum := uint64(0)
		for _, v := range w.Local()[1:] {
			sum += v
		}
		all := w.Local()[0]
		if all < sum || all > sum+uint64(c.Size()-2) || sum == 0 {
			return fmt.Errorf("%d counted, %d in parts", all, sum)
		}
		fmt.Println("counted, ahead by", all-sum)
	}
	return w.Free()
}

// lock: under the lock of rank 0 everybody adds to two elements. Who dies between leaves them
// different, and the lock broken; who mends makes them equal, and counts that in a third one.
func lock(ctx context.Context, c *comm.Comm) error {
	w, err := rma.Allocate[uint64](ctx, c, 3)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	if c.Rank()%2 == 1 && c.Rank() > 1 {
		doom(20 * time.Millisecond)
	}
	t := w.At(0)
	for round := 0; c.Rank() > 1 || c.GetFailed().Size() < c.Size()-2; round++ {
		if err := add(ctx, t, func() {
			if c.Rank() > 1 && c.Rank()%2 == 0 && round > 2 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}); err != nil {
			return err
		}
	}
	err = add(ctx, t, func() {})
	_, _ = w.Comm().Agree(ctx, 1)
	if l := w.Local(); c.Rank() == 0 {
		if l[0] != l[1] {
			return fmt.Errorf("%d and %d in the end", l[0], l[1])
		}
		fmt.Println("mended", l[2])
	}
	return check(err, w.Free())
}

// add adds 1 to elements 0 and 1, and mends what somebody has left before.
func add(ctx context.Context, t rma.Target[uint64], between func()) error {
	err := t.Lock(ctx, rma.LockExclusive)
	broken := false
	for errors.Is(err, comm.ErrProcFailed) {
		broken = true
		err = t.Lock(ctx, rma.LockMend)
	}
	if err != nil {
		return err
	}
	var v [3]uint64
	if err := t.Get(ctx, 0, v[:]); err != nil {
		return err
	}
	if v[0] != v[1] {
		if !broken {
			return fmt.Errorf("%d and %d, and nobody said that the lock was broken", v[0], v[1])
		}
		v[2]++
	}
	err = t.Put(ctx, 0, []uint64{v[0] + 1})
	between()
	return check(err, t.Put(ctx, 1, []uint64{v[0] + 1, v[2]}), t.Unlock(ctx))
}

func rebuild(ctx context.Context, c *comm.Comm) error {
	w, err := rma.Allocate[int](ctx, c, 10)
	if err != nil {
		return err
	}
	for i := range w.Local() {
		w.Local()[i] = 100*c.Rank() + i
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	if c.Rank() == 2 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	left, err := c.Shrink(ctx)
	if err != nil {
		return err
	}
	saved := make([]int, 10)
	if err := w.Salvage(2, 0, saved); err != nil {
		return err
	}
	own, err := rma.Rebuild(ctx, left, w)
	if err != nil {
		return err
	}
	o := []rma.Option{rma.Fresh(0)}
	if left.Rank() == 1 {
		o = []rma.Option{rma.Inherit(2)}
	}
	theirs, err := rma.Rebuild(ctx, left, w, o...)
	if err != nil {
		return err
	}
	err = w.Free()
	for rank, old := range []int{0, 1, 3} {
		got := make([]int, 10)
		err = check(err, own.At(rank).Get(ctx, 0, got))
		for i, v := range got {
			if v != 100*old+i {
				return fmt.Errorf("rank %d of the new window has %v: %w", rank, got, err)
			}
		}
	}
	got := make([]int, 10)
	err = check(err, theirs.At(1).Get(ctx, 0, got), theirs.Fence(ctx))
	for i, v := range got {
		if v != 200+i || saved[i] != v || theirs.Len(0) != 0 {
			return fmt.Errorf("of the dead: %v, %v: %w", got, saved, err)
		}
	}
	if left.Rank() == 0 {
		fmt.Println("ok")
	}
	return check(err, own.Free(), theirs.Free())
}

// own: a get sees what the same rank has put before. A get from a rank that is killed meanwhile
// brings all of its elements, or is an error that leaves the destination as it was; once rank 1
// knows of all deaths, what it reads at rank 0 does not change.
func own(ctx context.Context, c *comm.Comm) error {
	const each = 1 << 15
	n, me := c.Size(), c.Rank()
	mem := make([]uint64, each*n)
	for i := range mem {
		mem[i] = uint64(me)
	}
	w, err := rma.Create(ctx, c, mem)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil {
		return err
	}
	next, got := (me+1)%n, make([]uint64, each)
	part, err := rma.View[uint32](w, 8*each*n-8, 2)
	if err != nil {
		return err
	}
	for v := range uint64(100) {
		var halves [2]uint32
		err = check(err, w.At(next).Put(ctx, each*n-1, []uint64{v<<32 | v}), part.At(next).Get(ctx, 0, halves[:]))
		if halves != [2]uint32{uint32(v), uint32(v)} {
			return fmt.Errorf("rank %d has put %d and got %v: %w", me, v, halves, err)
		}
	}
	err = check(err, w.At(next).Put(ctx, each*n-1, []uint64{uint64(next)}), w.Fence(ctx))
	if err != nil && !errors.Is(err, comm.ErrProcFailed) {
		return err
	}
	if me > 1 {
		doom(5 * time.Millisecond)
		src := make([]uint64, 512)
		for v := uint64(1); ; v++ {
			for i := range src {
				src[i] = v
			}
			if err := w.At(0).Put(ctx, each*me, src); err != nil {
				return err
			}
		}
	}
	gets := 0
	for target := 2; me == 1 && target < n; target++ {
		for err = nil; err == nil; gets++ {
			for i := range got {
				got[i] = ^uint64(0)
			}
			err = w.At(target).Get(ctx, 0, got)
			want := uint64(target)
			if err != nil {
				want = ^uint64(0)
			}
			if slices.Min(got) != want || slices.Max(got) != want {
				return fmt.Errorf("a get from rank %d has brought %d to %d: %w", target, slices.Min(got), slices.Max(got), err)
			}
		}
		if !errors.Is(err, comm.ErrProcFailed) {
			return err
		}
	}
	buried(c)
	if me == 1 {
		seen := make([]uint64, each*n)
		err := w.At(0).Get(ctx, 0, seen)
		for again := make([]uint64, each*n); err == nil && gets > 0; gets-- {
			err = w.At(0).Get(ctx, 0, again)
			if !slices.Equal(again, seen) {
				return errors.New("it changed after all deaths were known")
			}
		}
		if err != nil {
			return err
		}
		fmt.Println("ok")
	}
	_, _ = w.Comm().Agree(ctx, 1)
	return w.Free()
}

// fenced: rank 1 stores one number after another at rank 0 and stops in the middle. Rank 0 lets it
// go on once it has heard that rank 1 is dead; nothing that it sends then is executed.
func fenced(ctx context.Context, c *comm.Comm) error {
	w, err := rma.Allocate[uint64](ctx, c, 2)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	switch c.Rank() {
	case 1:
		if err := w.At(0).Store(ctx, 1, uint64(os.Getpid())); err != nil {
			return err
		}
		go func() {
			time.Sleep(20 * time.Millisecond)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}()
		for v := uint64(1); ; v++ {
			if err := w.At(0).Store(ctx, 0, v); err != nil {
				return err
			}
		}
	case 0:
		pid, err := w.Wait(ctx, 1, func(v uint64) bool { return v != 0 }, 1)
		if err != nil {
			return err
		}
		if _, err = w.Wait(ctx, 1, func(uint64) bool { return false }, 1); !errors.Is(err, comm.ErrProcFailed) {
			return fmt.Errorf("waited for the dead: %w", err)
		}
		last := w.Local()[0]
		_ = syscall.Kill(int(pid), syscall.SIGCONT)
		for syscall.Kill(int(pid), 0) == nil {
			runtime.Gosched()
			if err := w.At(0).Flush(ctx); err != nil {
				return err
			}
			_ = c.GetFailed() // what has come takes effect
		}
		if now := w.Local()[0]; now != last || last == 0 {
			return fmt.Errorf("the dead has stored %d after %d", now, last)
		}
		fmt.Println("ok")
	}
	_, _ = w.Comm().Agree(ctx, 1)
	return w.Free()
}

// late: what rank 0's memory holds for a rank does not change any more once the reader knows of
// that rank's death, whether the reader shares the memory or sends frames to it (W7).
func late(ctx context.Context, c *comm.Comm) error {
	n, last := 0, c.Size()-1
	if c.Rank() == 0 {
		n = c.Size()
	}
	w, err := rma.Allocate[uint64](ctx, c, n)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) { // who has left it may be dead already
		return err
	}
	if c.Rank() > 1 && c.Rank() < last {
		var put atomic.Int64
		doomAfter(&put, 1+rand.N[int64](2000))
		for ; ; put.Add(1) {
			if err := w.At(0).Put(ctx, c.Rank(), []uint64{uint64(put.Load())}); err != nil {
				return err
			}
		}
	}
	if c.Rank() != 0 {
		if err := readAfterDeaths(ctx, c, w); err != nil {
			return err
		}
	}
	for c.GetFailed().Size() < c.Size()-3 {
		runtime.Gosched()
	}
	_, _ = w.Comm().Agree(ctx, 1)
	if c.Rank() == 0 {
		fmt.Println("ok")
	}
	return w.Free()
}

// readAfterDeaths reads what each rank has put as soon as this one knows of its death, and then
// again and again.
func readAfterDeaths(ctx context.Context, c *comm.Comm, w *rma.Win[uint64]) error {
	known := make([]bool, c.Size())
	for dead := 0; dead < c.Size()-3; {
		for _, r := range c.GetFailed().Processes() {
			if known[r] {
				continue
			}
			known[r] = true
			dead++
			var first, again [1]uint64
			if err := w.At(0).Get(ctx, r, first[:]); err != nil {
				return err
			}
			for range 300 {
				if err := w.At(0).Get(ctx, r, again[:]); err != nil {
					return err
				}
				if again != first {
					return fmt.Errorf("rank %d has put %d after its death was known, and %d before", r, again[0], first[0])
				}
				runtime.Gosched()
			}
		}
	}
	return nil
}

// waiter: the death of a rank that waits for a lock does not break it (W12).
func waiter(ctx context.Context, c *comm.Comm) error {
	w, err := rma.Allocate[uint64](ctx, c, 1)
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil {
		return err
	}
	_, _ = w.Comm().Agree(ctx, 1) // all have left the Fence
	t := w.At(0)
	switch {
	case c.Rank() > 1:
		if _, err := comm.Recv(ctx, c.From(1), make([]int32, 1)); err != nil {
			return err
		}
		doom(8 * time.Millisecond)
		_ = t.Lock(ctx, rma.LockExclusive)
		select {}
	case c.Rank() == 1:
		for v := 2; v < c.Size(); v++ {
			if err := lockBesideTheDead(ctx, c, t, v); err != nil {
				return err
			}
		}
		err = comm.Send(ctx, c.To(0), []int32{0})
	default:
		for more := []int32{1}; more[0] != 0 && err == nil; {
			if _, err = comm.Recv(ctx, c.From(1), more); err == nil && more[0] != 0 {
				err = comm.Send(ctx, c.To(1), more)
			}
		}
	}
	if err != nil {
		return err
	}
	_, _ = w.Comm().Agree(ctx, 1)
	if c.Rank() == 0 {
		fmt.Println("ok")
	}
	return w.Free()
}

// lockBesideTheDead has a rank wait for the lock that this one holds, and die. Then it unlocks and
// locks again.
func lockBesideTheDead(ctx context.Context, c *comm.Comm, t rma.Target[uint64], victim int) error {
	err := check(t.Lock(ctx, rma.LockExclusive), comm.Send(ctx, c.To(victim), []int32{1}))
	if err != nil {
		return err
	}
	for !slices.Contains(c.FailedRanks(), victim) {
		runtime.Gosched()
	}
	if err := t.Unlock(ctx); err != nil {
		return err
	}
	more := []int32{1}
	for range 100 { // rank 0 looks at its lock meanwhile
		if err := comm.Send(ctx, c.To(0), more); err != nil {
			return err
		}
		if _, err := comm.Recv(ctx, c.From(0), more); err != nil {
			return err
		}
	}
	if err := t.Lock(ctx, rma.LockExclusive); err != nil {
		return fmt.Errorf("rank %d died while it waited: %w", victim, err)
	}
	return t.Unlock(ctx)
}

// notify: a put with a notification, or a store behind a put, is written out before its origin
// waits, whatever its other goroutines wait for. The chain alternates between the nodes, so that
// each rank waits for one neighbour in memory and for another in frames.
func notify(ctx context.Context, c *comm.Comm) error {
	const steps, width = 100, 200
	c, err := c.Split(ctx, 0, []int{0, 2, 1, 3}[c.Rank()])
	if err != nil {
		return err
	}
	w, err := rma.Allocate[uint64](ctx, c, 2*width+2, rma.Notifications(2))
	if err != nil {
		return err
	}
	me, data := c.Rank(), make([]uint64, width)
	for step := uint64(1); step <= steps; step++ {
		for side, to := range []int{me - 1, me + 1} {
			if to < 0 || to >= c.Size() {
				continue
			}
			put, there := w.At(to).PutNotify(ctx, (1-side)*width, data, 1-side), 2*width+1-side
			if err := check(put, w.At(to).Put(ctx, (1-side)*width, data), w.At(to).Store(ctx, there, step)); err != nil {
				return err
			}
		}
		for side, from := range []int{me - 1, me + 1} {
			if from < 0 || from >= c.Size() {
				continue
			}
			_, err := w.Wait(ctx, 2*width+side, func(v uint64) bool { return v >= step }, from)
			if err := check(err, w.WaitNotify(ctx, side, step, from)); err != nil {
				return err
			}
		}
	}
	if err := check(w.Fence(ctx), w.Free()); err != nil {
		return err
	}
	if me == 0 {
		fmt.Println("ok")
	}
	return nil
}
