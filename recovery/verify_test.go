package recovery_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// TestVerify: a replay that depends on unprotected data is found, with the rank and the member.
// That includes the replaced rank, whose old part its keeper has.
func TestVerify(t *testing.T) {
	for _, unprotected := range []int{-1, 0, 1, 2} {
		for at := 3; at <= 9; at += 3 {
			job := commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: at}}}
			var hidden [4]int // outside the body, read by the program of each rank
			job.Run(t, func(ctx context.Context, w *comm.Comm) error {
				err := recovery.Run(ctx, w, recovery.Config{Verify: true, Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *recovery.World) error {
					u := make([]int, 5000)
					if _, err := w.Protect(ctx, recovery.Slice("u", &u)); err != nil {
						return err
					}
					for range w.Steps(ctx, 12) {
						sum, err := collectives.AllreduceOne(ctx, w.Comm(), u[3], collectives.Sum)
						if err != nil {
							return err
						}
						u[3] += sum + w.Rank() + 1
						if w.Rank() == unprotected {
							hidden[w.Rank()]++
							u[4000] = hidden[w.Rank()]
						}
					}
					return w.Err()
				})
				switch {
				case errors.Is(err, comm.ErrFenced):
				case unprotected < 0:
					assert.NoError(t, err)
				default:
					assert.ErrorIs(t, err, recovery.ErrReplay)
					assert.ErrorContains(t, err, `"u" from byte 32000 on`)
				}
				return nil
			})
		}
	}
}
