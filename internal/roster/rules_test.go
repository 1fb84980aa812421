package roster

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/mono"
	"github.com/goulfm/goulfm/internal/rankset"
)

// TestMajoritiesMeet: any two majorities of the same voters have a member in common, and of
// two halves just one is a majority.
func TestMajoritiesMeet(t *testing.T) {
	const members = 5
	sets := 1 << members
	of := func(bits int) rankset.Set { return rankset.FromWords([]uint64{uint64(bits)}) }
	for v := range sets {
		voters := of(v)
		for a := range sets {
			for b := range sets {
				common := of(a & b & v)
				if isMajority(of(a), voters) && isMajority(of(b), voters) {
					require.False(t, common.IsEmpty(), "%v and %v of %v", of(a), of(b), voters)
				}
			}
			rest := of(v &^ a)
			require.Equal(t, v != 0, isMajority(of(a), voters) != isMajority(rest, voters), "%v of %v", of(a), voters)
		}
	}
}

func TestHeadsOfEpochs(t *testing.T) {
	cfg := Config{Members: 3}
	for epoch, head := range []int{0, 1, 2, 0, 1} {
		assert.Equal(t, head, cfg.headOf(uint32(epoch)))
	}
}

func TestConfigCheck(t *testing.T) {
	require.NoError(t, Config{Members: 3}.Check())
	assert.Equal(t, 100*ms, Config{Members: 201}.WithDefaults().Period)
	assert.Equal(t, 500*ms, Config{Members: 1001}.WithDefaults().Period)
	for name, c := range map[string]Config{
		"nobody":       {},
		"too many":     {Members: MembersMax + 1},
		"who":          {Members: 3, Me: 3},
		"short":        {Members: 3, Period: ms, Timeout: 9 * ms},
		"flaps":        {Members: 3, Survive: true, Period: 100 * ms, Timeout: 300 * ms},
		"link":         {Members: 3, Link: 499 * ms},
		"orphan":       {Members: 3, Orphan: 499 * ms},
		"beat too few": {Members: 3, Period: 100 * ms, Timeout: 150 * ms},
	} {
		assert.ErrorIs(t, c.Check(), ErrConfig, name)
	}
}

// TestF8LeaseIsLookedAtFirst: what comes back from a pause freezes before it says anything.
func TestF8LeaseIsLookedAtFirst(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	r.Step(Tick{Now: 0})
	actions := r.Step(Tick{Now: mono.Time(5 * mono.Second)})
	require.NotEmpty(t, actions)
	assert.Equal(t, Freeze{}, actions[0])
	assert.True(t, r.Frozen())
}

// TestF7NothingFollowsTheEnd: a member that was declared does nothing any more.
func TestF7NothingFollowsTheEnd(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	assert.Equal(t, []Action{Fenced{By: 2}}, r.Step(Receive{From: 2, Msg: dead{}.append(nil)}))
	assert.Empty(t, r.Step(Tick{Now: mono.Time(mono.Second)}))
	_, more := r.Deadline()
	assert.False(t, more)
}

// TestF6TheDeadAreToldAndNotHeard: what a declared member says is dropped and counted, and
// answered, but not each time.
func TestF6TheDeadAreToldAndNotHeard(t *testing.T) {
	w := quietWorld(t, Config{Members: 3})
	w.powerOff(2)
	w.runUntil(w.now.Add(2 * mono.Second))
	r := w.members[0].r
	require.Equal(t, []int{2}, r.Dead().Slice())
	news := newsMessage{runs: []run{{origin: 2, entries: []Entry{Process(Died, 1)}}}}.append(nil)
	told := Send{To: 2, Msg: dead{}.append(nil)}
	assert.Equal(t, []Action{told}, r.Step(Receive{From: 2, Msg: news}))
	assert.Empty(t, r.Step(Receive{From: 2, Msg: news}))
	assert.Equal(t, uint64(2), r.Dropped())
}

// TestDeadlineMoves: after a Tick the deadline is later than the time it gave.
func TestDeadlineMoves(t *testing.T) {
	for _, survive := range []bool{false, true} {
		for me := range 4 {
			r := New(Config{Members: 4, Me: me, Survive: survive})
			for range 2000 {
				at, ok := r.Deadline()
				if !ok {
					break
				}
				r.Step(Tick{Now: at})
				next, ok := r.Deadline()
				require.True(t, !ok || next > at, "member %d: %s", me, r.Describe())
			}
		}
	}
}

// TestB23NewsInOrder: entries of one list are learned once, and in its order, whatever
// messages are lost, doubled or overtake each other.
func TestB23NewsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 23))
		w := newWorld(rng, Config{Members: 2 + rng.IntN(8)})
		w.delay = 40 * ms
		var next [16]uint32
		for range 60 {
			me := rng.IntN(len(w.members))
			w.at(mono.Time(rng.Int64N(int64(4*mono.Second))), func() {
				var entries []Entry
				for range 1 + rng.IntN(3) {
					next[me]++
					entries = append(entries, Process(Died, next[me]<<8|uint32(me)))
				}
				w.step(me, Publish{Entries: entries})
			})
			w.at(mono.Time(rng.Int64N(int64(4*mono.Second))), func() {
				w.cut[me][rng.IntN(len(w.members))] = true
				w.at(w.now.Add(200*ms), w.heal)
			})
		}
		w.runUntil(mono.Time(6 * mono.Second))
		require.NoError(t, w.violation, "seed %d", seed)
		for me, m := range w.members {
			var seen [16]uint32
			for _, e := range m.list {
				of := e.Number() & 0xff
				require.Equal(t, seen[of]+1, e.Number()>>8, "seed %d: member %d learns of %d", seed, me, of)
				seen[of]++
			}
			for of := range w.members {
				if of != me {
					require.Equal(t, next[of], seen[of], "seed %d: member %d lacks news of %d", seed, me, of)
				}
			}
		}
	}
}

// TestF5DeclaredAfterTheLease: the head grants at the last moment, to a member whose clock is
// slow: it is frozen before it is declared, on clocks that differ by two thousandths.
func TestF5DeclaredAfterTheLease(t *testing.T) {
	w := newWorld(nil, Config{Members: 3, Timeout: 5 * mono.Second, Period: 100 * ms})
	w.members[0].rate, w.members[2].rate = 1.001, 0.999
	w.runUntil(mono.Time(20 * mono.Second))
	require.NoError(t, w.violation)
	w.sever(rankset.Of(2), rankset.Of(0, 1), true)
	w.sever(rankset.Of(0, 1), rankset.Of(2), true)
	w.runUntil(mono.Time(40 * mono.Second))
	require.NoError(t, w.violation)
	assert.Equal(t, []int{2}, w.members[1].verdicts.Slice())
}
