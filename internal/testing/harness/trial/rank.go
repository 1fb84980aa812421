package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A broken is a promise that a rank has found broken.
type broken struct{ text string }

func (b *broken) Error() string { return b.text }

// Broken is the error of a rank that has found a broken promise.
func Broken(format string, args ...any) error { return &broken{fmt.Sprintf(format, args...)} }

// IsBroken reports whether err is an error of Broken.
func IsBroken(err error) bool { return errors.As(err, new(*broken)) }

// Rank guards the body of a rank. A rank that finds a broken promise ends the job. If the others
// continued, the end of this rank would look like one more death.
func Rank[C interface {
	Rank() int
	Abort(code int)
}](body func(ctx context.Context, w C) error) func(ctx context.Context, w C) error {
	return func(ctx context.Context, w C) error {
		err := body(ctx, w)
		if IsBroken(err) {
			fmt.Printf("broken at rank %d: %v\n", w.Rank(), err)
			w.Abort(CodeWrong)
		}
		return err
	}
}

// Die kills this process by SIGKILL.
func Die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
