package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for _, laps := range []int{1, 3} {
			t.Run(fmt.Sprint(n, " ranks ", laps, " laps"), func(t *testing.T) {
				commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
					sum, err := ring(ctx, w, laps)
					if err != nil {
						t.Errorf("rank %d: %v", w.Rank(), err)
					}
					// Each lap adds all ranks; in the last one, those up to this.
					all := n * (n - 1) / 2
					want := laps * all
					if r := w.Rank(); r > 0 {
						want = (laps-1)*all + r*(r+1)/2
					}
					if sum != want {
						t.Errorf("rank %d: sum %d, want %d", w.Rank(), sum, want)
					}
				})
			})
		}
	}
}

// Without recovery a death reaches every rank: each error makes its rank leave,
// and that is the failure that the next rank sees.
func TestDeathIsAnErrorAtAll(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		_, err := ring(ctx, w, 2)
		if !errors.Is(err, comm.ErrProcFailed) {
			t.Errorf("rank %d: %v, want a process failure", w.Rank(), err)
		}
		commtest.Kill(w)
	})
}
