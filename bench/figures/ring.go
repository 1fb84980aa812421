package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

const year = 365.25 * 24 * 3600 // seconds

func floorLog2(n int) int { return bits.Len(uint(n)) - 1 }

// stabilisation is Theorem 1 of RR-9024, in seconds: after at most f overlapping deaths
// among n processes the ring is stable again within it.
func stabilisation(n, f int, timeout, tau float64) float64 {
	ff := float64(f)
	return ff*(ff+1)*timeout + ff*tau + ff*(ff+1)/2*8*tau*math.Log2(float64(n))
}

// bound is Theorem 1 for a setting.
func (s setting) bound(n, f int) mono.Duration {
	return mono.Duration(stabilisation(n, f, float64(s.timeout), float64(s.tau)))
}

// risk returns the probability that more than f deaths strike within t, at a rate.
func risk(f int, rate, t float64) float64 {
	// 1 - P(at most f), summed from above, where it is small: no cancellation.
	x, sum := rate*t, 0.0
	if x > float64(f+1) {
		return 1 // at least a half
	}
	for k := f + 1; k < f+200; k++ {
		lg, _ := math.Lgamma(float64(k + 1))
		sum += math.Exp(float64(k)*math.Log(x) - x - lg)
	}
	return min(1, sum)
}

// timeoutLimit returns the largest timeout at which more than f deaths within T(f) have
// a probability below 1e-9 (RR-9024, §3.3).
func timeoutLimit(n, f int, mtbf float64) float64 {
	lo, hi := 1e-6, 1e9
	for range 200 {
		mid := math.Sqrt(lo * hi)
		if risk(f, float64(n)/mtbf, stabilisation(n, f, mid, 1e-6)) < 1e-9 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// riskFigure is Figure 3.
func riskFigure(run) []*figure {
	f := &figure{id: "ring3", title: "RR-9024, Fig. 3: longest timeout with a risk below 1e-9", xLabel: "nodes", yLabel: "timeout [s]", logX: true, logY: true}
	limits := map[int]float64{}
	for _, years := range []int{20, 45, 100} {
		s := f.add(fmt.Sprintf("MTBF of a node %d years", years), true)
		for n := 1000; n <= 256000; n *= 2 {
			s.at(float64(n), timeoutLimit(n, floorLog2(n)-1, float64(years)*year))
		}
		limits[years] = timeoutLimit(256000, floorLog2(256000)-1, float64(years)*year)
	}
	loose := map[int]float64{}
	for _, years := range []int{20, 45} {
		loose[years] = timeoutLimit(256000, floorLog2(256000), float64(years)*year)
	}
	f.stated("22 s (20 years), 60 s (45 years)", []float64{256000, 256000}, []float64{22, 60})
	for _, v := range []struct{ years, stated int }{{20, 22}, {45, 60}} {
		years, stated := v.years, float64(v.stated)
		state := f.of
		if years == 45 {
			state = f.but // T(f) is all but proportional to T, so the limit is to the MTBF
		}
		state(values{limits[years], loose[years]}, func(v []float64) bool { return near(v[0], stated, 0.03) },
			fmt.Sprintf("limit of T, 256,000 nodes, MTBF %d years", years), fmt.Sprintf("%.0f s (RR-9024 §3.3)", stated),
			"%.1f s with M = ⌊log2 n⌋-1 (§3.3), %.1f s with M = ⌊log2 n⌋ (caption)")
	}
	return []*figure{f}
}

// sizes are those of Figures 4 and 5.
func (r run) sizes() []int {
	if r.quick {
		return []int{1000, 4000, 16000}
	}
	return []int{1000, 4000, 16000, 64000, 256000}
}

// runsFor keeps the work for each size about the same.
func (r run) runsFor(n int) int {
	if r.quick {
		return max(4, 60_000/n)
	}
	return max(8, 500_000/n)
}

// An outcome is the mean of many runs: seconds from the first death.
type outcome struct {
	first, all, deaths float64
	overBound          float64 // the greatest share of T(f)
	runs               int
}

// stabilise plays runs in which plan kills, and takes the means.
func (r run) stabilise(s setting, n, runs int, plan func(w *world, rng *rand.Rand, from mono.Time)) outcome {
	var o outcome
	for i := range runs {
		seed := r.seedOf(uint64(n)<<20 + uint64(i))
		w, rng := newWorld(s, n, seed), rand.New(rand.NewPCG(seed, 4))
		from := mono.Time(10*s.timeout) + mono.Time(rng.Int64N(int64(s.period)))
		plan(w, rng, from)
		w.runUntilSettled(from.Add(10000 * s.timeout))
		var first, last mono.Duration
		overlapping := 0
		for i, d := range w.deaths {
			took := d.known.Sub(w.deaths[0].at)
			if i == 0 {
				first = took
			}
			last = max(last, took)
			overlapping++
		}
		o.first += seconds(first) / float64(runs)
		o.all += seconds(last) / float64(runs)
		o.deaths += float64(overlapping) / float64(runs)
		o.overBound = max(o.overBound, float64(last)/float64(s.bound(n, overlapping)))
		if w.unheard > 0 {
			panic(fmt.Sprintf("seed %d: %d survivors unheard", seed, w.unheard))
		}
	}
	o.runs = runs
	return o
}

func seconds(d mono.Duration) float64 { return float64(d) / float64(mono.Second) }

// volatileFigures are Figure 4a and 4b: the most deaths that the theorem allows, within
// less than a timeout.
func volatileFigures(r run) []*figure {
	return []*figure{r.volatile("ring4a", lowNoise, 55), r.volatile("ring4b", lowLat, 0.95)}
}

func (r run) volatile(id string, s setting, stated float64) *figure {
	f := &figure{id: id, title: "RR-9024, Fig. 4, " + s.name + ": ⌊log2 n⌋-1 deaths within a timeout", xLabel: "nodes", yLabel: "seconds after the first death", logX: true}
	first, all := f.add("all know the first", true), f.add("all know all", true)
	worst, runs := 0.0, 0
	for _, n := range r.sizes() {
		o := r.stabilise(s, n, r.runsFor(n), func(w *world, rng *rand.Rand, from mono.Time) {
			victims := distinct(rng, n, floorLog2(n)-1)
			for i, v := range victims {
				at := from
				if i > 0 {
					at = at.Add(mono.Duration(rng.Int64N(int64(s.timeout))))
				}
				w.kill(v, at)
			}
		})
		first.at(float64(n), o.first)
		all.at(float64(n), o.all)
		worst, runs = max(worst, o.overBound), runs+o.runs
	}
	ends := []float64{first.x[0], first.x[len(first.x)-1]}
	f.stated("T-P/2, the first", ends, []float64{stated, stated})
	f.of(values{mean(first.y), float64(runs)}, func(v []float64) bool { return near(v[0], stated, 0.03) },
		"all know the first death, "+s.name, fmt.Sprintf("T-P/2 = %g s, + O(1/n) (RR-9024 §4.2)", stated), "%.4g s (mean of %.0f runs)")
	grows := floorLog2(int(ends[1])) * 100 / floorLog2(int(ends[0]))
	f.of(values{all.y[0], all.last(), all.last() / all.y[0]}, func(v []float64) bool { return v[0] > first.y[0] && v[2] <= float64(grows)/100 },
		"all know all deaths, "+s.name, fmt.Sprintf("O(1/n + ⌊log2 n⌋), so at most %.2f times from %.0f to %.0f (RR-9024 §4.2)", float64(grows)/100, ends[0], ends[1]), "%.4g s to %.4g s, %.2f times")
	f.of(values{worst}, func(v []float64) bool { return 0 < v[0] && v[0] <= 1 },
		"share of the bound T(f) that was needed, "+s.name, "never above 1 (RR-9024, Theorem 1)", "at most %.4f")
	return f
}

func distinct(rng *rand.Rand, n, count int) []int {
	var out []int
	seen := map[int]bool{}
	for len(out) < count {
		if v := rng.IntN(n); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

func mean(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// poissonFigure is Figure 5: deaths at random, with an MTBF of a node of one year.
// The first strikes at time 0; those that strike before the ring is stable count.
func poissonFigure(r run) []*figure {
	f := &figure{id: "ring5", title: "RR-9024, Fig. 5: random overlapping deaths, MTBF 1 year, LOWNOISE", xLabel: "nodes", yLabel: "seconds after the first death", logX: true}
	first, all := f.add("all know the first", true), f.add("all know all", true)
	deaths := f.add("deaths (x 10)", true)
	more := 0.0 // how much longer it takes for each further death, at the largest size
	for _, n := range r.sizes() {
		single, several, further, multiple := 0.0, 0.0, 0.0, 0
		runs := max(60, r.runsFor(n))
		for i := range runs {
			o := r.stabilise(lowNoise, n, 1, func(w *world, rng *rand.Rand, from mono.Time) {
				rng = rand.New(rand.NewPCG(r.seedOf(uint64(n)), uint64(i)))
				w.seed = r.seedOf(uint64(n)<<20 + uint64(i) + 7)
				w.poisson(rng, from, year/float64(n))
			})
			first.addTo(float64(n), o.first/float64(runs))
			all.addTo(float64(n), o.all/float64(runs))
			deaths.addTo(float64(n), 10*o.deaths/float64(runs))
			if o.deaths > 1.5 {
				several += o.all
				further += o.deaths - 1
				multiple++
			} else {
				single += o.all
			}
		}
		if multiple > 0 && multiple < runs {
			more = (several - float64(multiple)*single/float64(runs-multiple)) / further
		}
	}
	f.of(values{first.y[0], first.last()}, func(v []float64) bool { return near(v[1], v[0], 0.08) },
		"overlapping deaths: all know the first, 1,000 to "+fmt.Sprint(int(first.x[len(first.x)-1])), "O(1) (RR-9024 §4.2)", "%.1f s to %.1f s")
	for _, s := range []struct {
		what, unit string
		values     []float64
	}{{"all know all", "s", all.y}, {"mean number of deaths", "(x 10)", deaths.y}} {
		f.of(values{linearFit(first.x, s.values), s.values[0], s.values[len(s.values)-1]}, func(v []float64) bool { return v[0] > 0.95 && v[2] > v[1] },
			"overlapping deaths: "+s.what, "O(n) (RR-9024 §4.2)", "a linear fit has R² = %.3f; %.1f to %.1f "+s.unit)
	}
	f.of(values{more}, func(v []float64) bool { return near(v[0], 30, 0.25) },
		"each further overlapping death, largest size", "adds about T/2 = 30 s (RR-9024 §4.2)", "%.1f s (of 60 runs, those with several deaths)")
	return []*figure{f}
}

// addTo adds to the value at x, which is the last.
func (s *series) addTo(x, y float64) {
	if len(s.x) == 0 || s.x[len(s.x)-1] != x {
		s.at(x, 0)
	}
	s.y[len(s.y)-1] += y
}

// poisson kills at a rate until a timeout and a period have passed without a death:
// then the ring is stable.
func (w *world) poisson(rng *rand.Rand, at mono.Time, mtbf float64) {
	seen := map[int]bool{}
	for {
		v := rng.IntN(w.n)
		if !seen[v] {
			seen[v] = true
			w.kill(v, at)
		}
		wait := mono.Duration(rng.ExpFloat64() * mtbf * float64(mono.Second))
		if wait > w.timeout {
			return
		}
		at = at.Add(wait)
	}
}

// phaseFigure is Figure 10, left: 1 to 8 random deaths at once, with heartbeats in phase
// and at random phases.
func phaseFigure(r run) []*figure {
	s := setting{name: "P 0.1 s, T 1 s", period: 100 * mono.Millisecond, timeout: mono.Second, tau: 20 * mono.Microsecond}
	f := &figure{id: "ring10left", title: "RR-9024, Fig. 10 left: 1 to 8 deaths at once, T = 1 s, P = 0.1 s", xLabel: "deaths", yLabel: "seconds until stable"}
	for _, inPhase := range []bool{true, false} {
		s.inPhase = inPhase
		name := "random phases"
		if inPhase {
			name = "heartbeats in phase, deaths just after one"
		}
		curve := f.add(name, true)
		for deaths := 1; deaths <= 8; deaths++ {
			o := r.stabilise(s, 1024, 60, func(w *world, rng *rand.Rand, from mono.Time) {
				if inPhase {
					from = mono.Time(10 * s.timeout).Add(s.tau) // all leave MPI_Init together, and the deaths follow
				}
				for _, v := range distinct(rng, 1024, deaths) {
					w.kill(v, from)
				}
			})
			curve.at(float64(deaths), o.all)
		}
	}
	f.stated("T", []float64{1, 8}, []float64{1, 1})
	f.stated("T-P/2", []float64{1, 8}, []float64{0.95, 0.95})
	phased, random := f.series[0], f.series[1]
	f.of(values{phased.y[0], phased.last()}, func(v []float64) bool { return near(v[0], 1, 0.001) },
		"stable after a random death, heartbeats in phase", "T (RR-9024 §5.5)", "%.4f T; %.3f T on average after 8, of which two are sometimes neighbours")
	f.of(values{random.y[0], random.last()}, func(v []float64) bool { return near(v[0], 0.95, 0.02) },
		"stable after a random death, random phases", "towards T-P/2 = 0.95 T (RR-9024 §5.5)", "%.3f T for one death, %.3f T on average for the last of 8")
	return []*figure{f}
}

// scaleFigure is a run of 256,000 processes with 1,000 deaths, most of them in bursts of 64
// neighbours, like the failure of a rack.
func scaleFigure(r run) []*figure {
	f := &figure{id: "scale", title: "one run: 1,000 deaths in bursts of 64 and alone, LOWLAT", xLabel: "nodes", yLabel: "notice until all know [us]", logX: true}
	curve := f.add("mean over the notices", true)
	bound := f.add("B(n) = 8 τ log2 n (RR-9024, §3.1.2)", true)
	for _, n := range r.sizes() {
		deaths := min(1000, n/8)
		w := r.rack(n, deaths)
		var spread, worst float64
		slowest := mono.Duration(0)
		late := 0
		for _, d := range w.deaths {
			spread += float64(d.spread) / float64(mono.Microsecond) / float64(deaths)
			worst = max(worst, float64(d.spread)/float64(mono.Microsecond))
			slowest = max(slowest, d.known.Sub(d.at))
			if d.known == 0 {
				late++
			}
		}
		curve.at(float64(n), spread)
		bound.at(float64(n), 8*math.Log2(float64(n)))
		if n == r.sizes()[len(r.sizes())-1] {
			limit := lowLat.tau + 7*(lowLat.period+lowLat.timeout) + 200*lowLat.tau
			f.of(values{seconds(slowest), seconds(limit), float64(late + w.unheard)}, func(v []float64) bool { return v[2] == 0 && 0 < v[0] && v[0] <= v[1] },
				fmt.Sprintf("one run: %d nodes, %d deaths, the slowest of a burst of 64", n, deaths),
				fmt.Sprintf("(none: Theorem 1 of RR-9024 ends at %d deaths)", floorLog2(n)-1), "%.2f s; own bound for 64 side by side (B9) %.2f s; %.0f survivors were not informed")
			f.of(values{worst}, func(v []float64) bool { return 0 < v[0] && v[0] <= 8*math.Log2(float64(n)) },
				"one run: slowest notice", fmt.Sprintf("at most B(n) = 8 τ log2 n = %.0f us (RR-9024 §3.1.2)", 8*math.Log2(float64(n))), "%.1f us")
			f.of(values{w.bytesPerNode, float64(w.hotMax), float64(w.floods), float64(w.sent)}, func(v []float64) bool { return v[0] <= 2048 },
				"one run: memory", "(none: own goal of 2 KiB a node)", "%.0f bytes a node; at most %.0f processes had a detector at one time; %.0f floods, %.0f notices")
		}
	}
	var shares []float64
	for i, x := range curve.x {
		shares = append(shares, curve.y[i]/math.Log2(x))
	}
	f.of(values{slices.Min(shares), slices.Max(shares)}, func(v []float64) bool { return v[1] <= 1 && v[1]/v[0] < 1.2 },
		"one run: growth of the time of a notice", "τ log2 n (RR-9024 §4.2)", "%.2f to %.2f times τ log2 n")
	return []*figure{f}
}

// rack plays deaths in bursts of 64 neighbours (three quarters of them) and alone.
func (r run) rack(n, deaths int) *world {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := newWorld(lowLat, n, r.seedOf(5))
	rng := rand.New(rand.NewPCG(r.seedOf(5), uint64(n)))
	at := mono.Time(10 * lowLat.timeout)
	seen := map[int]bool{}
	for left := deaths; left > 0; {
		burst := 1
		if left > deaths/4 {
			burst = min(64, left)
		}
		first := rng.IntN(n)
		for i := range burst {
			if v := (first + i) % n; !seen[v] {
				seen[v] = true
				left--
				w.kill(v, at)
			}
		}
		if burst > 1 || left%16 == 0 {
			at = at.Add(8*lowLat.timeout + mono.Duration(rng.Int64N(int64(lowLat.period))))
		}
		w.run(at.Add(-lowLat.period))
		runtime.ReadMemStats(&now)
		w.bytesPerNode = max(w.bytesPerNode, float64(now.HeapAlloc-before.HeapAlloc)/float64(n))
	}
	w.run(at.Add(20 * lowLat.timeout))
	return w
}

// logFit fits y = a·log2 x + b, and returns the quality of the fit.
func logFit(x, y []float64) (a, b, r2 float64) {
	var sx, sy, sxx, sxy, syy float64
	k := float64(len(x))
	for i := range x {
		l := math.Log2(x[i])
		sx, sy, sxx, sxy, syy = sx+l, sy+y[i], sxx+l*l, sxy+l*y[i], syy+y[i]*y[i]
	}
	a = (k*sxy - sx*sy) / (k*sxx - sx*sx)
	b = (sy - a*sx) / k
	rest := syy - b*sy - a*sxy
	return a, b, 1 - rest/(syy-sy*sy/k)
}

// linearFit returns how well y = a·x + b fits.
func linearFit(x, y []float64) (r2 float64) {
	powers := make([]float64, len(x))
	for i := range x {
		powers[i] = math.Exp2(x[i] / x[len(x)-1]) // so that logFit sees x itself, scaled
	}
	_, _, r2 = logFit(powers, y)
	return r2
}
