package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// delayLaws are networks by the distribution of their delay, in seconds, of a mean.
var delayLaws = []struct {
	name string
	draw func(rng *rand.Rand, mean float64) float64
}{
	{"exponential", func(rng *rand.Rand, mean float64) float64 { return mean * rng.ExpFloat64() }},
	{"lognormal", func(rng *rand.Rand, mean float64) float64 { return mean * math.Exp(rng.NormFloat64()*0.8-0.32) }},
	{"Pareto 2.5", func(rng *rand.Rand, mean float64) float64 { return mean * 0.6 * math.Pow(rng.Float64(), -1/2.5) }},
	{"bimodal", func(rng *rand.Rand, mean float64) float64 {
		if rng.IntN(20) == 0 {
			return 10 * mean
		}
		return 0.53 * mean
	}},
}

// TestCrashIsDeclaredInTime: on every network, with any offset of the clocks, at any time of the
// death and for any requested quality, a dead process is declared within QoS.Detection.
func TestCrashIsDeclaredInTime(t *testing.T) {
	for _, law := range delayLaws {
		t.Run(law.name, func(t *testing.T) {
			late, worst := 0, 0.0
			const runs = 300
			for seed := range uint64(runs) {
				share := crash(t, law.draw, rand.New(rand.NewPCG(seed, 4)))
				worst = max(worst, share)
				if share > 1 {
					late++
					t.Logf("seed %d: %.4f of the detection time", seed, share)
				}
			}
			t.Logf("at worst %.4f of the detection time", worst)
			assert.Zero(t, late)
		})
	}
}

// crash plays one crash, and returns the share of the detection time that was used.
func crash(t *testing.T, draw func(*rand.Rand, float64) float64, rng *rand.Rand) float64 {
	t.Helper()
	w := newWorld(1)
	q := QoS{Detection: Duration(500+rng.IntN(20_000)) * Millisecond, Recurrence: fromSeconds(100 * math.Pow(10, 3*rng.Float64()))}
	mean := q.Detection.Seconds() / 20 * rng.Float64()
	w.flaky(rng, rng.Float64()*0.1, func(rng *rand.Rand) float64 { return draw(rng, mean) })
	p := w.emitters[0]
	p.offset = Duration(rng.Int64N(int64(4000*Second))) - 2000*Second
	w.observe(Observe{Peer: 0, QoS: q})
	w.run(Time(q.Detection) + Time(rng.Int64N(int64(100*q.Detection))))
	if p.declared {
		return 0 // a mistake: another test counts these
	}
	p.dead = true
	died := w.now
	w.run(died.Add(2 * q.Detection))
	require.True(t, p.declared)
	return p.declaredAt.Sub(died).Seconds() / q.Detection.Seconds()
}

// TestPromisedMistakes: with losses and delays of all kinds, wrong suspicions are no more frequent
// and no longer than requested, wherever that is reported as attainable.
func TestPromisedMistakes(t *testing.T) {
	for _, law := range delayLaws {
		t.Run(law.name, func(t *testing.T) {
			mistakes, expected, mistaken, attainable := 0, 0.0, Duration(0), 0
			for seed := range uint64(40) {
				rng := rand.New(rand.NewPCG(seed, 5))
				q := QoS{Detection: Duration(1000+rng.IntN(4000)) * Millisecond, Recurrence: Duration(60+rng.IntN(540)) * Second, Duration: 2 * Second}
				mean := q.Detection.Seconds() / 200 * rng.Float64()
				loss := 0.05 * rng.Float64()
				w := newWorld(1)
				w.flaky(rng, loss, func(rng *rand.Rand) float64 { return law.draw(rng, mean) })
				w.observe(Observe{Peer: 0, QoS: q, Limits: Limits{Confirm: Unconfirmed}})
				w.run(Time(q.Detection) * 100)
				if !w.observer.Watch(0).Quality().Attainable {
					continue
				}
				attainable++
				p := w.emitters[0]
				p.mistakes, p.mistaken = 0, 0
				w.run(w.now.Add(20 * q.Recurrence))
				mistakes, mistaken, expected = mistakes+p.mistakes, mistaken+p.mistaken, expected+20
			}
			t.Logf("%d of at most %.0f mistakes, %d networks", mistakes, expected, attainable)
			assert.Greater(t, attainable, 30)
			assert.LessOrEqual(t, float64(mistakes), expected+1.7*math.Sqrt(expected))
			assert.LessOrEqual(t, mistaken, Duration(mistakes)*2*Second)
		})
	}
}

