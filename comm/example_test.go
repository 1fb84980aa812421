package comm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// shown makes a test of an example: an error is printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// ranks runs body as n ranks, which a program gets from goulfm run -n.
func ranks(n int, body func(ctx context.Context, w *comm.Comm)) { commtest.Run(shown{}, n, body) }

// A program that nothing launched is a world of one.
func ExampleInit() {
	ctx := context.Background()
	w, err := comm.Init(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rank", w.Rank(), "of", w.Size())
	fmt.Println(w.Finalize(ctx))
	// Output:
	// rank 0 of 1
	// <nil>
}

func ExampleInitWith() {
	ctx := context.Background()
	w, err := comm.InitWith(ctx, comm.Config{UnexpectedBytesMax: 1 << 20})
	fmt.Println(w.Size(), err)
	fmt.Println(w.Finalize(ctx))
	// Output:
	// 1 <nil>
	// <nil>
}

func ExampleMain() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		fmt.Println("hello from rank", w.Rank())
		return nil
	})
	// Output: hello from rank 0
}

// A job without its input ends with exit code 3 at all ranks. The example has no Output and is only
// compiled, because Abort would end the test. To run it: goulfm run -n 4 ./program.
func ExampleComm_Abort() {
	comm.Main(func(_ context.Context, w *comm.Comm) error {
		if _, err := os.Stat("input.txt"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			w.Abort(3)
		}
		return nil
	})
}

func ExampleComm_Finalize() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		err := w.Finalize(ctx)
		after := comm.Send(ctx, w.To(0), []int{1})
		if w.Rank() == 0 {
			fmt.Println(err)
			fmt.Println(after)
		}
	})
	// Output:
	// <nil>
	// send on world to rank 0: world finalized
}

func ExampleComm_Rank() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			fmt.Println(w.Rank(), "of", w.Size(), "spawned:", w.Spawned())
		}
	})
	// Output: 0 of 3 spawned: false
}

// Mark names points for plans of failures: goulfm run --kill 3@step=40.
func ExampleComm_Mark() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		for step := range 3 {
			w.Mark("step", step)
		}
		fmt.Println("done")
	})
	// Output: done
}

func ExampleSend() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.Send(ctx, w.To(0).Tag(7), []float64{1.5, 2.5})
			return
		}
		buf := make([]float64, 4)
		st, err := comm.Recv(ctx, w.From(1).Tag(7), buf)
		fmt.Println(buf[:st.Count], "from", st.Source, "tag", st.Tag, err)
	})
	// Output: [1.5 2.5] from 1 tag 7 <nil>
}

// Ssend returns only once a receive has matched.
func ExampleSsend() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.Ssend(ctx, w.To(0), []int{42})
			return
		}
		buf := []int{0}
		_, err := comm.Recv(ctx, w.From(1), buf)
		fmt.Println(buf, err)
	})
	// Output: [42] <nil>
}

func ExampleRecv_anySource() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() != 0 {
			_ = comm.Send(ctx, w.To(0), []int{w.Rank()})
			return
		}
		sum := 0
		for range w.Size() - 1 {
			buf := []int{0}
			if _, err := comm.Recv(ctx, w.From(comm.Any), buf); err != nil {
				fmt.Println(err)
			}
			sum += buf[0]
		}
		fmt.Println("sum", sum)
	})
	// Output: sum 6
}

// A message that is longer than the buffer fills it.
func ExampleRecv_truncated() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.Send(ctx, w.To(0), []int{1, 2, 3})
			return
		}
		buf := make([]int, 2)
		_, err := comm.Recv(ctx, w.From(1), buf)
		fmt.Println(buf, errors.Is(err, comm.ErrTruncated))
	})
	// Output: [1 2] true
}

// Structs of numbers are elements, too.
func ExampleElem() {
	type reading struct {
		Sensor int32
		Value  float64
	}
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.Send(ctx, w.To(0), []reading{{7, 0.5}, {8, 1.5}})
			return
		}
		buf := make([]reading, 10)
		st, err := comm.Recv(ctx, w.From(1), buf)
		fmt.Println(buf[:st.Count], err)
	})
	// Output: [{7 0.5} {8 1.5}] <nil>
}

