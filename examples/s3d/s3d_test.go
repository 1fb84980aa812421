package main

import (
	"bytes"
	"context"
	"log/slog"
	"math"
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

// run returns the result line, which may have been printed more than once.
func run(t *testing.T, j commtest.Job, cfg recovery.Config, o options) string {
	t.Helper()
	out := &output{}
	cfg.Log = slog.New(slog.DiscardHandler)
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
			return (&solver{o: o, out: out}).solve(ctx, w)
		})
	})
	lines := strings.Split(strings.TrimSpace(out.text.String()), "\n")
	for _, l := range lines {
		assert.Equal(t, lines[0], l)
	}
	return lines[0]
}

var small = options{cells: [3]int{12, 9, 8}, species: 2, steps: 3}

// TestEachDeath: a rank dies in a step, between two exchanges, in a commit, in the report. The
// result is the same, bit for bit, and all data that it depends on is protected.
func TestEachDeath(t *testing.T) {
	commtest.EachKill(t, commtest.Job{N: 4}, func(j commtest.Job) string {
		return run(t, j, recovery.Config{Every: 1, Verify: true}, small)
	})
}

// TestAnyCut: on any division of the box the bits are the same, also with two deaths, one of them
// in the repair after the other.
func TestAnyCut(t *testing.T) {
	want := run(t, commtest.Job{N: 1}, recovery.Config{}, small)
	assert.Regexp(t, `^result: steps=3 species=2 error=\d\.\de-\d\d checksum=[0-9a-f]{16}$`, want)
	for _, n := range []int{3, 4, 6, 8} {
		kills := []commtest.Killed{{Rank: n - 1, Mark: "stage", At: 12}, {Rank: 0, Mark: "repair.replace", At: 1}}
		assert.Equal(t, want, run(t, commtest.Job{N: n}, recovery.Config{Every: 2}, small), n)
		assert.Equal(t, want, run(t, commtest.Job{N: n, Kills: kills}, recovery.Config{Every: 2, Copies: 2}, small), n)
	}
}

// TestOrder: with half the distance of cells, or half the time step, errors fall according to the
// promised order.
func TestOrder(t *testing.T) {
	assert.InDelta(t, 8, math.Log2(transportError(8)/transportError(16)), 0.3)
	assert.InDelta(t, 4, math.Log2(decayError(8)/decayError(16)), 0.3)
}

// transportError is the largest error of the rates of a wave on n cells in each direction.
func transportError(n int) float64 {
	h := 2 * math.Pi / float64(n)
	b := block{n: [3]int{n, n, n}, h: [3]float64{h, h, h}, species: 1}
	pad, rates, i := b.padded(), make([]float64, b.cells()), 0
	for z := -halo; z < n+halo; z++ {
		for y := -halo; y < n+halo; y++ {
			for x := -halo; x < n+halo; x++ {
				pad[i] = b.exact(0, x, y, z, 0)
				i++
			}
		}
	}
	b.transport(rates, pad)
	worst, soon := 0.0, 1e-5
	for i, r := range rates {
		x, y, z := i%n, i/n%n, i/n/n
		want := (b.exact(0, x, y, z, soon) - b.exact(0, x, y, z, -soon)) / (2 * soon)
		worst = max(worst, math.Abs(r-want))
	}
	return worst
}

// decayError is the error of y' = -y after one unit of time in the given number of steps.
func decayError(steps int) float64 {
	y, rates := 1.0, 0.0
	for range steps {
		for _, k := range rk {
			rates = k.keep*rates - y
			y += k.add / float64(steps) * rates
		}
	}
	return math.Abs(y - math.Exp(-1))
}

// TestRates: a field that is the same everywhere does not move, the loss of one species is the gain
// of the next one, and the shares of all species add up to one.
func TestRates(t *testing.T) {
	b := block{n: [3]int{4, 5, 6}, h: [3]float64{1, 2, 3}, species: 3}
	pad, rates := b.padded(), make([]float64, b.cells())
	for i := range pad {
		pad[i] = 7
	}
	b.transport(rates, pad)
	for _, r := range rates {
		assert.InDelta(t, 0, r, 1e-13)
	}
	u, r := make([]float64, 3*b.cells()), make([]float64, 3*b.cells())
	u[1] = 2
	b.react(r, u)
	assert.Equal(t, []float64{-2 * rate, 2 * rate, 0}, []float64{r[1], r[b.cells()+1], r[2*b.cells()+1]})
	for _, at := range []float64{0, 0.5, 3} {
		assert.InDelta(t, 1, share(0, 3, at)+share(1, 3, at)+share(2, 3, at), 1e-15)
	}
	assert.InDelta(t, math.Exp(-rate), share(0, 2, 1), 1e-15)
}
