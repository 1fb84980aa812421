package commtest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// t stands for the testing.T of a test; in these examples it prints the errors.
var t = shown{}

type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Failed() bool                      { return false }
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

// Ranks 0 and 1 are on one node, rank 2 is on another one.
func ExampleNodes_Run() {
	commtest.Nodes{0, 0, 1}.Run(t, func(ctx context.Context, w *comm.Comm) {
		node, err := w.SplitNode(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() == 0 {
			fmt.Println(node.Size(), "of", w.Size(), "ranks are here")
		}
		_ = node.Free()
	})
	// Output: 2 of 3 ranks are here
}

// Rank 2 dies at a point of the program, and the others shrink their communicator.
func ExampleJob_Run() {
	job := commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 2, Mark: "step", At: 1}}}
	reached := job.Run(t, func(ctx context.Context, w *comm.Comm) error {
		w.Mark("step", 1)
		if _, err := w.AllOK(ctx, nil); !comm.Recoverable(err) {
			return err
		}
		left, err := w.Shrink(ctx)
		if err == nil && left.Rank() == 0 {
			fmt.Println(left.Size(), "ranks continue")
		}
		return err
	})
	fmt.Println(len(reached), "points were reached")
	// Output:
	// 2 ranks continue
	// 3 points were reached
}

// The result of a sum has to be the same after a death at each point of the program.
func ExampleEachKill() {
	points := commtest.EachKill(t, commtest.Job{N: 3}, func(job commtest.Job) string {
		var result atomic.Int64
		job.Run(t, func(ctx context.Context, w *comm.Comm) error {
			for c := w; ; {
				w.Mark("before the sum", c.Size())
				mine := 12 / c.Size() // the live ranks share the work
				sum, err := collectives.AllreduceOne(ctx, c, mine, collectives.Sum)
				if ok, err := c.AllOK(ctx, err); ok && err == nil {
					result.Store(int64(sum))
					return nil
				}
				if c, err = c.Shrink(ctx); err != nil {
					return err
				}
			}
		})
		return fmt.Sprint(result.Load())
	})
	fmt.Println("tested deaths at", len(points), "points")
	// Output: tested deaths at 3 points
}

// Rank 1 dies before its first frame, in the next run before the second one, and so on. After each
// death rank 0 learns of the failure, or it has the flag of rank 1.
func ExampleRunKilled() {
	body := func(ctx context.Context, w *comm.Comm) {
		flag, err := w.Agree(ctx, 6>>w.Rank())
		if w.Rank() == 0 && !comm.Recoverable(err) && (flag != 6&3 || err != nil) {
			fmt.Println("wrong outcome:", flag, err)
		}
	}
	frame := uint64(1)
	for commtest.RunKilled(t, 2, 1, frame, body) {
		frame++
	}
	fmt.Println("all frames tested:", frame > 1)
	// Output: all frames tested: true
}

// Rank 1 dies before each frame of a barrier in turn, on two nodes, and then in uniform mode as
// well.
func ExampleNodes_RunKilled() {
	body := func(ctx context.Context, w *comm.Comm) {
		if err := collectives.Barrier(ctx, w); err != nil && !comm.Recoverable(err) && w.Rank() == 0 {
			fmt.Println("wrong error:", err)
		}
	}
	nodes := commtest.Nodes{0, 1}
	uniform := commtest.Config{Comm: comm.Config{Uniform: true}, Nodes: nodes}
	for frame := uint64(1); nodes.RunKilled(t, 1, frame, body); frame++ {
	}
	for frame := uint64(1); uniform.RunKilled(t, len(nodes), 1, frame, body); frame++ {
	}
	fmt.Println("all frames tested")
	// Output: all frames tested
}

func ExampleConfig_RunKilled() { ExampleNodes_RunKilled() }

// Rank 1 dies inside a reduction, in the operation that the collective calls.
func ExampleFreeze() {
	commtest.Config{Messages: true}.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		product := collectives.Custom(func(acc, in []int) {
			if w.Rank() == 1 {
				commtest.Freeze(w)
			}
			for i := range acc {
				acc[i] *= in[i]
			}
		}, true)
		_, err := collectives.AllreduceOne(ctx, w, 3, product)
		_, err = w.AllOK(ctx, err)
		if w.Rank() == 0 {
			fmt.Println(comm.Recoverable(err), w.FailedRanks())
		}
	})
	// Output: true [1]
}
