package adaptive

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestWatchIsSmall: thousands are observed by one process.
func TestWatchIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(Watch{}), uintptr(288))
	perPeer := unsafe.Sizeof(peer{}) + unsafe.Sizeof(Time(0)) + 2*unsafe.Sizeof(int32(0))
	assert.LessOrEqual(t, perPeer, uintptr(354), "half of the 708 bytes of the paper")
}

// naive counts losses from the set of all numbers that have come.
func naive(came map[uint32]bool, first, highest uint32) (sent, lost, together float64) {
	for s := first; s <= highest; s++ {
		sent++
		if !came[s] {
			lost++
			if !came[s+1] {
				together++
			}
		}
	}
	return sent, lost, together
}

// TestLossesAgainstNaive: beats in any order, late by up to 62 numbers, doubled and lost in bursts
// are counted as by a counter that remembers all of them.
func TestLossesAgainstNaive(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var l losses
		came := map[uint32]bool{}
		first := uint32(rng.Uint64()) & 0xfffff
		highest, next := first, first+1
		l.mark(first)
		came[first] = true
		for range 1000 {
			seq := next
			switch rng.IntN(10) {
			case 0:
				seq = next + uint32(rng.IntN(8)) // a gap
			case 1:
				seq = next + uint32(rng.IntN(200)) // an outage
			case 2, 3:
				seq = max(first, highest-min(highest-first, uint32(rng.IntN(63)))) // late, or again
			}
			fresh := l.mark(seq)
			assert.Equal(t, !came[seq], fresh, "seed %d, beat %d", seed, seq)
			came[seq] = true
			highest = max(highest, seq)
			next = highest + 1
			if highest-first > 3800 {
				break // counts are halved
			}
		}
		sent, lost, together := naive(came, first, highest)
		p1, p2 := l.estimate()
		want := (lost + 1) / (sent + 2)
		assert.InDelta(t, want, p1, 1e-12, "seed %d", seed)
		assert.InDelta(t, max(want, (together+4*want)/(lost+4)), p2, 1e-12, "seed %d", seed)
	}
}

// TestLateIsNotLost: of 64 beats that come in the opposite order none is lost; one older
// than that, or doubled, is nothing.
func TestLateIsNotLost(t *testing.T) {
	var l losses
	l.mark(99)
	l.mark(163)
	for seq := uint32(162); seq >= 100; seq-- {
		assert.True(t, l.mark(seq), seq)
	}
	p1, _ := l.estimate()
	assert.InDelta(t, 1.0/(64+1+2), p1, 1e-12)
	assert.False(t, l.mark(120), "doubled")
	assert.False(t, l.mark(99), "older than the bitmap")
	assert.False(t, l.mark(98), "older than the bitmap")
}

// TestCountsAreForgotten: at 4,096 beats the counts are halved, with any losses.
func TestCountsAreForgotten(t *testing.T) {
	var l losses
	for seq := uint32(0); seq < 1<<16; seq += 1 + seq%5 {
		l.mark(seq)
		assert.Less(t, l.sent, uint16(memory))
		assert.LessOrEqual(t, l.together, l.lost)
		assert.LessOrEqual(t, l.lost, l.sent)
	}
	l.mark(1 << 30) // an outage of years
	p1, p2 := l.estimate()
	assert.Greater(t, p1, 0.75)
	assert.Greater(t, p2, 0.75)
	for seq := uint32(1<<30 + 1); seq < 1<<30+20*memory; seq++ {
		l.mark(seq)
	}
	p1, _ = l.estimate()
	assert.Less(t, p1, 0.001, "the outage is long ago")
}

// TestNumbersWrap: after 2^32 beats the next number is 0.
func TestNumbersWrap(t *testing.T) {
	var l losses
	for seq := uint32(1<<32 - 100); seq != 100; seq++ {
		assert.True(t, l.mark(seq))
	}
	p1, _ := l.estimate()
	assert.InDelta(t, 1.0/202, p1, 1e-12)
}

// feed gives a watch a number of beats of its requested period, with delays, and returns the time.
func feed(w *Watch, at Time, beats int, delay func(i int) Duration) Time {
	seq := w.losses.highest + 1
	for i := range beats {
		at = at.Add(w.Wanted())
		w.Heard(at.Add(delay(i)), Beat{Seq: seq, Nominal: at, Period: w.Wanted()}, false)
		seq++
	}
	return at
}

// TestDriftIsNoDelay: clocks that differ by 50 ppm are 2 s apart after 4,096 beats of 10 s.
// That is neither delay nor variance, and the expected arrival follows.
func TestDriftIsNoDelay(t *testing.T) {
	var w Watch
	w.Start(0, QoS{}, Limits{})
	at, offset := Time(0), 1000*Second
	for seq := range uint32(4096) {
		at = at.Add(10 * Second)
		here := at.Add(offset + Duration(float64(at)*50e-6))
		if seq > 300 {
			assert.InDelta(t, 0, here.Sub(w.delays.expected(at)).Seconds(), 2e-3, "beat %d", seq)
		}
		w.Heard(here, Beat{Seq: seq, Nominal: at, Period: 10 * Second}, false)
	}
	assert.Less(t, w.delays.variance(), 4e-6, "2 s of drift are a variance of 0.3 s² if they are taken for delay")
}

