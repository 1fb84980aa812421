package commitinterval

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// TestDalyFirstOrder: the formula at points that can be checked by hand.
func TestDalyFirstOrder(t *testing.T) {
	for _, c := range []struct{ cost, mtbf, want mono.Duration }{
		{2 * mono.Second, 100 * mono.Second, 18 * mono.Second}, // sqrt(400) - 2
		{mono.Second, 50 * mono.Second, 9 * mono.Second},       // sqrt(100) - 1
		{mono.Second, 2 * mono.Second, mono.Second},            // the bound: sqrt(4) - 1
		{mono.Second + 1, 2 * mono.Second, 2 * mono.Second},    // beyond it: the MTBF
		{mono.Second, 0, 1},
		{0, mono.Second, 0},
		{-1, mono.Second, 0},
		{1, 1 << 62, 3037000498}, // 292 years neither overflow nor turn negative
	} {
		assert.InDelta(t, float64(c.want), float64(Interval(c.cost, c.mtbf)), 1, "cost %v mtbf %v", c.cost, c.mtbf)
	}
}

// TestDalyNearOptimum: at the interval of the first order the complete model (equation 20) is at
// most 1 % above its minimum, found by a search, if a commit takes less than a tenth of the MTBF.
// Intervals of half and twice the length are worse.
func TestDalyNearOptimum(t *testing.T) {
	const mtbf = 1000 * mono.Second
	for cost := mono.Second; cost < mtbf/10; cost = cost * 3 / 2 {
		best := math.Inf(1)
		for w := mono.Second; w < 3*mtbf; w += w/200 + 1 {
			best = min(best, Slowdown(w, cost, 0, mtbf))
		}
		w := Interval(cost, mtbf)
		here := Slowdown(w, cost, 0, mtbf)
		assert.Less(t, here, best*1.01, "cost %v", cost)
		assert.Less(t, here, Slowdown(w/2, cost, 0, mtbf), "cost %v", cost)
		assert.Less(t, here, Slowdown(2*w, cost, 0, mtbf), "cost %v", cost)
	}
	assert.Greater(t, Slowdown(mtbf/10, mono.Second, mtbf/10, mtbf), Slowdown(mtbf/10, mono.Second, 0, mtbf))
}

// TestSlowdownAgainstSimulation: the model is the mean of simulated jobs whose failures
// are a Poisson process.
func TestSlowdownAgainstSimulation(t *testing.T) {
	const work, interval, cost, restart, mtbf = 200000.0, 40.0, 5.0, 3.0, 150.0
	rng := rand.New(rand.NewPCG(1, 2))
	clock := 0.0
	next := rng.ExpFloat64() * mtbf
	for done := 0.0; done < work; {
		if clock+interval+cost <= next {
			clock += interval + cost
			done += interval
			continue
		}
		clock = next
		next += rng.ExpFloat64() * mtbf
		for clock+restart > next { // a failure in the restart starts it again
			clock = next
			next += rng.ExpFloat64() * mtbf
		}
		clock += restart
	}
	s := func(x float64) mono.Duration { return mono.Duration(x * float64(mono.Second)) }
	assert.InEpsilon(t, Slowdown(s(interval), s(cost), s(restart), s(mtbf)), clock/work, 0.02)
}

func TestMTBF(t *testing.T) {
	assert.Equal(t, Hour, MTBF(0, Hour, 0))
	assert.Equal(t, 2*Hour, MTBF(Hour, Hour, 0), "no failure: longer than was seen")
	assert.Equal(t, Hour, MTBF(Hour, Hour, 1))
	assert.Equal(t, (Day+Hour)/25, MTBF(Day, Hour, 24))
	assert.Positive(t, MTBF(1<<62, 1<<62, 1), "no overflow")
}

func TestSteps(t *testing.T) {
	var got []int
	for i := range Steps {
		got = append(got, stepLength(i))
	}
	assert.Equal(t, []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}, got[:12])
	assert.Equal(t, Longest, got[Steps-1])
	assert.IsIncreasing(t, got)
}

// TestUnaryIsTheLeast: the AND of words is the word of the shortest requested interval, and no
// requested interval is rounded up.
func TestUnaryIsTheLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		word, least := ^uint32(0), Longest
		for range 1 + rng.IntN(8) {
			requested := 1 + rng.IntN(1<<rng.IntN(20))
			word &= Encode(requested)
			least = min(least, requested)
		}
		got := Decode(word)
		require.LessOrEqual(t, got, least)
		require.Equal(t, Encode(least), word)
		require.GreaterOrEqual(t, got*3, least*2, "the next step is at most twice as long, and 1.5 times above 4: %d for %d", got, least)
	}
	assert.Equal(t, Encode(1), Encode(-3))
	assert.Equal(t, Longest, Decode(^uint32(0)))
	assert.Equal(t, 1, Decode(0))
	assert.Equal(t, 1, Decode(0xfffffffe))
}

// TestPacer: after enough commits the requested interval is the formula's, and failures shorten it.
func TestPacer(t *testing.T) {
	const turn = 102 * mono.Millisecond
	now := mono.Time(0).Add(Day)
	p := New(0, now)
	assert.Equal(t, 1, p.Points(now), "nothing measured")
	p.Committed(mono.Second, 1, mono.Second)
	assert.False(t, p.Measured(), "the first one is no measure")
	for range 50 {
		now = now.Add(turn)
		p.Committed(100*mono.Millisecond, 10, 2*mono.Millisecond)
	}
	calm := Interval(2*mono.Millisecond, Hour+50*turn)
	assert.Equal(t, int(calm/(10*mono.Millisecond)), p.Points(now))
	p.Failed(99)
	p.Resumed()
	now = now.Add(mono.Second)
	p.Committed(mono.Second, 1, mono.Second)
	assert.Equal(t, MTBF(50*turn+mono.Second, Hour, 99), p.MTBF(now), "also time that was lost")
	assert.InEpsilon(t, float64(calm)/10, float64(p.Interval(now)), 0.02, "failures a hundred times as often: a tenth")
	p.Committed(mono.Second, 1, 2*mono.Second)
	assert.Less(t, p.cost, mono.Second, "one slow commit does not decide")
	assert.Equal(t, Longest, (&Pacer{prior: Hour, cost: 1}).Points(0), "points that take no time")
	assert.Equal(t, 1, (&Pacer{prior: Hour, cost: 1, point: Day}).Points(0))
}
