package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPaperPeriods: Bouteiller and Desprez (section 7.2) report a period of 9.8 s for the network
// parameters that their detector measured, without the values: a loss of 1 % and a variance of 0.01
// s² give this period. The parameters that their detector starts with give 9.72 s, and a network
// without loss 29.7 s.
func TestPaperPeriods(t *testing.T) {
	asked := QoS{Detection: 30 * Second, Recurrence: 30 * Day, Duration: 60 * Second}
	for _, c := range []struct {
		name  string
		n     Network
		beats int
		want  float64
	}{
		{"1 % and 0.02 s²", Network{Loss: 0.01, Variance: 0.02}, 3, 9.72},
		{"1 % and 0.01 s²", Network{Loss: 0.01, Variance: 0.01}, 3, 9.80},
		{"no loss, one beat is enough", Network{Variance: 1e-6}, 1, 29.70},
		{"no loss, three beats", Network{Variance: 1e-6}, 3, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ok := Configure(c.n, asked, Limits{Confirm: Unconfirmed, Beats: c.beats})
			assert.True(t, ok)
			assert.InDelta(t, c.want, s.Period.Seconds(), 0.005)
			assert.Equal(t, 30*Second, s.Period+s.Shift)
		})
	}
}

func randomNetwork(rng *rand.Rand) Network {
	return Network{
		Loss:      math.Pow(10, -4*rng.Float64()) / 4,
		LossAgain: rng.Float64() / 2,
		Variance:  math.Pow(10, -6+5*rng.Float64()),
		RTT:       Duration(rng.Int64N(int64(300 * Millisecond))),
	}
}

func randomQoS(rng *rand.Rand) QoS {
	return QoS{
		Detection:  Duration(200+rng.IntN(30_000)) * Millisecond,
		Recurrence: fromSeconds(math.Pow(10, 1+6*rng.Float64())),
		Duration:   fromSeconds(math.Pow(10, -1+3*rng.Float64())),
	}
}

// TestConfigureIsLongest compares with the plainest search: all periods in steps of 0.1 %.
func TestConfigureIsLongest(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, q := randomNetwork(rng), randomQoS(rng)
		l := Limits{Beats: 1 + rng.IntN(4)}
		got, ok := Configure(n, q, l)
		l = l.WithDefaults(q)
		m := newModel(n, q, l)
		want, found := l.PeriodMin.Seconds(), false
		for eta := m.etaMax; eta >= l.PeriodMin.Seconds() && m.inTime; eta *= 0.999 {
			if m.recurrence(eta, math.Inf(1)) >= q.Recurrence.Seconds() {
				want, found = eta, true
				break
			}
		}
		if found {
			require.True(t, ok, "seed %d", seed)
			assert.GreaterOrEqual(t, got.Period.Seconds(), want*0.999-2e-6, "seed %d", seed)
			assert.GreaterOrEqual(t, m.recurrence(got.Period.Seconds(), math.Inf(1)), q.Recurrence.Seconds()*0.9999, "seed %d", seed)
			assert.LessOrEqual(t, got.Period.Seconds(), m.etaMax, "seed %d", seed)
		} else if ok { // a narrow place between two steps
			assert.Less(t, got.Period.Seconds(), m.etaMax, "seed %d", seed)
			assert.GreaterOrEqual(t, m.recurrence(got.Period.Seconds(), math.Inf(1)), q.Recurrence.Seconds()*0.9999, "seed %d", seed)
		}
	}
}

// TestUnattainable: an unattainable quality is reported, and the shortest period is used.
func TestUnattainable(t *testing.T) {
	for name, n := range map[string]Network{
		"loss":       {Loss: 0.999, Variance: 0.01},
		"bursts":     {Loss: 0.01, LossAgain: 0.999999, Variance: 0.01},
		"variance":   {Loss: 0.01, Variance: 1e6},
		"round trip": {Loss: 0.01, Variance: 0.01, RTT: 29 * Second},
	} {
		s, ok := Configure(n, QoS{}, Limits{})
		assert.False(t, ok, name)
		assert.Equal(t, 10*Millisecond, s.Period, name)
	}
}

func exponential(loss, mean float64) Delays {
	return Delays{Loss: loss, Mean: fromSeconds(mean), Beyond: func(x float64) float64 { return math.Exp(-x / mean) }}
}

