package comm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// An error names its operation, and has a class. From failures a program can recover; a wrong
// argument is a mistake in the program.
func ExampleRecoverable() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		_, err := comm.Recv(ctx, w.From(1), []int{0})
		var e *comm.Error
		if errors.As(err, &e) {
			fmt.Println(e.Op, "on", e.Comm, "with ranks", e.Ranks)
		}
		fmt.Println(errors.Is(err, comm.ErrProcFailed), comm.Recoverable(err))

		_, err = comm.Recv(ctx, w.From(2), []int{0})
		fmt.Println(errors.Is(err, comm.ErrRank), comm.Recoverable(err))
	})
	// Output:
	// recv on world with ranks [1]
	// true true
	// true false
}

// An error on the world ends the whole job, and an error on one half of the ranks ends this half
// alone. The example has no Output and is only compiled, because both handlers would end the test.
// To run it: goulfm run -n 4 ./program.
func ExampleErrorsFatal() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		w.SetErrorHandler(comm.ErrorsFatal)
		half, err := w.Split(ctx, w.Rank()%2, w.Rank())
		if err != nil {
			return err
		}
		half.SetErrorHandler(comm.ErrorsAbort)
		next := (half.Rank() + 1) % half.Size()
		_, err = comm.SendRecv(ctx, half.To(next), []int{w.Rank()}, half.From(comm.Any), make([]int, 1))
		return err
	})
}

func ExampleErrorsAbort() { ExampleErrorsFatal() }
