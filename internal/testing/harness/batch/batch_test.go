package batch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
)

// All ranks do the same number of iterations, which rank 0's clock chose.
func TestRunIsTheSameEverywhere(t *testing.T) {
	for _, iters := range []int{0, 20} {
		counts := make([]int, 3)
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			p := plan.Plan{Batches: 4, Iters: iters, Time: time.Millisecond}
			seconds, err := Run(ctx, w, p, 8, func(_ context.Context, n int) error {
				counts[w.Rank()] += n
				return nil
			})
			if err == nil {
				err = Slowest(ctx, w, seconds)
			}
			if err != nil || len(seconds) != 4 {
				t.Errorf("rank %d: %v %v", w.Rank(), seconds, err)
			}
		})
		if counts[0] != counts[1] || counts[0] != counts[2] {
			t.Errorf("-iters %d: iterations by rank: %v", iters, counts)
		}
		if iters > 0 && counts[0] != 2+4*iters {
			t.Errorf("%d iterations, want 2 to warm up and 4 batches of %d", counts[0], iters)
		}
	}
}

// The first iterations are not timed: so many, by the size.
func TestRunWarmsUp(t *testing.T) {
	for _, c := range []struct{ size, want int }{{0, 100}, {8 << 10, 100}, {8<<10 + 1, 10}} {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			first := 0
			_, err := Run(ctx, w, plan.Plan{Batches: 1, Time: time.Microsecond}, c.size, func(_ context.Context, n int) error {
				if first == 0 {
					first = n
				}
				return nil
			})
			if err != nil || first != c.want {
				t.Errorf("%d bytes, rank %d: %d iterations at first, want %d; %v", c.size, w.Rank(), first, c.want, err)
			}
		})
	}
}

func TestRunPassesErrors(t *testing.T) {
	broken := errors.New("broken")
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for at := range 4 {
			calls := 0
			_, err := Run(ctx, w, plan.Plan{Batches: 3, Time: time.Microsecond}, 8, func(context.Context, int) error {
				if calls++; calls > at {
					return broken
				}
				return nil
			})
			if !errors.Is(err, broken) {
				t.Errorf("rank %d, call %d: %v", w.Rank(), at, err)
			}
		}
	})
}

func TestSlowest(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		seconds := []float64{float64(w.Rank()), float64(-w.Rank())}
		if err := Slowest(ctx, w, seconds); err != nil || seconds[0] != 2 || seconds[1] != 0 {
			t.Errorf("rank %d: %v %v", w.Rank(), seconds, err)
		}
	})
}
