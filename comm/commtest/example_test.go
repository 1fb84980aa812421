package commtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// t stands for the testing.T of a test; in these examples it prints the errors.
var t = shown{}

type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// In uniform mode the first failure revokes the communicator at every rank.
func ExampleConfig_Run() {
	cfg := commtest.Config{Comm: comm.Config{Uniform: true}}
	cfg.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		err := comm.Send(ctx, w.To(1-w.Rank()), []int{1}) // perhaps before the failure
		for err == nil {
			err = comm.Send(ctx, w.To(1-w.Rank()), []int{1})
		}
		if w.Rank() == 0 {
			fmt.Println(w.IsRevoked(), comm.Recoverable(err))
		}
	})
	// Output: true true
}

// A test waits until a failure is known before it checks the behavior after the failure.
func ExampleAwaitFailure() {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		err := commtest.AwaitFailure(ctx, w, 1)
		if w.Rank() == 0 {
			fmt.Println(w.FailedRanks(), err)
			fmt.Println(comm.Send(ctx, w.To(1), []int{1}))
		}
	})
	// Output:
	// [1] <nil>
	// send on world to rank 1: process failed
}

// Masters and workers, as after a Spawn.
func ExampleIntercomm() {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0}, []int{1, 2})
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() > 0 {
			_ = comm.Send(ctx, ic.To(0), []int{10 * ic.Rank()})
			return
		}
		for worker := range ic.RemoteSize() {
			got := []int{0}
			st, err := comm.Recv(ctx, ic.From(worker), got)
			fmt.Println("worker", st.Source, "sent", got[0], err)
		}
	})
	// Output:
	// worker 0 sent 0 <nil>
	// worker 1 sent 10 <nil>
}
