package collectives_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestOperationThatCallsTheLibrary: the operation runs with the lock held that its call would wait
// for. The member with such an operation gets an error at once and the others are notified; all
// continue.
func TestOperationThatCallsTheLibrary(t *testing.T) {
	calls := map[string]func(ctx context.Context, w, d *comm.Comm, posted comm.Request){
		"allreduce": func(ctx context.Context, _, d *comm.Comm, _ comm.Request) {
			_ = collectives.Allreduce(ctx, d, []int{0}, []int{1}, collectives.Sum)
		},
		"iallreduce": func(_ context.Context, w, _ *comm.Comm, _ comm.Request) {
			collectives.Iallreduce(w, []int{0}, []int{1}, collectives.Sum)
		},
		"send":     func(ctx context.Context, w, _ *comm.Comm, _ comm.Request) { _ = comm.Send(ctx, w.To(0), []int{1}) },
		"recv":     func(ctx context.Context, _, d *comm.Comm, _ comm.Request) { _, _ = comm.Recv(ctx, d.From(0), []int{1}) },
		"iprobe":   func(_ context.Context, w, _ *comm.Comm, _ comm.Request) { _, _, _ = comm.Iprobe(w.From(comm.Any)) },
		"wait":     func(ctx context.Context, _, _ *comm.Comm, posted comm.Request) { _, _ = posted.Wait(ctx) },
		"test":     func(_ context.Context, _, _ *comm.Comm, posted comm.Request) { _, _, _ = posted.Test() },
		"wait_any": func(ctx context.Context, _, _ *comm.Comm, posted comm.Request) { _, _, _ = comm.WaitAny(ctx, posted) },
		"cancel":   func(_ context.Context, _, _ *comm.Comm, posted comm.Request) { posted.Cancel() },
		"agree":    func(ctx context.Context, _, d *comm.Comm, _ comm.Request) { _, _ = d.Agree(ctx, 1) },
		"dup":      func(ctx context.Context, w, _ *comm.Comm, _ comm.Request) { _, _ = w.Dup(ctx) },
		"revoke":   func(_ context.Context, _, d *comm.Comm, _ comm.Request) { _ = d.Revoke() },
		"failed":   func(_ context.Context, w, _ *comm.Comm, _ comm.Request) { w.GetFailed() },
		"free":     func(_ context.Context, _, d *comm.Comm, _ comm.Request) { _ = d.Free() },
		"finalize": func(ctx context.Context, w, _ *comm.Comm, _ comm.Request) { _ = w.Finalize(ctx) },
	}
	for name, call := range calls {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			assert.NoError(t, err)
			posted := comm.Irecv(w.From(comm.Any).Tag(7), []int{0})
			op := collectives.Custom(func(_, _ []int) { call(ctx, w, d, posted) }, true)
			v := []int{1}
			for _, err := range []error{
				collectives.Allreduce(ctx, w, v, v, op),
				func() error { _, err := collectives.Iallreduce(w, v, v, op).Wait(ctx); return err }(),
			} {
				assert.Condition(t, func() bool { return errorIsOneOf(err, comm.ErrUnsupported, comm.ErrPeerArgument) }, "%s: %v", name, err)
			}
			sum := []int{1}
			assert.NoError(t, collectives.Allreduce(ctx, w, sum, sum, collectives.Sum), name)
			assert.Equal(t, []int{2}, sum, name)
			assert.True(t, posted.Cancel(), name)
		})
	}
}

// TestOperationMayAskWhoItIs: local queries work.
func TestOperationMayAskWhoItIs(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		op := collectives.Custom(func(acc, in []int) { acc[0] += in[0] * w.Size() * (w.Rank() + 1) / (w.Rank() + 1) }, true)
		v := []int{1}
		assert.NoError(t, collectives.Allreduce(ctx, w, v, v, op))
		assert.Equal(t, []int{3}, v)
	})
}

func errorIsOneOf(err error, classes ...error) bool {
	return slices.ContainsFunc(classes, func(class error) bool { return errors.Is(err, class) })
}
