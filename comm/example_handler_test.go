package comm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// ErrorsReturn is the default: an operation returns the error itself. A communicator inherits the
// handler of its parent, and may restore the default.
func ExampleErrorsReturn() {
	ranks(1, func(ctx context.Context, w *comm.Comm) {
		w.SetErrorHandler(func(_ *comm.Comm, err error) error {
			return fmt.Errorf("the solver: %w", err)
		})
		d, err := w.Dup(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(comm.Send(ctx, d.To(3), []int{1}))
		d.SetErrorHandler(comm.ErrorsReturn)
		err = comm.Send(ctx, d.To(3), []int{1})
		fmt.Println(err, errors.Is(err, comm.ErrRank))
	})
	// Output:
	// the solver: send on dup of world: rank out of range: 3 in a communicator of 1
	// send on dup of world: rank out of range: 3 in a communicator of 1 true
}
