package fd

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// within asks for a detection within a time.
func within(d mono.Duration) Config {
	return Config{Mode: Ring, Fence: true, Adaptive: &adaptive.QoS{Detection: adaptive.Duration(d)}}
}

// qualityWorld is a world of processes that know the time, with a network that loses and delays a
// little.
func qualityWorld(seed uint64) (w *world, detection mono.Duration) {
	rng := seeded(seed)
	detection = 300*ms + mono.Duration(rng.Int64N(int64(2*mono.Second)))
	w = newWorld(rng, 2+rng.IntN(10), 1+mono.Duration(rng.Int64N(int64(detection/25))), within(detection))
	w.eager, w.calm = true, true
	w.loss = []float64{0, 0.005, 0.01}[rng.IntN(3)]
	return w, detection
}

// requestsHold reports whether each process beats as its observer requests.
func (w *world) requestsHold() bool {
	for _, p := range w.survivors() {
		d := w.all[p]
		if d.Alone() {
			continue
		}
		e := w.all[d.emitter]
		if e.observer != p || e.rhythm.request != d.observation.request || e.rhythm.period != mono.Duration(d.observation.watch.Wanted()) {
			return false
		}
	}
	return true
}

// requireRequestsHold asks for that soon: a request may be under way.
func (w *world) requireRequestsHold(t *testing.T, seed uint64) {
	_, hold := w.untilTrue(w.now.Add(2*w.cfg.Timeout), w.requestsHold)
	require.True(t, hold, "seed %d", seed)
}

// TestQualityHolds: nobody alive is suspected, a death is declared by its observer within the time
// that was asked for, and heartbeats are as few as that allows.
func TestQualityHolds(t *testing.T) {
	slowest := 0.0
	for seed := range uint64(*seeds) {
		w, detection := qualityWorld(seed + 5e6)
		victim, at := w.rng.IntN(len(w.all)), mono.Time(60*detection).Add(mono.Duration(w.rng.Int64N(int64(detection))))
		w.runUntil(at)
		require.NoError(t, w.problem, "seed %d", seed)
		for _, d := range w.all {
			assert.Greater(t, 10*d.rhythm.period, d.cfg.Timeout, "seed %d: a good network, and many heartbeats: %s", seed, d.Describe())
		}
		w.kill(victim)
		w.runUntil(at.Add(detection + 2*w.delayMax + mono.Duration(w.hops())*w.delayMax))
		require.NoError(t, w.unstable(), "seed %d, n = %d, within %v", seed, len(w.all), detection)
		first := at.Add(detection)
		for _, p := range w.survivors() {
			first = min(first, w.declared[p][victim])
		}
		slowest = max(slowest, float64(first.Sub(at))/float64(detection))
		w.runUntil(first.Add(3 * detection))
		require.NoError(t, w.unstable(), "seed %d", seed)
		w.requireRequestsHold(t, seed)
		require.LessOrEqual(t, w.perPeerMax, 4, "seed %d", seed)
	}
	assert.Less(t, slowest, 1.0)
	t.Logf("a death was declared after at most %.2f of the time asked for", slowest)
}

// TestQualityOfManyDeaths: deaths of any kind, some of neighbours together, are known in the end,
// with the bound of Config, and nobody alive is declared.
func TestQualityOfManyDeaths(t *testing.T) {
	for seed := range uint64(*seeds) {
		w, detection := qualityWorld(seed + 6e6)
		end := mono.Time(10 * detection)
		f := w.someDeaths(6, end)
		w.killDoomed(end)
		w.settle(w.cfg.knowledgeBound(f, w.delayMax) + mono.Duration(w.hops()+1)*w.delayMax)
		require.NoError(t, w.unstable(), "seed %d: n = %d, %d deaths", seed, len(w.all), f)
		require.LessOrEqual(t, w.perPeerMax, 4, "seed %d", seed)
	}
}

