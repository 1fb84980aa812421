package main

import (
	"math"
	"math/rand/v2"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// A trace is the fate of one beat a second on a network: when each arrives, or never.
type trace struct {
	name string
	make func(rng *rand.Rand, beats int) []beat
}

// beat is when one is sent and when it comes, in seconds of the observer's clock.
type beat struct{ sent, came float64 }

const sigma = 0.3 // of the logarithm of delays

func delayAround(rng *rand.Rand, mean float64) float64 {
	return mean * math.Exp(rng.NormFloat64()*sigma-sigma*sigma/2)
}

// lossy makes a trace of a loss and a delay that may depend on the time.
func lossy(loss float64, delay func(rng *rand.Rand, i int) float64) func(*rand.Rand, int) []beat {
	return func(rng *rand.Rand, beats int) []beat {
		out := make([]beat, beats)
		for i := range out {
			out[i] = beat{float64(i), float64(i) + delay(rng, i)}
			if rng.Float64() < loss {
				out[i].came = math.Inf(1)
			}
		}
		return out
	}
}

// traces are six networks. A day has 86,400 beats.
var traces = []trace{
	{"LAN", lossy(1e-4, func(rng *rand.Rand, _ int) float64 { return delayAround(rng, 2e-4) })},
	{"WAN", lossy(0.01, func(rng *rand.Rand, _ int) float64 { return delayAround(rng, 0.04) })},
	{"route", lossy(0.002, func(rng *rand.Rand, i int) float64 { // each hour the way is another one
		return delayAround(rng, 0.02+0.1*float64(i/3600%2))
	})},
	{"drift", func(rng *rand.Rand, beats int) []beat { // the emitter's clock is slower by 50 ppm
		out := lossy(0.002, func(rng *rand.Rand, _ int) float64 { return delayAround(rng, 0.01) })(rng, beats)
		for i := range out {
			late := 50e-6 * float64(i)
			out[i] = beat{out[i].sent + late, out[i].came + late}
		}
		return out
	}},
	{"congestion", lossy(0.01, func(rng *rand.Rand, i int) float64 { // a queue of up to a second, 5 minutes of each hour
		if i%3600 < 300 {
			return delayAround(rng, 0.04) + rng.Float64()
		}
		return delayAround(rng, 0.04)
	})},
	{"outages", func(rng *rand.Rand, beats int) []beat {
		out := lossy(0.001, func(rng *rand.Rand, _ int) float64 { return delayAround(rng, 0.02) })(rng, beats)
		for i := 0; i < beats; i += 300 + rng.IntN(600) {
			for j := i; j < min(beats, i+int(rng.ExpFloat64()*2)); j++ {
				out[j].came = math.Inf(1)
			}
		}
		return out
	}},
}

// A rival returns until when it trusts, after each beat that it has received. Its patience is set
// so that several times to detect are seen.
type rival struct {
	name string
	make func(patience float64) func(seq int, at float64) (until float64)
}

var rivals = []rival{
	{"fd/adaptive", func(patience float64) func(int, float64) float64 {
		var w adaptive.Watch
		w.Start(0, adaptive.QoS{Detection: seconds64(patience)}, adaptive.Limits{Confirm: adaptive.Unconfirmed})
		return func(seq int, at float64) float64 {
			w.Heard(adaptive.Time(seconds64(at)), adaptive.Beat{Seq: uint32(seq), Nominal: adaptive.Time(seq) * adaptive.Time(adaptive.Second), Period: adaptive.Second}, false)
			return adaptive.Duration(w.Freshness()).Seconds()
		}
	}},
	{"fixed timeout", func(patience float64) func(int, float64) float64 {
		return func(_ int, at float64) float64 { return at + patience }
	}},
	{"Jacobson", func(patience float64) func(int, float64) float64 { // as TCP does, of the time between arrivals
		mean, deviation, last := 1.0, 0.1, math.NaN()
		return func(_ int, at float64) float64 {
			if gap := at - last; !math.IsNaN(gap) {
				deviation += (math.Abs(gap-mean) - deviation) / 4
				mean += (gap - mean) / 8
			}
			last = at
			return at + mean + 4*deviation + patience - 1
		}
	}},
	{"phi accrual", func(patience float64) func(int, float64) float64 { // phi = 8 by the last 200 times between arrivals, and an acceptable pause
		var gaps [200]float64
		sum, squares, n, last := 0.0, 0.0, 0, math.NaN()
		return func(_ int, at float64) float64 {
			if gap := at - last; !math.IsNaN(gap) {
				old := &gaps[n%len(gaps)]
				sum, squares = sum+gap-*old, squares+gap*gap-*old**old
				*old = gap
				n++
			}
			last = at
			count := float64(max(1, min(n, len(gaps))))
			mean := sum / count
			deviation := math.Sqrt(max(squares/count-mean*mean, 1e-4))
			const phi8 = 5.6 // deviations beyond which a normal distribution has 1e-8
			return at + mean + deviation*phi8 + patience - 1
		}
	}},
}

// rivalFigures draws, for each trace, how many mistakes a day each detector makes against the mean
// time to detect a crash. This is a comparison, not a claim of a paper. No detector should be
// slower than the best of the others by more than a step of the patience, each with the patience
// that turns out to be right.
func rivalFigures(r run) (all []*figure) {
	days := 3
	if r.quick {
		days = 1
	}
	for k, tr := range traces {
		f := &figure{id: "rivals-" + tr.name, title: "mistakes a day against the time to detect, a beat each second: " + tr.name, xLabel: "mean time to detect [s]", yLabel: "mistakes a day"}
		arrivals := tr.make(rand.New(rand.NewPCG(r.seedOf(uint64(k)), 31)), days*86400)
		for _, rv := range rivals {
			s := f.add(rv.name, true)
			for patience := 1.05; patience <= 8; patience += 0.05 {
				detect, mistakes := play(arrivals, rv.make(patience))
				s.at(detect, float64(mistakes)/float64(days))
			}
		}
		times := make([]float64, len(f.series))
		for i, s := range f.series {
			times[i] = s.soonest(1)
		}
		judge := f.claim
		if tr.name == "outages" {
			judge = f.differs // a detector that remembers long gaps is patient for a while after one
		}
		judge(times[0] <= min(times[1], times[2], times[3])+0.06, "time to detect with at most one mistake a day: "+tr.name, "(no paper's)",
			"%.2f s; fixed timeout %.2f, Jacobson %.2f, phi accrual with a pause %.2f", times[0], times[1], times[2], times[3])
		all = append(all, f)
	}
	return all
}

// soonest returns the least mean time to detect with so many mistakes a day at most.
func (s *series) soonest(mistakes float64) float64 {
	least := math.Inf(1)
	for i := range s.x {
		if s.y[i] <= mistakes {
			least = min(least, s.x[i])
		}
	}
	return least
}

// play returns the mean time from a crash just after a beat to the suspicion, and how often a
// living process was suspected.
func play(beats []beat, heard func(seq int, at float64) float64) (detect float64, mistakes int) {
	until, sum, count := math.Inf(1), 0.0, 0
	for seq, b := range beats {
		if math.IsInf(b.came, 1) {
			continue
		}
		if b.came > until {
			mistakes++
		}
		until = heard(seq, b.came)
		sum += until - b.sent
		count++
	}
	return sum / float64(count), mistakes
}
