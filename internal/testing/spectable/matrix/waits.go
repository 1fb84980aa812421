package matrix

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/goulfm/goulfm/comm"
)

// waits lists the ways to end a request.
var waits = []struct {
	name string
	end  func(ctx context.Context, s *site, r comm.Request) error
}{
	{"wait", func(ctx context.Context, _ *site, r comm.Request) error { _, err := r.Wait(ctx); return err }},
	{"wait_all", func(ctx context.Context, _ *site, r comm.Request) error { return comm.WaitAll(ctx, comm.Request{}, r) }},
	{"wait_all of one", func(ctx context.Context, _ *site, r comm.Request) error { return comm.WaitAll(ctx, r) }},
	{"wait_any", func(ctx context.Context, _ *site, r comm.Request) error {
		i, _, err := comm.WaitAny(ctx, comm.Request{}, r)
		return errors.Join(err, unless(i == 1))
	}},
	{"wait_some", func(ctx context.Context, _ *site, r comm.Request) error {
		is, err := comm.WaitSome(ctx, nil, comm.Request{}, r)
		return errors.Join(err, unless(len(is) == 1 && is[0] == 1))
	}},
	{"test", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) { _, over, err := r.Test(); return over, err })
	}},
	{"test_all", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) { return comm.TestAll(comm.Request{}, r) })
	}},
	{"test_any", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) {
			i, _, over, err := comm.TestAny(comm.Request{}, r)
			return over, errors.Join(err, unless(!over || i == 1))
		})
	}},
	{"test_some", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) {
			is, err := comm.TestSome(nil, comm.Request{}, r)
			return len(is) == 1, err
		})
	}},
}

// poll calls look until the operation is over.
func poll(ctx context.Context, s *site, look func() (bool, error)) error {
	for {
		over, err := look()
		if over || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.polled()
		runtime.Gosched()
	}
}

// startAnd starts a persistent request and ends it. The request must then be inactive (R64).
func startAnd(ctx context.Context, s *site, end func(ctx context.Context, s *site, r comm.Request) error, r comm.Request) error {
	if err := r.Start(); err != nil {
		return fmt.Errorf("%w: start: %w", errWrong, err)
	}
	err := end(ctx, s, r)
	if _, over, restErr := r.Test(); !over || restErr != nil {
		return fmt.Errorf("%w: afterwards it is not inactive: %w", errWrong, restErr)
	}
	return errors.Join(err, r.Free())
}