// TestBurstsAreSeen: losses in bursts lead to shorter periods than as many alone.
func TestBurstsAreSeen(t *testing.T) {
	wanted := func(burst int) Duration {
		var w Watch
		w.Start(0, QoS{Detection: 3 * Second}, Limits{})
		rng := rand.New(rand.NewPCG(1, 2))
		at := Time(0)
		for seq := uint32(0); seq < 8000; seq++ {
			at = at.Add(w.Wanted())
			if rng.IntN(100*burst) == 0 {
				at = at.Add(Duration(burst) * w.Wanted())
				seq += uint32(burst)
			}
			w.Heard(at, Beat{Seq: seq, Nominal: at, Period: w.Wanted()}, false)
		}
		return w.Wanted()
	}
	assert.Less(t, wanted(4), wanted(1)*8/10)
}

// TestLostAdjustsSeparateNobody: after any losses, once a message gets through in each direction
// both sides have the same period, and each beat carries the period in force.
func TestLostAdjustsSeparateNobody(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 6))
		w := newWorld(1)
		loss := 0.0
		w.lost = func() bool { return rng.Float64() < loss }
		w.delay = func() Duration { return Duration(rng.Int64N(int64(50 * Millisecond))) }
		w.observe(Observe{Peer: 0, QoS: QoS{Detection: 2 * Second, Recurrence: 3600 * Second}, Limits: Limits{Confirm: Unconfirmed}})
		for range 20 {
			loss = []float64{0, 0.02, 0.2, 0.6, 0.9}[rng.IntN(5)]
			w.run(w.now.Add(Duration(rng.IntN(60)) * Second))
		}
		loss = 0
		p := w.observer.peer(0)
		w.run(max(w.now, p.renew).Add(Second)) // a renewal, had the beats ended
		var agreed bool
		for range 100 {
			w.run(w.now.Add(100 * Millisecond))
			s := w.emitters[0].stream(0)
			agreed = agreed || s.epoch == p.epoch && s.period == p.Wanted() && p.Period() == s.period
		}
		require.True(t, agreed, "seed %d", seed)
		require.Positive(t, p.epoch, "seed %d: there was something to agree about", seed)
	}
}

// TestStoppedObserverKeepsItsPeriod: a minute's stop of this process is no property of the network
// (B17).
func TestStoppedObserverKeepsItsPeriod(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 8))
		w := newWorld(3)
		w.flaky(rng, 0, func(rng *rand.Rand) float64 { return 0.01 * rng.Float64() })
		for i := range 3 {
			w.observe(Observe{Peer: i, QoS: QoS{Detection: Duration(3+3*i) * Second}})
		}
		w.run(Time(600 * Second))
		for range 5 {
			var before [3]Duration
			for i := range before {
				before[i] = w.observer.Watch(i).Wanted()
			}
			w.pause = true
			w.run(w.now.Add(Duration(1+rng.IntN(60)) * Second))
			w.resume()
			w.run(w.now.Add(60 * Second))
			for i, was := range before {
				assert.GreaterOrEqual(t, w.observer.Watch(i).Wanted(), was-was/10, "seed %d, peer %d", seed, i)
				assert.False(t, w.emitters[i].declared, "seed %d, peer %d", seed, i)
			}
		}
	}
}

// TestOldStream: beats of an earlier observation are dropped.
func TestOldStream(t *testing.T) {
	var o Observer
	o.Step(Observe{Peer: 7})
	old := o.Stream(7)
	o.Step(Observe{Peer: 7})
	assert.NotEqual(t, old, o.Stream(7))
	assert.Equal(t, 7, PeerOf(old))
	assert.Equal(t, 7, PeerOf(o.Stream(7)))
	o.Step(Heard{Peer: 7, At: 1, Beat: Beat{Stream: old, Period: Second}})
	assert.False(t, o.Watch(7).beaten)
	o.Step(Heard{Peer: 7, At: 1, Beat: Beat{Stream: o.Stream(7), Period: Second}})
	assert.True(t, o.Watch(7).beaten)
}

