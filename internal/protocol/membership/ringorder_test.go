package membership

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestB26RingOrder: for every multiset of racks of up to 12 members, and for large random ones, the
// ring holds each member once and begins with the launcher. The longest run of one rack is 1 where
// no rack holds more than half of the members, else ⌈k/o⌉ for k members of a rack and o others.
func TestB26RingOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for members := 1; members <= 12; members++ {
		eachPartition(members, members, nil, func(sizes []int) {
			checkRingOrder(t, rng, sizes)
		})
	}
	for range 200 {
		var sizes []int
		for room := 1 + rng.IntN(MembersMax); room > 0; {
			size := 1 + rng.IntN(1+rng.IntN(room))
			sizes = append(sizes, size)
			room -= size
		}
		checkRingOrder(t, rng, sizes)
	}
}

// eachPartition calls do with every way to write n as a sum of numbers up to most.
func eachPartition(n, most int, sizes []int, do func(sizes []int)) {
	if n == 0 {
		do(sizes)
	}
	for size := 1; size <= min(n, most); size++ {
		eachPartition(n-size, size, append(slices.Clone(sizes), size), do)
	}
}

// checkRingOrder checks the order of racks of these sizes, with their members in rows and shuffled.
func checkRingOrder(t *testing.T, rng *rand.Rand, sizes []int) {
	var racks []int
	for i, size := range sizes {
		racks = append(racks, slices.Repeat([]int{i + 1}, size)...)
	}
	n, k := len(racks), slices.Max(sizes)
	want := 1
	if 2*k > n {
		want = k
		if k < n {
			want = (k + n - k - 1) / (n - k)
		}
	}
	for range 3 {
		order := ringOrder(racks)
		assert.Equal(t, order, ringOrder(slices.Clone(racks)))
		require.Equal(t, Launcher, order[0], "racks %v", racks)
		sorted := slices.Sorted(slices.Values(order))
		for member := range n {
			require.Equal(t, member, sorted[member], "racks %v: order %v", racks, order)
		}
		require.Equal(t, want, longestRun(racks, order), "racks %v: order %v", racks, order)
		rng.Shuffle(n, func(i, j int) { racks[i], racks[j] = racks[j], racks[i] })
	}
}

// longestRun returns how many neighbours on the ring are in one rack.
func longestRun(racks, order []int) int {
	n := len(order)
	longest := 0
	for from := range n {
		run := 1
		for run < n && racks[order[(from+run)%n]] == racks[order[from]] {
			run++
		}
		longest = max(longest, run)
	}
	return longest
}

// TestB26WithoutRacks: if no rack is known, or each has one member, or all members are in one rack,
// the ring has the order of the numbers.
func TestB26WithoutRacks(t *testing.T) {
	for members := 1; members < 40; members++ {
		order := make([]int, members)
		apart := make([]int, members)
		for m := range order {
			order[m], apart[m] = m, members-m
		}
		assert.Equal(t, order, ringOrder(make([]int, members)))
		assert.Equal(t, order, ringOrder(apart))
		assert.Equal(t, order, ringOrder(slices.Repeat([]int{7}, members)))
	}
	assert.Equal(t, []int{0, 2, 6, 3, 7, 4, 8, 1, 5}, ringOrder([]int{0, 1, 1, 1, 1, 2, 2, 2, 2}), "the launcher and two racks")
	assert.Equal(t, []int{0, 3, 4, 1, 5, 6, 2}, ringOrder([]int{0, 0, 5, 5, 5, 5, 5}), "one rack of five, and two others")
}

// TestB26BeforeLateMembersCome: members that are not there yet are the last ones, without a rack.
// The ring without them still alternates.
func TestB26BeforeLateMembersCome(t *testing.T) {
	for present := 2; present <= 9; present++ {
		eachPartition(present, present/2, nil, func(sizes []int) {
			var racks []int
			for i, size := range sizes {
				racks = append(racks, slices.Repeat([]int{i + 1}, size)...)
			}
			for late := range 12 {
				all := slices.Concat(racks, make([]int, late))
				order := slices.DeleteFunc(ringOrder(all), func(member int) bool { return member >= present })
				require.Equal(t, 1, longestRun(racks, order), "racks %v: order %v", all, order)
			}
		})
	}
}

// TestB26LossOfARack: of 8 nodes in two racks one rack falls silent at one moment, at different
// moments of a Period. All know within one round, Period + Timeout + Confirm. Without racks the
// four are neighbours on the ring, and take two more rounds.
func TestB26LossOfARack(t *testing.T) {
	racks := []int{0, 1, 1, 1, 1, 2, 2, 2, 2}
	for _, survive := range []bool{false, true} {
		for moment := range mono.Duration(10) {
			with := rackLoss(t, Config{Members: 9, Survive: survive, Racks: racks}, moment*10*ms)
			without := rackLoss(t, Config{Members: 9, Survive: survive}, moment*10*ms)
			c := Config{Members: 9}.WithDefaults()
			assert.LessOrEqual(t, with, c.Period+c.Timeout+c.Confirm+20*ms, "survive %v, %v", survive, moment)
			assert.GreaterOrEqual(t, without-with, c.Timeout/2, "survive %v, %v", survive, moment)
		}
	}
}

// rackLoss returns how long after the loss of nodes 4 to 7 the last member knows of all of them.
func rackLoss(t *testing.T, cfg Config, moment mono.Duration) (took mono.Duration) {
	w := quietWorld(t, cfg)
	w.runUntil(w.now.Add(moment))
	since := w.now
	for victim := 5; victim < 9; victim++ {
		w.powerOff(victim)
	}
	w.runUntil(since.Add(10 * w.cfg.Timeout))
	for victim := 5; victim < 9; victim++ {
		took = max(took, w.knownAfter(t, since, victim))
	}
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	return took
}

// TestRingOfRacksSpeaksOfMembers: all that a ring reports names members, not positions: the
// suspect, the sender of a malformed message, the sender of a notice of death, and the member that
// is observed.
func TestRingOfRacksSpeaksOfMembers(t *testing.T) {
	cfg := Config{Members: 9, Me: 6, Racks: []int{0, 1, 1, 1, 1, 2, 2, 2, 2}} // 0 2 6 3 7 4 8 1 5
	r := New(cfg)
	coordinator, emitter := r.Watches()
	assert.Equal(t, []int{Launcher, 2}, []int{coordinator, emitter})
	assert.Equal(t, []Action{Anomaly{From: 7, Text: "roster: " + malformed(t)}}, r.Step(Receive{From: 7, Msg: []byte{0xff}}))
	r.Step(Tick{Now: 0})
	var suspects []int
	var last mono.Time
	for now := mono.Time(0); now < mono.Time(3*mono.Second); now = now.Add(10 * ms) {
		for _, a := range r.Step(Tick{Now: now}) {
			if s, ok := a.(Suspect); ok && suspects == nil {
				suspects, last = append(suspects, s.Member), now
			}
		}
	}
	assert.Equal(t, []int{2}, suspects, "after %v", mono.Duration(last))
	assert.True(t, r.held.silent.Has(2), "%v", r.held.silent)
	r.agreed(rankset.Of(2, 8))
	assert.Equal(t, []int{2, 8}, r.Dead().Slice())
	_, emitter = r.Watches()
	assert.Equal(t, Launcher, emitter)
}

// malformed returns the error of a message that is none.
func malformed(t *testing.T) string {
	_, err := parseMessage([]byte{0xff}, 9)
	require.Error(t, err)
	return err.Error()
}