// TestBoundIsBelowExact: the bound of the configurator, which does not know the distribution, is
// never better than the result of theorem 5 for a known distribution.
func TestBoundIsBelowExact(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		mean := 0.01 + rng.Float64()/10
		n := Network{Loss: 0.001 + rng.Float64()/5, Variance: mean * mean}
		q := randomQoS(rng)
		s, ok := Configure(n, q, Limits{Confirm: Unconfirmed})
		if !ok || s.Period < fromSeconds(mean) { // beats that overtake each other: theorem 5 sums over all, the bound over all, but slowly
			continue
		}
		exact := Predict(exponential(n.Loss, mean), s)
		assert.GreaterOrEqual(t, exact.Recurrence.Seconds(), q.Recurrence.Seconds()*0.999, "seed %d", seed)
		assert.LessOrEqual(t, exact.Duration.Seconds(), q.Duration.Seconds()*1.001, "seed %d", seed)
	}
}

// TestTheorem5: the values of the paper's setting, by hand.
func TestTheorem5(t *testing.T) {
	for _, c := range []struct{ detection, recurrence, duration float64 }{
		{1.5, 101.0, 0.53},
		{2, 101.0, 0.03},
	} {
		got := Predict(exponential(0.01, 0.02), nfdS(c.detection, 0.02))
		assert.InDelta(t, c.recurrence, got.Recurrence.Seconds(), 0.05)
		assert.InDelta(t, c.duration, got.Duration.Seconds(), 0.005)
	}
	sure := Predict(Delays{Mean: 0, Beyond: func(float64) float64 { return 0 }}, Setting{Period: Second, Shift: Second / 2})
	assert.Equal(t, DurationMax, sure.Recurrence)
}

// nfdS is the setting of the detector with known sending times that has η = 1 s: suspected
// at sending time + δ, so that α = δ - E(D).
func nfdS(detection, mean float64) Setting {
	return Setting{Period: Second, Shift: fromSeconds(detection - 1 - mean)}
}

// TestPredictAgainstSimulation: a detector with known sending times, simulated beat by beat.
func TestPredictAgainstSimulation(t *testing.T) {
	for _, detection := range []float64{1.5, 2} {
		const beats = 4_000_000
		rng := rand.New(rand.NewPCG(7, 7))
		mistakes, mistaken := simulateNFDS(rng, beats, detection-1, 0.01, 0.02)
		want := Predict(exponential(0.01, 0.02), nfdS(detection, 0.02))
		assert.InEpsilon(t, want.Recurrence.Seconds(), beats/mistakes, 0.03)
		assert.InEpsilon(t, want.Duration.Seconds(), mistaken/mistakes, 0.03)
	}
}

// simulateNFDS plays NFD-S with a period of 1 s. At i+δ the suspicion begins if no beat from i on
// has come, and lasts until such a beat comes.
func simulateNFDS(rng *rand.Rand, beats int, delta, loss, mean float64) (mistakes, mistaken float64) {
	arrival := make([]float64, beats+4)
	for i := range arrival {
		arrival[i] = math.Inf(1)
		if rng.Float64() >= loss {
			arrival[i] = float64(i) + rng.ExpFloat64()*mean
		}
	}
	suspecting := false
	for i := range beats {
		point := float64(i) + delta
		fresh := min(arrival[i], arrival[i+1], arrival[i+2], arrival[i+3])
		switch {
		case fresh > point:
			if !suspecting {
				mistakes++
			}
			mistaken += min(fresh, point+1) - point
			suspecting = fresh > point+1
		default:
			suspecting = false
		}
	}
	return mistakes, mistaken
}

// TestChecks: nonsensical values are refused, with an error that names them.
func TestChecks(t *testing.T) {
	assert.NoError(t, QoS{}.Check())
	assert.NoError(t, Limits{}.Check(QoS{}))
	for _, q := range []QoS{{Detection: 199 * Millisecond}, {Detection: 2 * Day}, {Recurrence: -1}, {Duration: -1}} {
		assert.ErrorIs(t, q.Check(), ErrQoS, "%+v", q)
	}
	for _, l := range []Limits{{PeriodMin: 1}, {PeriodMin: 16 * Second}, {Confirm: -2}, {Confirm: 16 * Second}, {Beats: -1}, {Beats: 65}} {
		assert.ErrorIs(t, l.Check(QoS{}), ErrQoS, "%+v", l)
	}
}