// TestDeclaredOnce: after a declaration no action names the peer, after any event.
func TestDeclaredOnce(t *testing.T) {
	var o Observer
	o.Step(Observe{Peer: 0})
	stream := o.Stream(0)
	acts := o.Step(Refused{Peer: 0, At: 5})
	assert.Equal(t, []Action{Declare{Peer: 0, Evidence: ByRefusal}}, acts)
	for _, ev := range []Event{
		Refused{Peer: 0}, Broken{Peer: 0}, Left{Peer: 0}, Answered{Peer: 0}, Forget{Peer: 0},
		Heard{Peer: 0, Beat: Beat{Stream: stream, Period: Second}}, Tick{Now: Time(Day)},
	} {
		assert.Empty(t, o.Step(ev), "%T", ev)
	}
	_, ok := o.Deadline()
	assert.False(t, ok)
}

// TestTickMovesDeadline: after a Tick the next deadline is later, so a loop that obeys ends.
func TestTickMovesDeadline(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var o Observer
		now := Time(0)
		for i := range 40 {
			o.Step(Observe{Peer: i, At: now, QoS: QoS{Detection: Duration(200+rng.IntN(10_000)) * Millisecond}})
		}
		for range 400 {
			at, ok := o.Deadline()
			if !ok {
				break
			}
			now = max(now, at).Add(Duration(rng.Int64N(int64(100 * Millisecond))))
			o.Step(Tick{Now: now})
			if at, ok := o.Deadline(); ok {
				require.Greater(t, at, now, "seed %d", seed)
			}
			i := rng.IntN(40)
			o.Step(Heard{Peer: i, At: now, Beat: Beat{Stream: o.Stream(i), Seq: uint32(now), Nominal: now, Period: Second}})
		}
	}
}

// TestMemoryOfThePaper: the rules for 1,024 observed processes take at most half of the 708 bytes
// each that the paper measured. Those of a whole process are measured in package gridrpc.
func TestMemoryOfThePaper(t *testing.T) {
	for _, n := range []int{1024, PeersMax} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		o := &Observer{}
		for i := range n {
			o.Step(Observe{Peer: i})
		}
		o.out = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		perPeer := float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
		t.Logf("%d observed: %.0f bytes each", n, perPeer)
		assert.LessOrEqual(t, perPeer, 354.0, "half of the 708 bytes of the paper")
		runtime.KeepAlive(o)
	}
}

// TestBeatAllocatesNothing: an observer handles beats all day.
func TestBeatAllocatesNothing(t *testing.T) {
	var o Observer
	for i := range 1024 {
		o.Step(Observe{Peer: i})
	}
	at, seq := Time(0), uint32(0)
	beat := func() {
		at, seq = at.Add(Millisecond), seq+1
		o.Step(Heard{Peer: int(seq) % 1024, At: at, Beat: Beat{Stream: o.Stream(int(seq) % 1024), Seq: seq / 1024, Nominal: at, Period: 10 * Second}})
	}
	assert.Zero(t, testing.AllocsPerRun(10_000, beat))
}

func BenchmarkBeat(b *testing.B) {
	var o Observer
	for i := range 1024 {
		o.Step(Observe{Peer: i})
	}
	at, seq := Time(0), uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		at, seq = at.Add(Millisecond), seq+1
		o.Step(Heard{Peer: int(seq) % 1024, At: at, Beat: Beat{Stream: o.Stream(int(seq) % 1024), Seq: seq / 1024, Nominal: at, Period: 10 * Second}})
	}
}

func BenchmarkConfigure(b *testing.B) {
	for _, loss := range []float64{0.001, 0.01, 0.3} {
		b.Run(fmt.Sprint(loss), func(b *testing.B) {
			for b.Loop() {
				Configure(Network{Loss: loss, LossAgain: 2 * loss, Variance: 0.02}, QoS{}, Limits{})
			}
		})
	}
}
