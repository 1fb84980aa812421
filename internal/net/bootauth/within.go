package bootauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// past is a deadline that ends all pending calls on a connection.
var past = time.Unix(1, 0)

// watch ends all reads and writes of conn when ctx ends, until stop is called. stop returns false
// if ctx has ended before: then the connection is of no more use.
func watch(ctx context.Context, conn net.Conn) (stop func() bool) {
	ended := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = conn.SetDeadline(past)
	})
	return func() bool {
		if stopped() {
			return true
		}
		<-ended
		return false
	}
}

// within calls do, which uses conn, and ends its reads and writes when ctx ends or limit is over.
func within(ctx context.Context, conn net.Conn, limit time.Duration, do func(context.Context) error) error {
	phase, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %v", limit))
	defer cancel()
	stop := watch(phase, conn)
	err := do(phase)
	if stop() && (err == nil || phase.Err() == nil) { // do may see the end of the time before watch does
		return err
	}
	return because(phase, err)
}

// because names the end of ctx as the cause of err, if ctx has ended.
func because(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil || errors.Is(err, cause):
		return err
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return cause
	default:
		return fmt.Errorf("%w: %w", cause, err)
	}
}

// sleep waits for pause, and returns false if ctx ends before.
func sleep(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
