package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/examples/plate"
	"github.com/goulfm/goulfm/recovery"
)

// output collects the output of all ranks.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// compute returns the result line of a run, which may have been printed more than once.
func compute(t *testing.T, n int, kills ...commtest.Killed) string {
	t.Helper()
	return computeIn(t, commtest.Job{N: n, Kills: kills}, recovery.ShortageStop)
}

func computeIn(t *testing.T, j commtest.Job, shortage recovery.Shortage) string {
	t.Helper()
	o := &output{}
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Every: 3, Shortage: shortage, Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *recovery.World) error {
			s := &solver{options: options{Options: plate.Options{NX: 7, NY: 9, Steps: 20, Tol: 1.6e-2}}, out: o}
			return s.solve(ctx, w)
		})
	})
	lines := strings.Split(strings.TrimSpace(o.text.String()), "\n")
	for _, line := range lines {
		assert.Equal(t, lines[0], line)
	}
	return lines[0]
}

// TestSameResult: on other numbers of ranks, and with a death of any rank in any step or in the
// report, the result is the same bit for bit.
func TestSameResult(t *testing.T) {
	want := compute(t, 1)
	assert.Contains(t, want, "result: steps=")
	for _, n := range []int{2, 4} {
		assert.Equal(t, want, compute(t, n))
	}
	for rank := range 4 {
		for at := 1; at <= 12; at += 2 {
			assert.Equal(t, want, compute(t, 4, commtest.Killed{Rank: rank, Mark: "step", At: at}), "rank %d at step %d", rank, at)
		}
	}
	fewer := commtest.Job{N: 4, Room: 4, Kills: []commtest.Killed{{Rank: 2, Mark: "step", At: 5}, {Rank: 0, Mark: "step", At: 10}}}
	assert.Equal(t, want, computeIn(t, fewer, recovery.ShortageShrink))
	var steps int
	_, err := fmt.Sscanf(want, "result: steps=%d", &steps)
	assert.NoError(t, err)
	for _, mark := range []string{"gather", "report"} {
		assert.Equal(t, want, compute(t, 4, commtest.Killed{Rank: 0, Mark: mark, At: steps}), mark)
	}
}
