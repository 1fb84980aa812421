package recovery

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestWhoCountsWhichFailures: processes that have seen a death count it, once. A process that came
// later does not, and requests no interval before its first measured commit. With a prior of a year
// the duration of the test is negligible.
func TestWhoCountsWhichFailures(t *testing.T) {
	const year = 365 * 24 * time.Hour
	job := commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 3}, {Rank: 2, Mark: "step", At: 5}}}
	deaths := [3]float64{2, 1, 0} // seen by the process of each rank in the end
	job.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := Run(ctx, w, Config{MTBF: year, Every: 1, Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *World) error {
			x := 0
			if _, err := w.Protect(ctx, Value("x", &x)); err != nil {
				return err
			}
			assert.Equal(t, w.Role() == RoleRecovered, w.requested() == 0, "rank %d in attempt %d", w.Rank(), w.Attempt())
			for range w.Steps(ctx, 6) {
				x++
			}
			if w.Err() == nil {
				assert.Positive(t, w.requested())
				assert.InEpsilon(t, float64(year)/(deaths[w.Rank()]+1), float64(w.r.pacer.MTBF(w.r.now())), 0.01, "rank %d", w.Rank())
			}
			return w.Err()
		})
		assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v", err)
		return nil
	})
}
