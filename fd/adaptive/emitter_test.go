package adaptive

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beats returns the beats among replies.
func beats(rs []Reply) (out []Beat) {
	for _, r := range rs {
		if b, ok := r.Message.(Beat); ok {
			out = append(out, b)
		}
	}
	return out
}

func accepted(at Time, period Duration) *Emitter {
	e := &Emitter{}
	e.Step(Accept{Observer: 0, At: at, Adjust: Adjust{Stream: 9, Period: period}})
	return e
}

// TestNeverFaster: an emitter that was stopped sends one beat, without the missed ones, and its
// number shows how many were missed.
func TestNeverFaster(t *testing.T) {
	e := accepted(0, Second)
	require.Len(t, beats(e.Step(Instant{Now: 0})), 1)
	got := beats(e.Step(Instant{Now: Time(5*Second + 300*Millisecond)}))
	require.Len(t, got, 1)
	assert.Equal(t, Beat{Stream: 9, Seq: 5, Nominal: Time(5 * Second), Period: Second}, got[0])
	at, _ := e.Deadline()
	assert.Equal(t, Time(6*Second), at)
}

// TestNominalTimes: whenever an emitter gets the time, the nominal times of its beats are those of
// their numbers, and grow.
func TestNominalTimes(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 10))
		e := accepted(0, Second)
		last := Beat{Nominal: -1}
		for now := Time(0); now < Time(20*Second); now = now.Add(Duration(rng.Int64N(int64(3 * Second)))) {
			for _, b := range beats(e.Step(Instant{Now: now})) {
				assert.Equal(t, Time(b.Seq)*Time(Second), b.Nominal)
				assert.Greater(t, b.Nominal, last.Nominal)
				assert.LessOrEqual(t, b.Nominal, now)
				last = b
			}
		}
	}
}

// TestPromisedBeatComes: a longer period counts from the beat that has been promised, a
// shorter one from the latest beat.
func TestPromisedBeatComes(t *testing.T) {
	for _, c := range []struct {
		period, asked, next Duration
	}{
		{Second, 5 * Second, Second},
		{5 * Second, 2 * Second, 2 * Second},
		{5 * Second, Second / 2, Second}, // due already: now
	} {
		e := accepted(0, c.period)
		e.Step(Instant{Now: 0})
		e.Step(Adjusted{Observer: 0, At: Time(Second), Adjust: Adjust{Stream: 9, Epoch: 1, Period: c.asked}})
		at, _ := e.Deadline()
		assert.Equal(t, Time(c.next), at, "%v", c)
		got := beats(e.Step(Instant{Now: at}))
		require.Len(t, got, 1)
		assert.Equal(t, c.asked, got[0].Period)
		assert.Equal(t, uint16(1), got[0].Epoch)
		assert.Equal(t, at, got[0].Nominal)
	}
}

// TestAcceptedTwice: a stream that is accepted again continues; another stream begins.
func TestAcceptedTwice(t *testing.T) {
	e := accepted(0, Second)
	e.Step(Instant{Now: Time(3 * Second)})
	e.Step(Accept{Observer: 0, At: Time(3500 * Millisecond), Adjust: Adjust{Stream: 9, Epoch: 1, Period: 2 * Second}})
	got := beats(e.Step(Instant{Now: Time(4 * Second)}))
	require.Len(t, got, 1)
	assert.Equal(t, Beat{Stream: 9, Epoch: 1, Seq: 4, Nominal: Time(4 * Second), Period: 2 * Second}, got[0])
	e.Step(Accept{Observer: 0, At: Time(5 * Second), Adjust: Adjust{Stream: 10, Period: Second}})
	assert.Equal(t, uint32(0), beats(e.Step(Instant{Now: Time(5 * Second)}))[0].Seq)
}

// TestOlderEpochIsIgnored: an Adjust that was overtaken changes nothing, also where the
// epochs wrap.
func TestOlderEpochIsIgnored(t *testing.T) {
	for _, newest := range []uint16{1, 7, 0} {
		e := accepted(0, Second)
		e.streams[0].epoch = newest - 1
		e.Step(Adjusted{Observer: 0, Adjust: Adjust{Stream: 9, Epoch: newest, Period: 3 * Second}})
		e.Step(Adjusted{Observer: 0, Adjust: Adjust{Stream: 9, Epoch: newest - 1, Period: Second}})
		assert.Equal(t, 3*Second, e.streams[0].period)
		e.Step(Adjusted{Observer: 0, Adjust: Adjust{Stream: 8, Epoch: newest + 1, Period: Second}})
		assert.Equal(t, 3*Second, e.streams[0].period, "of another stream")
	}
}

// TestSilenceOfTheObserver: the beats end 30 periods after its last word, and resume with the next
// word: at once, and with the next number.
func TestSilenceOfTheObserver(t *testing.T) {
	e := accepted(0, Second)
	var all []Beat
	for {
		at, ok := e.Deadline()
		if !ok {
			break
		}
		all = append(all, beats(e.Step(Instant{Now: at}))...)
	}
	assert.Len(t, all, silentAfter+1)
	e.Step(Probed{Observer: 0, At: Time(100*Second + 1), Probe: Probe{Stream: 9}})
	at, ok := e.Deadline()
	require.True(t, ok)
	assert.Equal(t, Time(100*Second), at)
	assert.Equal(t, uint32(silentAfter+1), beats(e.Step(Instant{Now: at}))[0].Seq)
}

// TestEchoes: a Probe, and an Adjust with the flag Echo, are answered with their clock; those of
// strangers are not.
func TestEchoes(t *testing.T) {
	e := accepted(0, Second)
	echo := []Reply{{Observer: 0, Message: Echo{Stream: 9, Clock: 77}}}
	assert.Equal(t, echo, slices.Clone(e.Step(Probed{Observer: 0, Probe: Probe{Stream: 9, Clock: 77}})))
	assert.Equal(t, echo, slices.Clone(e.Step(Adjusted{Observer: 0, Adjust: Adjust{Stream: 9, Clock: 77, Period: Second, Echo: true}})))
	assert.Empty(t, e.Step(Adjusted{Observer: 0, Adjust: Adjust{Stream: 9, Clock: 77, Period: Second}}))
	assert.Empty(t, e.Step(Probed{Observer: 0, Probe: Probe{Stream: 8, Clock: 77}}))
	assert.Empty(t, e.Step(Probed{Observer: 3, Probe: Probe{Stream: 0, Clock: 77}}), "nobody there")
	e.Step(Release{Observer: 0})
	assert.Empty(t, e.Step(Probed{Observer: 0, Probe: Probe{Stream: 9, Clock: 77}}))
	_, ok := e.Deadline()
	assert.False(t, ok)
}

// TestTimersAgainstNaive: the heap finds the same as a search.
func TestTimersAgainstNaive(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 11))
		var ts timers
		ts.grow(20)
		naive := map[int]Time{}
		for range 500 {
			i := rng.IntN(20)
			if rng.IntN(3) == 0 {
				ts.stop(i)
				delete(naive, i)
			} else {
				at := Time(rng.IntN(1000))
				ts.set(i, at)
				naive[i] = at
			}
			n, at, ok := ts.earliest()
			require.Equal(t, len(naive) > 0, ok)
			if ok {
				require.Equal(t, naive[n], at)
			}
			for _, other := range naive {
				require.GreaterOrEqual(t, other, at)
			}
		}
	}
}
