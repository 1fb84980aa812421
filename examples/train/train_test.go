package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
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

// run returns the result line, which may have been printed more than once. There is one process
// value for each process of the job; it outlives the attempts.
func run(t *testing.T, j commtest.Job, cfg recovery.Config, steps int) (result, all string) {
	t.Helper()
	out := &output{}
	cfg.Log, cfg.Shortage = slog.New(slog.DiscardHandler), recovery.ShortageShrink
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		p := &process{points: 50, hidden: 3, steps: steps, print: 1, rate: 0.5, out: out}
		return recovery.Run(ctx, w, cfg, p.run)
	})
	lines := slices.Compact(regexp.MustCompile("(?m)^result: .*$").FindAllString(out.text.String(), -1))
	assert.Len(t, lines, 1)
	return strings.Join(lines, "\n"), out.text.String()
}

// TestEachDeath: after a death of any rank at any point, with room for a new process and without,
// the weights are the same, bit for bit.
func TestEachDeath(t *testing.T) {
	for _, room := range []int{0, 3} {
		commtest.EachKill(t, commtest.Job{N: 3, Room: room}, func(j commtest.Job) string {
			result, _ := run(t, j, recovery.Config{Every: 1, Verify: true}, 4)
			return result
		})
	}
}

// TestFewerRanks: three of five ranks die one after the other, and the loss falls in each step, in
// the output of any rank.
func TestFewerRanks(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 1}, recovery.Config{}, 40)
	kills := []commtest.Killed{{Rank: 4, Mark: "step", At: 5}, {Rank: 0, Mark: "step", At: 15}, {Rank: 2, Mark: "step", At: 25}}
	got, all := run(t, commtest.Job{N: 5, Room: 5, Kills: kills}, recovery.Config{Every: 3}, 40)
	assert.Equal(t, want, got)
	losses := map[int]float64{}
	for _, line := range regexp.MustCompile("(?m)^step .*$").FindAllString(all, -1) {
		var step, ranks int
		var loss float64
		_, err := fmt.Sscanf(line, "step %d loss %f ranks %d", &step, &loss, &ranks)
		assert.NoError(t, err)
		if before, again := losses[step]; again {
			assert.Equal(t, before, loss)
		}
		losses[step] = loss
		assert.Subset(t, []int{5, 4, 3, 2}, []int{ranks})
	}
	for step := 2; step <= 40; step++ {
		assert.Less(t, losses[step], losses[step-1])
	}
	assert.Contains(t, all, "ranks 2")
}

// TestGradient: the gradient is the slope of the loss.
func TestGradient(t *testing.T) {
	w, units, p := newWeights(3), make([]float64, 3), makePoint(1)
	loss := func() float64 { return math.Log1p(math.Exp(-p.moon * w.output(units, p))) }
	sum := make(tally, len(w)+2)
	sum.learn(w, units, p)
	assert.InDelta(t, loss(), float64(sum[len(w)])*unit, unit)
	for i := range w {
		const h = 1e-6
		w[i] += h
		up := loss()
		w[i] -= 2 * h
		down := loss()
		w[i] += h
		assert.InDelta(t, (up-down)/(2*h), float64(sum[i])*unit, 1e-8)
	}
}
