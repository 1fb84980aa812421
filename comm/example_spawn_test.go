package comm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
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