// TestQualitySideBySide is B9: the time for f neighbours grows with log2 f.
func TestQualitySideBySide(t *testing.T) {
	for seed := range uint64(*seeds / 2) {
		rng := seeded(seed + 7e6)
		f := 1 + rng.IntN(20)
		detection := 400 * ms
		w := newWorld(rng, f+2+rng.IntN(8), 5*ms, within(detection))
		w.eager, w.calm = true, true
		first, at := rng.IntN(len(w.all)), mono.Time(20*detection)
		w.runUntil(at)
		for i := range f {
			w.kill((first + i) % len(w.all))
		}
		bound := mono.Duration(1+bits.Len(uint(f-1)))*detection + w.cfg.Confirm + mono.Duration(w.hops()+1)*w.delayMax
		w.settle(bound)
		require.NoError(t, w.unstable(), "seed %d: n = %d, f = %d", seed, len(w.all), f)
	}
}

// TestLostRequestIsRepeated: many of the messages with a request are lost, and all requests are
// obeyed in the end.
func TestLostRequestIsRepeated(t *testing.T) {
	for seed := range uint64(*seeds) {
		w, detection := qualityWorld(seed + 8e6)
		w.lossOfRequest = 0.8
		w.runUntil(mono.Time(100 * detection))
		require.NoError(t, w.problem, "seed %d", seed)
		w.lossOfRequest = 0 // one may just have been lost
		w.requireRequestsHold(t, seed)
		for _, d := range w.all {
			require.NotZero(t, d.rhythm.request, "seed %d: %s", seed, d.Describe())
		}
	}
}

// TestRequestThatWasOvertaken: an older request that comes after a later one changes nothing, and a
// request is bounded.
func TestRequestThatWasOvertaken(t *testing.T) {
	c := within(mono.Second)
	c.N, c.Me = 3, 0
	d := New(c)
	tell := func(request uint16, period adaptive.Duration) mono.Duration {
		d.Step(Receive{From: 1, Msg: tellingMessage(kindNewObserver, d.Digest(), adaptive.Adjust{Epoch: request, Period: period})})
		return d.rhythm.requested
	}
	assert.Equal(t, 50*ms, tell(2, 50*adaptive.Millisecond))
	assert.Equal(t, 50*ms, tell(1, 70*adaptive.Millisecond))
	assert.Equal(t, ms, tell(3, adaptive.Microsecond))
	d.Step(Receive{From: 2, Msg: tellingMessage(kindNewObserver, d.Digest(), adaptive.Adjust{Period: 80 * adaptive.Millisecond})})
	assert.Equal(t, 80*ms, d.rhythm.requested, "of another observer")
	assert.Equal(t, 80*ms, tell(9, 90*adaptive.Millisecond), "of one that is nearer, and so dead")
}

// TestNextObserverIsNotKnown: a process that loses its observer beats for the next observer as at
// the beginning, before the first message of that observer.
func TestNextObserverIsNotKnown(t *testing.T) {
	w, detection := qualityWorld(1)
	w.loss, w.lossOfRequest = 0, 0
	w.runUntil(mono.Time(60 * detection))
	observer := w.all[0].observer
	assert.NotZero(t, w.all[0].rhythm.request)
	w.lossOfRequest = 1 // the next observer's
	w.kill(observer)
	w.step(0, Exited{Rank: observer})
	w.tick(0)
	assert.Zero(t, w.all[0].rhythm.request)
	assert.Equal(t, w.cfg.Period, w.all[0].rhythm.period)
	at, _ := w.all[0].Deadline()
	assert.LessOrEqual(t, at, w.now.Add(w.cfg.Period))
}

// TestOwnStopIsNoDelay: an observer that stands still for a while reads the messages of that time
// late. It declares no process for that, and requests no more heartbeats than before (B17).
func TestOwnStopIsNoDelay(t *testing.T) {
	stops := 0
	for seed := range uint64(*seeds) {
		w, detection := qualityWorld(seed + 9e6)
		w.loss = 0
		w.runUntil(mono.Time(60 * detection))
		p := w.rng.IntN(len(w.all))
		before := w.all[p].observation.watch.Wanted()
		pause := w.all[p].rhythm.period + mono.Duration(w.rng.Int64N(int64(detection/3)))
		w.calm = false // the stopped observer is suspected, and answers
		stops++
		w.stop(p, pause)
		w.runUntil(w.now.Add(40 * detection))
		require.NoError(t, w.problem, "seed %d", seed)
		assert.GreaterOrEqual(t, w.all[p].observation.watch.Wanted(), before, "seed %d: stopped for %v of %v: %s", seed, pause, detection, w.all[p].Describe())
	}
	assert.NotZero(t, stops)
}