// TestClockIsSet: a clock that jumps begins the window anew.
func TestClockIsSet(t *testing.T) {
	var w Watch
	w.Start(0, QoS{}, Limits{})
	at := feed(&w, 0, 200, func(int) Duration { return 20 * Millisecond })
	feed(&w, at, 50, func(int) Duration { return 3600 * Second })
	assert.InDelta(t, 3600, w.delays.expected(0).Sub(0).Seconds(), 1)
}

// TestThreeBeats: however good the network is, three beats fit into the time to suspect.
func TestThreeBeats(t *testing.T) {
	var w Watch
	w.Start(0, QoS{}, Limits{})
	feed(&w, 0, 20_000, func(int) Duration { return 0 })
	assert.LessOrEqual(t, 3*w.Wanted(), w.TimeToSuspect())
	assert.Greater(t, 4*w.Wanted(), w.TimeToSuspect(), "and not many more: it is a good network")
	assert.True(t, w.Quality().Attainable)
}

// TestLongerNeedsPatience: the period is shortened at the first check, and made longer at the third
// that agrees.
func TestLongerNeedsPatience(t *testing.T) {
	var w Watch
	w.Start(0, QoS{Detection: 3 * Second}, Limits{})
	first := w.Wanted()
	at := feed(&w, 0, firstLook+lookEach*(patience-1)-1, func(int) Duration { return 0 })
	assert.Equal(t, first, w.Wanted())
	at = feed(&w, at, 1, func(int) Duration { return 0 })
	longer := w.Wanted()
	assert.Greater(t, longer, first+first/10)

	rng := rand.New(rand.NewPCG(1, 1))
	feed(&w, at, lookEach, func(int) Duration { return Duration(rng.Int64N(int64(2 * Second))) })
	assert.Less(t, w.Wanted(), longer-longer/10)
}

// TestLateBeatIsNoSample: a beat that waited here is no measurement of the network (B17).
func TestLateBeatIsNoSample(t *testing.T) {
	var w Watch
	w.Start(0, QoS{}, Limits{})
	at := feed(&w, 0, 200, func(int) Duration { return 0 })
	was := w.delays.variance()
	seq := w.losses.highest + 1
	w.Heard(at.Add(60*Second), Beat{Seq: seq, Nominal: at.Add(w.Wanted()), Period: w.Wanted()}, true)
	assert.Equal(t, was, w.delays.variance())
	assert.Equal(t, at.Add(w.Wanted()).Add(w.TimeToSuspect()), w.Freshness(), "but it is a sign of life")
}

// TestRoundTripShortensT: the way of the beat is a part of the detection time.
func TestRoundTripShortensT(t *testing.T) {
	var w Watch
	w.Start(0, QoS{Detection: 10 * Second}, Limits{Confirm: 2 * Second})
	assert.Equal(t, 8*Second, w.TimeToSuspect())
	assert.False(t, w.Answered(0, 400*Millisecond, false), "less than a tenth")
	assert.Equal(t, 8*Second-400*Millisecond, w.TimeToSuspect())
	was := w.Wanted()
	assert.True(t, w.Answered(0, 8*Second, false))
	assert.Less(t, w.Wanted(), was)
	for range 40 {
		w.Answered(0, 40*Millisecond, false)
	}
	assert.Greater(t, w.TimeToSuspect(), 8*Second-80*Millisecond)
}

// TestCongestionKeepsDetectionTime: beats that took a second longer do not move the
// freshness point by a second, once one has come that did not.
func TestCongestionKeepsDetectionTime(t *testing.T) {
	var w Watch
	w.Start(0, QoS{Detection: 10 * Second}, Limits{})
	w.Answered(0, 40*Millisecond, false)
	at := feed(&w, 0, 20, func(int) Duration { return Second })
	at = feed(&w, at, 1, func(int) Duration { return 20 * Millisecond })
	assert.LessOrEqual(t, w.Freshness().Sub(at), w.TimeToSuspect()+40*Millisecond)
	assert.GreaterOrEqual(t, w.Freshness().Sub(at), w.TimeToSuspect()+20*Millisecond)
}

// TestAnswerOfLongAgo: a slow answer proves that the process lived when the probe was sent. The
// process may have died since.
func TestAnswerOfLongAgo(t *testing.T) {
	for _, late := range []bool{false, true} {
		var w Watch
		w.Start(0, QoS{Detection: 10 * Second}, Limits{})
		w.Answered(0, 40*Millisecond, false)
		asked, came := Time(20*Second), Time(24*Second)
		w.Answered(came, came.Sub(asked), late)
		confirm := Second
		assert.LessOrEqual(t, w.Freshness().Add(confirm).Sub(asked), 10*Second, "late: %v", late)
		assert.GreaterOrEqual(t, w.Freshness(), asked.Add(w.TimeToSuspect()), "late: %v", late)
	}
}