// Borders of a grid are ordinary neighbours: None.
func ExampleSendRecv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		right, left := w.Rank()+1, w.Rank()-1
		if right == w.Size() {
			right = comm.None
		}
		if left < 0 {
			left = comm.None
		}
		in := []int{-1}
		st, err := comm.SendRecv(ctx, w.To(right), []int{w.Rank()}, w.From(left), in)
		if w.Rank() == 0 {
			fmt.Println(in, st.Count, st.Source == comm.None, err)
		}
	})
	// Output: [-1] 0 true <nil>
}

// Each rank passes on the value that it holds; one buffer is enough.
func ExampleSendRecvReplace() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		next, prev := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		token := []int{w.Rank()}
		_, err := comm.SendRecvReplace(ctx, w.To(next), w.From(prev), token)
		if w.Rank() == 0 {
			fmt.Println(token, err)
		}
	})
	// Output: [2] <nil>
}

func ExampleIsend() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		peer := 1 - w.Rank()
		in := []int{0}
		r := comm.Irecv(w.From(peer), in)
		s := comm.Isend(w.To(peer), []int{10 + w.Rank()})
		err := comm.WaitAll(ctx, r, s)
		if w.Rank() == 0 {
			fmt.Println(in, err)
		}
	})
	// Output: [11] <nil>
}

func ExampleIssend() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, _ = comm.Issend(w.To(0), []bool{true}).Wait(ctx)
			return
		}
		buf := []bool{false}
		st, err := comm.Irecv(w.From(1), buf).Wait(ctx)
		fmt.Println(buf, st.Count, err)
	})
	// Output: [true] 1 <nil>
}

func ExampleSendValue() {
	type task struct {
		Name string
		Args map[string]int
	}
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.SendValue(ctx, w.To(0), task{"fit", map[string]int{"order": 3}})
			return
		}
		v, st, err := comm.RecvValue[task](ctx, w.From(comm.Any))
		fmt.Println(v, "from", st.Source, err)
	})
	// Output: {fit map[order:3]} from 1 <nil>
}

func ExampleBytes() {
	type particle struct{ X, Y, Z float32 }
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		ps := make([]particle, 2)
		b, _ := comm.Bytes(ps)
		if w.Rank() == 1 {
			ps[1].Y = 0.5
			_ = comm.Send(ctx, w.To(0), b)
			return
		}
		_, err := comm.Recv(ctx, w.From(1), b)
		fmt.Println(ps, len(b), err)
		_, err = comm.Bytes([]string{"no"})
		fmt.Println(errors.Is(err, comm.ErrType))
	})
	// Output:
	// [{0 0 0} {0 0.5 0}] 24 <nil>
	// true
}

func ExampleProbe() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_ = comm.Send(ctx, w.To(0).Tag(5), []int32{1, 2, 3})
			return
		}
		st, err := comm.Probe(ctx, w.From(comm.Any).Tag(comm.Any))
		fmt.Println(st.Source, st.Tag, st.Bytes, "bytes", err)
		buf := make([]int32, st.Bytes/4)
		_, err = comm.Recv(ctx, w.From(st.Source).Tag(st.Tag), buf)
		fmt.Println(buf, err)
	})
	// Output:
	// 1 5 12 bytes <nil>
	// [1 2 3] <nil>
}

func ExampleIprobe() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		_, found, _ := comm.Iprobe(w.From(0))
		fmt.Println(found)
		_ = comm.Send(ctx, w.To(0), []byte("abc"))
		st, found, err := comm.Iprobe(w.From(0))
		fmt.Println(found, st.Count, err)
	})
	// Output:
	// false
	// true 3 <nil>
}

func ExampleRequest_Test() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		buf := []int{0}
		r := comm.Irecv(w.From(0), buf)
		_, done, _ := r.Test()
		fmt.Println(done)
		_ = comm.Send(ctx, w.To(0), []int{5})
		_, done, err := r.Test()
		fmt.Println(done, buf, err)
		_, _, err = r.Test()
		fmt.Println(errors.Is(err, comm.ErrInactive))
	})
	// Output:
	// false
	// true [5] <nil>
	// true
}

func ExampleRequest_Cancel() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		r := comm.Irecv(w.From(0), []int{0})
		fmt.Println(r.Cancel(), r.Cancel())
	})
	// Output: true false
}

// Free gives the handle up; the message is sent all the same.
func ExampleRequest_Free() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		buf := []int{0}
		r := comm.Irecv(w.From(0), buf)
		_ = comm.Isend(w.To(0), []int{3}).Free()
		_, err := r.Wait(ctx)
		fmt.Println(buf, err)
	})
	// Output: [3] <nil>
}