// TestLateTickSuspectsNobody: the Tick comes before the unread messages (B17).
func TestLateTickSuspectsNobody(t *testing.T) {
	c := within(mono.Second)
	c.N, c.Me = 2, 1
	d := New(c)
	now := mono.Time(0)
	beat := func() {
		d.Step(Receive{From: 0, Msg: tellingMessage(kindHeartbeat, d.Digest(), adaptive.Beat{Seq: uint32(now / mono.Time(100*ms)), Nominal: adaptive.Time(now), Period: 100 * adaptive.Millisecond})})
		d.Step(Tick{Now: now})
	}
	for now = 0; now <= mono.Time(3*mono.Second); now = now.Add(100 * ms) {
		for at, _ := d.Deadline(); at < now; at, _ = d.Deadline() {
			d.Step(Tick{Now: at})
		}
		beat()
	}
	now = now.Add(30 * mono.Second)
	for _, a := range d.Step(Tick{Now: now}) {
		_, suspects := a.(Suspect)
		assert.False(t, suspects, "%+v", a)
	}
	assert.Greater(t, d.Drift(), 29*mono.Second)
	beat()
	at, _ := d.Deadline()
	for ; at < now.Add(2*mono.Second); at, _ = d.Deadline() {
		for _, a := range d.Step(Tick{Now: at}) {
			if _, suspects := a.(Suspect); suspects {
				return // the beats have ended, in time
			}
		}
	}
	assert.Fail(t, "nobody is ever suspected")
}

// TestAnswerMakesNobodyLate: a suspect answers, and the freshness point that has passed is no
// deadline that this process has missed.
func TestAnswerMakesNobodyLate(t *testing.T) {
	c := within(mono.Second)
	c.N, c.Me = 2, 1
	d := New(c)
	now := mono.Time(0)
	for ; !d.suspects(0); now, _ = d.Deadline() {
		d.Step(Tick{Now: now})
	}
	now = now.Add(-ms)
	d.Step(Tick{Now: now})
	d.Step(Receive{From: 0, Msg: digestMessage(kindHeartbeat, d.Digest())})
	at, _ := d.Deadline()
	assert.Greater(t, at, now)
	d.Step(Tick{Now: now})
	assert.False(t, d.suspects(0))
	assert.Zero(t, d.Drift())
}

// TestHeardIsBounded: a host that gives no Tick does not fill the memory.
func TestHeardIsBounded(t *testing.T) {
	c := within(mono.Second)
	c.N, c.Me = 2, 1
	d := New(c)
	for range 3 * heardMax {
		d.Step(Receive{From: 0, Msg: digestMessage(kindHeartbeat, d.Digest())})
	}
	assert.Len(t, d.observation.heard, heardMax)
	d.Step(Tick{Now: mono.Time(ms)})
	assert.Empty(t, d.observation.heard)
}

// TestTodaysHeartbeats can be read where a quality is asked for, and the other way round.
func TestTodaysHeartbeats(t *testing.T) {
	plain, quality := Config{N: 2, Me: 1, Mode: Ring}, within(mono.Second)
	quality.N, quality.Me = 2, 1
	for _, c := range []Config{plain, quality} {
		d := New(c)
		for _, msg := range [][]byte{
			digestMessage(kindHeartbeat, d.Digest()), digestMessage(kindNewObserver, d.Digest()),
			tellingMessage(kindHeartbeat, d.Digest(), adaptive.Beat{Period: adaptive.Second}),
			tellingMessage(kindNewObserver, d.Digest(), adaptive.Adjust{Period: adaptive.Second, Echo: true}),
		} {
			for _, a := range d.Step(Receive{From: 0, Msg: msg}) {
				_, isAnomaly := a.(Anomaly)
				assert.False(t, isAnomaly, "%+v", a)
			}
		}
	}
	d := New(plain)
	for _, a := range d.Step(Tick{Now: mono.Time(100 * ms)}) {
		assert.Len(t, a.(Send).Msg, 9, "without a quality heartbeats are as they were")
	}
}
