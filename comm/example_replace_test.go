package comm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// shownInExample is shown for an example: an error is printed in place of a failure of the test.
type shownInExample struct{ testing.TB }

func (shownInExample) Helper()                           {}
func (shownInExample) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Rank 1 dies, and a new process gets its rank.
func ExampleComm_Replace() {
	program := func(ctx context.Context, w *comm.Comm) error {
		c := w.Joined()
		if c == nil {
			w.Mark("work", 1)
			ok, err := w.AllOK(ctx, collectives.Barrier(ctx, w))
			if ok && err == nil {
				return nil
			}
			left, err := w.Shrink(ctx)
			if err != nil {
				return err
			}
			if c, err = left.Replace(ctx, comm.ReplaceSpec{Ranks: []int{1}, Handover: []byte("round 7")}); err != nil {
				return err
			}
			_ = left.Free()
		} else {
			fmt.Printf("the new rank %d of %d hears: %s\n", c.Rank(), c.Size(), w.Handover())
		}
		return collectives.Barrier(ctx, c)
	}
	commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "work", At: 1}}}.Run(shownInExample{}, program)
	// Output: the new rank 1 of 3 hears: round 7
}
