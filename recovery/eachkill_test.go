package recovery_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
)

// tryField is a program of few steps for EachKill.
func tryField(t *testing.T, cfg recovery.Config) func(j commtest.Job) string {
	return func(j commtest.Job) string {
		f := &field{cfg: cfg, steps: 3}
		f.run(t, j)
		return fmt.Sprint(f.sums)
	}
}

// TestAllPairsOfPoints: one of three ranks dies at each point, and then another one, or its
// successor, at each later point. The result is always that of a run without a death.
// RECOVERY_PAIRS=all runs all 3,444 jobs, which takes minutes; the default is one first point of
// 25.
func TestAllPairsOfPoints(t *testing.T) {
	longtest.Skip(t, "some hundred jobs")
	if testing.Short() {
		t.Skip("some hundred jobs")
	}
	every := 25
	if os.Getenv("RECOVERY_PAIRS") == "all" {
		every = 1
	}
	for name, cfg := range map[string]recovery.Config{
		"copies": {Every: 2, Copies: 2, Log: slog.New(slog.DiscardHandler)},
		"parity": {Every: 2, Erasure: recovery.Erasure{Data: 1, Parity: 2}, Log: slog.New(slog.DiscardHandler)},
	} {
		t.Run(name, func(t *testing.T) {
			try, jobs := tryField(t, cfg), 0
			for i, k := range commtest.EachKill(t, commtest.Job{N: 3}, try) {
				if i%every > 0 {
					continue
				}
				jobs += len(commtest.EachKill(t, commtest.Job{N: 3, Kills: []commtest.Killed{k}}, try))
				if t.Failed() {
					return
				}
			}
			t.Logf("%d jobs with two deaths", jobs)
		})
	}
}

// TestEachPointOfABag: the same for a program in which each rank saves at its own times.
func TestEachPointOfABag(t *testing.T) {
	commtest.EachKill(t, commtest.Job{N: 3}, func(j commtest.Job) string {
		b := &bag{}
		b.run(t, j)
		b.check(t, len(j.Kills), j.Kills)
		return fmt.Sprint(b.results[0])
	})
}