func ExampleWaitAllStatus() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		_ = comm.Send(ctx, w.To(0).Tag(1), []int{10})
		_ = comm.Send(ctx, w.To(0).Tag(2), []int{20, 21})
		one, two := make([]int, 2), make([]int, 2)
		sts := make([]comm.Status, 2)
		err := comm.WaitAllStatus(ctx, sts, comm.Irecv(w.From(0).Tag(2), two), comm.Irecv(w.From(0).Tag(1), one))
		fmt.Println(sts[0].Count, sts[1].Count, err)
	})
	// Output: 2 1 <nil>
}

func ExampleWaitAny() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		a, b := []int{0}, []int{0}
		rs := []comm.Request{comm.Irecv(w.From(0).Tag(1), a), comm.Irecv(w.From(0).Tag(2), b)}
		for _, tag := range []int{2, 1} {
			_ = comm.Send(ctx, w.To(0).Tag(tag), []int{tag})
			i, st, err := comm.WaitAny(ctx, rs...)
			fmt.Println(i, st.Tag, err)
		}
		i, _, err := comm.WaitAny(ctx, rs...)
		fmt.Println(i, err)
	})
	// Output:
	// 1 2 <nil>
	// 0 1 <nil>
	// -1 <nil>
}

func ExampleWaitSome() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		rs := make([]comm.Request, 4)
		for i := range rs {
			rs[i] = comm.Irecv(w.From(0).Tag(i), []int{0})
		}
		_ = comm.Send(ctx, w.To(0).Tag(3), []int{1})
		_ = comm.Send(ctx, w.To(0).Tag(1), []int{1})
		done, err := comm.WaitSome(ctx, nil, rs...)
		fmt.Println(done, err)
		for _, r := range rs {
			r.Cancel()
		}
	})
	// Output: [1 3] <nil>
}

func ExampleTestAll() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		r := comm.Irecv(w.From(0), []int{0})
		s := comm.Isend(w.To(0).Tag(9), []int{1})
		fmt.Println(comm.TestAll(r, s))
		_ = comm.Send(ctx, w.To(0), []int{1})
		fmt.Println(comm.TestAll(r, s))
	})
	// Output:
	// false <nil>
	// true <nil>
}

func ExampleTestAny() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		r := comm.Irecv(w.From(0), []int{0})
		i, _, done, err := comm.TestAny(r)
		fmt.Println(i, done, err)
		_ = comm.Send(ctx, w.To(0), []int{1})
		i, _, done, err = comm.TestAny(r)
		fmt.Println(i, done, err)
	})
	// Output:
	// -1 false <nil>
	// 0 true <nil>
}

func ExampleTestSome() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		r, s := comm.Irecv(w.From(0), []int{0}), comm.Irecv(w.From(0), []int{0})
		_ = comm.Send(ctx, w.To(0), []int{1})
		fmt.Println(comm.TestSome(nil, r, s))
		s.Cancel()
	})
	// Output: [0] <nil>
}

// One error or nil per request.
func ExampleMultiError() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		good := comm.Isend(w.To(0), []int{1})
		bad := comm.Isend(w.To(7), []int{1})
		err := comm.WaitAll(ctx, good, bad)
		var m *comm.MultiError
		if errors.As(err, &m) {
			fmt.Println(m.Errs[0], errors.Is(m.Errs[1], comm.ErrRank), errors.Is(err, comm.ErrRank))
		}
	})
	// Output: <nil> true true
}

// Messages of a duplicate never meet those of the original: a library gets its own.
func ExampleComm_Dup() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		lib, err := w.Dup(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() == 1 {
			_ = comm.Send(ctx, lib.To(0), []int{1})
			_ = comm.Send(ctx, w.To(0), []int{2})
			return
		}
		buf := []int{0}
		_, err = comm.Recv(ctx, w.From(comm.Any).Tag(comm.Any), buf)
		fmt.Println(buf, err)
	})
	// Output: [2] <nil>
}

func ExampleComm_Split() {
	ranks(6, func(ctx context.Context, w *comm.Comm) {
		color, key := w.Rank()%2, -w.Rank()
		if w.Rank() == 5 {
			color = comm.Undefined
		}
		half, err := w.Split(ctx, color, key)
		if w.Rank() == 0 {
			fmt.Println(half.Group().Processes(), half.Rank(), err)
		}
	})
	// Output: [4 2 0] 2 <nil>
}

