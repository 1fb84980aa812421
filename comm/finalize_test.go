package comm_test

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestSpecR62FinalizeSurvivesADeathAtEveryFrame: commtest finalizes everybody and
// reports who does not return.
func TestSpecR62FinalizeSurvivesADeathAtEveryFrame(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for victim := range n {
			for frame := uint64(1); !t.Failed(); frame++ {
				if !commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {}) {
					break
				}
			}
		}
	}
}
