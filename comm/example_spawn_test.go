package comm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// A process that was started with goulfm run brings a communicator back to its size;
// one that was started in another way can not.
func ExampleComm_Spawn() {
	ctx := context.Background()
	w, err := comm.Init(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if w.Parent() != nil {
		fmt.Println("one of the new ones:", w.Spawned())
	}
	ic, err := w.Spawn(ctx, comm.SpawnSpec{N: 1})
	if errors.Is(err, comm.ErrUnsupported) {
		fmt.Println(err)
	} else if all, err := ic.Merge(ctx, false); err == nil {
		fmt.Println("now", all.Size())
	}
	_ = w.Finalize(ctx)
	// Output: spawn on world: not supported: Spawn takes a job of goulfm run
}

// Two masters have two workers, and a worker dies. Both groups learn of the death, acknowledge it,
// and continue with an intercommunicator of the live members.
func ExampleIntercomm_Shrink() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0, 1}, []int{2, 3}) // in place of a Spawn
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() == 3 {
			commtest.Kill(w)
		}
		_, died := ic.Agree(ctx, 1) // the same error at all live members
		acked, err := ic.AckFailed(ic.GetFailed().Size())
		if w.Rank() == 0 {
			fmt.Println(errors.Is(died, comm.ErrProcFailed), acked, err)
		}
		if err := ic.Revoke(); err != nil { // ends operations of members that have not noticed the death
			fmt.Println(err)
			return
		}
		left, err := ic.Shrink(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if w.Rank() == 0 {
			fmt.Println("revoked:", ic.IsRevoked())
			fmt.Println("master", left.Rank(), "of", left.Size(), "has", left.RemoteSize(), "worker")
			fmt.Println(left.Group(), left.RemoteGroup())
		}
		_, _ = left.Free(), ic.Free()
	})
	// Output:
	// true 1 <nil>
	// revoked: true
	// master 0 of 2 has 1 worker
	// [0 1] [2]
}