func ExampleComm_Free() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		d, _ := w.Dup(ctx)
		err := d.Free()
		again := d.Free()
		if w.Rank() == 0 {
			fmt.Println(err)
			fmt.Println(errors.Is(again, comm.ErrFreed))
		}
	})
	// Output:
	// <nil>
	// true
}

func ExampleGroup() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() != 0 {
			return
		}
		all := w.Group()
		even, _ := all.Incl(0, 2)
		rest, _ := all.Excl(0, 2)
		fmt.Println(even, rest, even.Size(), even.Rank(), rest.Rank() == comm.Undefined)
		fmt.Println(rest.Union(even), all.Intersect(even), all.Difference(even), even.Equal(all))
		places, err := all.Translate(rest, 1, 2)
		fmt.Println(places[0], places[1] == comm.Undefined, err)
	})
	// Output:
	// [0 2] [1 3] 2 0 true
	// [1 3 0 2] [0 2] [1 3] false
	// 0 true <nil>
}

// Revoke ends the waits of all members, in all calls.
func ExampleComm_Revoke() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			_ = w.Revoke()
			return
		}
		_, err := comm.Recv(ctx, w.From(1-w.Rank()), []int{0}) // nobody sends
		if w.Rank() == 0 {
			fmt.Println(err)
			fmt.Println(errors.Is(err, comm.ErrRevoked), w.IsRevoked())
		}
	})
	// Output:
	// recv on world from rank 1: communicator revoked
	// true true
}

func ExampleComm_GetFailed() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w) // in a program: the process dies
		}
		_, err := comm.Recv(ctx, w.From(1), []int{0})
		if w.Rank() == 0 {
			fmt.Println(err)
			fmt.Println(w.GetFailed(), comm.Recoverable(err))
		}
	})
	// Output:
	// recv on world from rank 1: process failed
	// [1] true
}

// Errors call a communicator by its name.
func ExampleComm_SetName() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		var rows *comm.Comm
		for range 2 {
			rows, _ = w.Split(ctx, 0, 0)
		}
		if w.Rank() == 0 {
			fmt.Println(rows.Name())
			rows.SetName("rows")
			fmt.Println(rows, comm.Send(ctx, rows.To(5), []int{1}))
		}
	})
	// Output:
	// split#2 of world
	// rows: rank 0 of 2 send on rows: rank out of range: 5 in a communicator of 2
}

// Each rank takes its share of ten things.
func ExampleBlock() {
	for rank := range 3 {
		lo, hi := comm.Block(10, 3, rank)
		fmt.Print(lo, "-", hi, " ")
	}
	// Output: 0-4 4-7 7-10
}

func ExampleSelf() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			self, err := comm.Self(w) // the others do not take part
			fmt.Println(self, err)
		}
	})
	// Output: self: rank 0 of 1 <nil>
}

func ExampleIsendValue() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, _ = comm.IsendValue(w.To(0), map[string]int{"steps": 3}).Wait(ctx)
			return
		}
		v, _, err := comm.RecvValue[map[string]int](ctx, w.From(1))
		fmt.Println(v, err)
	})
	// Output: map[steps:3] <nil>
}

// A rank is a place in one communicator; a process keeps its number.
func ExampleComm_RanksOf() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Split(ctx, 0, -w.Rank()) // the other way round
		if w.Rank() == 0 {
			fmt.Println(c.Group().Processes(), c.RanksOf(w.Group()), c.RankOf(2), c.FailedRanks(), err)
		}
	})
	// Output: [2 1 0] [2 1 0] 0 [] <nil>
}

// A receive from Any might wait for the dead; after an acknowledgement the receive continues to
// wait.
func ExampleComm_AckFailed() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 1:
			commtest.Kill(w)
		case 2:
			_, _ = comm.Recv(ctx, w.From(0), []int{0}) // until rank 0 is ready
			_ = comm.Send(ctx, w.To(0), []int{42})
		case 0:
			buf := []int{0}
			r := comm.Irecv(w.From(comm.Any), buf)
			_, err := r.Wait(ctx)
			fmt.Println(errors.Is(err, comm.ErrProcFailedPending))
			fmt.Println(w.AckFailed(w.Size()))
			_ = comm.Send(ctx, w.To(2), []int{0})
			st, err := r.Wait(ctx)
			fmt.Println(buf, "from", st.Source, err)
		}
	})
	// Output:
	// true
	// 1 <nil>
	// [42] from 2 <nil>
}

func ExampleComm_FailureAck() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		_, _ = comm.Recv(ctx, w.From(1), []int{0})
		fmt.Println(w.FailureGetAcked(), w.FailureAck(), w.FailureGetAcked())
	})
	// Output: [] <nil> [1]
}

func ExampleComm_Agree() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		mine := ^uint64(0) &^ (1 << w.Rank())
		flag, err := w.Agree(ctx, mine)
		if w.Rank() == 0 {
			fmt.Printf("%x %v\n", flag&0xff, err)
		}
	})
	// Output: f8 <nil>
}

func ExampleComm_Iagree() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		flag := uint64(6)
		if w.Rank() == 1 {
			flag = 3
		}
		r := w.Iagree(&flag)
		_, err := r.Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(flag, err)
		}
	})
	// Output: 2 <nil>
}

func ExampleComm_AgreeFailed() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		g, err := w.AgreeFailed(ctx)
		if w.Rank() == 0 {
			fmt.Println(g, err)
		}
	})
	// Output: [2] <nil>
}

// A rank computes while the members agree on the failed ones.
func ExamplePending_Test() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		p := w.IagreeFailed()
		for {
			failed, over, err := p.Test()
			if over {
				if w.Rank() == 0 {
					fmt.Println(failed, err)
				}
				return
			}
			runtime.Gosched() // in place of a step of the computation
		}
	})
	// Output: [2] <nil>
}

// The whole repair: all live members continue, in the old order.
func ExampleComm_Shrink() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		_ = w.Revoke()
		s, err := w.Shrink(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() == 3 {
			_ = comm.Send(ctx, s.To(0), []int{s.Rank()})
		}
		if w.Rank() == 0 {
			buf := []int{0}
			_, err := comm.Recv(ctx, s.From(2), buf)
			fmt.Println(s.Group(), s.Size(), buf, err, s.Epoch() > w.Epoch())
		}
	})
	// Output: [0 2 3] 3 [2] <nil> true
}

func ExampleComm_SetErrorHandler() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		w.SetErrorHandler(func(c *comm.Comm, err error) error {
			fmt.Println("handler:", err)
			return err
		})
		_ = comm.Send(ctx, w.To(3), []int{1})
	})
	// Output: handler: send on world: rank out of range: 3 in a communicator of 1
}

// Requests that are made once and started for each message.
func ExampleSendInit() {
	ctx := context.Background()
	w, err := comm.Init(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, in := []int{0}, []int{0}
	send, recv := comm.SendInit(w.To(0), out), comm.RecvInit(w.From(0), in)
	for i := range 3 {
		out[0] = i * i
		err = errors.Join(recv.Start(), send.Start(), comm.WaitAll(ctx, send, recv))
		fmt.Println(in[0], err)
	}
	fmt.Println(send.Free(), recv.Free(), w.Finalize(ctx))
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 4 <nil>
	// <nil> <nil> <nil>
}

// A message that Mprobe has matched is received by its Mrecv, even if other goroutines receive
// messages at the same time.
func ExampleMprobe() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			fmt.Println(comm.Send(ctx, w.To(0), []int32{3, 1, 4}))
			return
		}
		m, st, err := comm.Mprobe(ctx, w.From(comm.Any))
		if err != nil {
			fmt.Println(err)
			return
		}
		in := make([]int32, st.Count/4)
		st, err = comm.Mrecv(ctx, m, in)
		fmt.Println(in, "from", st.Source, err)
	})
	// Unordered output:
	// <nil>
	// [3 1 4] from 1 <nil>
}

// Each stretch of work ends with one agreement on whether the stretch succeeded everywhere. Rank 2
// has an error of its own; the others wait for rank 2, until it revokes.
func ExampleComm_AllOK() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		step := func() error {
			if w.Rank() == 2 {
				return errors.New("no input")
			}
			_, err := comm.Recv(ctx, w.From(2), make([]int, 1))
			return err
		}
		ok, err := w.AllOK(ctx, step())
		if w.Rank() == 0 {
			fmt.Println("all well:", ok, "error:", err)
		}
	})
	// Output: all well: false error: <nil>
}
