package membership

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// quietWorld has exact clocks and messages that take a millisecond each, and has run for
// a while.
func quietWorld(t *testing.T, cfg Config) *world {
	w := newWorld(nil, cfg)
	w.runUntil(mono.Time(2 * mono.Second))
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	return w
}

// knownAfter returns how long after a moment the last member learned of a death.
func (w *world) knownAfter(t *testing.T, since mono.Time, victim int) mono.Duration {
	var last mono.Time
	for me, m := range w.members {
		if m.lives() {
			require.True(t, m.declarations.Has(victim), "%d does not know of the death of %d", me, victim)
			last = max(last, m.told[victim])
		}
	}
	return last.Sub(since)
}

// TestBoundOfADaemon: a daemon ends, its observer and the coordinator find new connections refused:
// all know within 20 ms.
func TestBoundOfADaemon(t *testing.T) {
	for _, members := range []int{2, 3, 5, 9, 65} {
		w := quietWorld(t, Config{Members: members})
		since := w.now
		w.kill(members - 1)
		w.runUntil(since.Add(20 * ms))
		assert.LessOrEqual(t, w.knownAfter(t, since, members-1), 20*ms, "%d members", members)
		require.NoError(t, w.violation)
	}
}

// TestBoundOfASilentNode: all know within Period + Timeout + Confirm, and the few messages
// that it takes.
func TestBoundOfASilentNode(t *testing.T) {
	for _, survive := range []bool{false, true} {
		for _, members := range []int{3, 5, 9, 33} {
			w := quietWorld(t, Config{Members: members, Survive: survive})
			bound := w.cfg.Period + w.cfg.Timeout + w.cfg.Confirm + 20*ms
			since := w.now
			w.powerOff(members / 2)
			w.runUntil(since.Add(bound))
			assert.LessOrEqual(t, w.knownAfter(t, since, members/2), bound, "%d members, survive %v", members, survive)
			require.NoError(t, w.violation)
			require.NoError(t, w.settled())
		}
	}
}

// TestBoundOfAQuality: all know of a silent node within the time that was asked for, and not long
// before it, for the ring sends few heartbeats; but no sooner than its lease is over.
func TestBoundOfAQuality(t *testing.T) {
	for _, survive := range []bool{false, true} {
		for _, detection := range []mono.Duration{600 * ms, mono.Second, 4 * mono.Second} {
			for _, members := range []int{3, 9} {
				cfg := Config{Members: members, Survive: survive, Adaptive: &adaptive.QoS{Detection: adaptive.Duration(detection)}}
				w := newWorld(nil, cfg)
				w.runUntil(mono.Time(100 * detection))
				require.NoError(t, w.settled())
				since, victim := w.now, members/2
				w.powerOff(victim)
				w.runUntil(since.Add(detection + w.cfg.Timeout))
				took := w.knownAfter(t, since, victim)
				assert.LessOrEqual(t, took, max(detection, w.cfg.Timeout+w.cfg.Period)+20*ms, "%d members, survive %v, within %v", members, survive, detection)
				assert.GreaterOrEqual(t, took, max(detection/2, w.cfg.Timeout-w.cfg.Period), "%d members, survive %v, within %v", members, survive, detection)
				require.NoError(t, w.violation)
				require.NoError(t, w.settled())
			}
		}
	}
}

// TestQualitySavesHeartbeats: a ring that may take longer sends less.
func TestQualitySavesHeartbeats(t *testing.T) {
	sent := func(quality *adaptive.QoS) int {
		w := newWorld(nil, Config{Members: 9, Adaptive: quality})
		w.runUntil(mono.Time(200 * mono.Second))
		before := w.heartbeats
		w.runUntil(w.now.Add(100 * mono.Second))
		require.NoError(t, w.settled())
		return w.heartbeats - before
	}
	fixed := sent(nil)
	assert.Equal(t, 9*1000, fixed)
	assert.Less(t, 6*sent(&adaptive.QoS{Detection: 2 * adaptive.Second}), fixed+fixed/10)
}

// TestBoundOfAShortTimeout: with T = 2P and C = 1 ms all know within [P, T + C + P/10], and two
// messages, at any moment of a Period at which a node falls silent. bench/detect -figure D3 is the
// same of daemons.
func TestBoundOfAShortTimeout(t *testing.T) {
	const period, moments = 200 * ms, 40
	for victim := 1; victim < 5; victim++ {
		for i := range mono.Duration(moments) {
			w := quietWorld(t, Config{Members: 5, Period: period, Timeout: 2 * period, Confirm: ms})
			w.runUntil(w.now.Add(i * period / moments))
			since := w.now
			w.powerOff(victim)
			w.runUntil(since.Add(4 * period))
			known := w.knownAfter(t, since, victim)
			assert.GreaterOrEqual(t, known, period, "%d after %d/%d of a period", victim, i, moments)
			assert.LessOrEqual(t, known, 2*period+ms+period/10+2*ms, "%d after %d/%d of a period", victim, i, moments)
		}
	}
}

// TestBoundOfNeighbours: f nodes in a row fall silent at once. The ring finds them in
// 1 + log2 f rounds (B9), each of a Period and a Timeout.
func TestBoundOfNeighbours(t *testing.T) {
	for _, f := range []int{1, 2, 4, 8} {
		w := quietWorld(t, Config{Members: 20})
		rounds := mono.Duration(1 + bits.Len(uint(f-1)))
		bound := rounds*(w.cfg.Period+w.cfg.Timeout) + w.cfg.Confirm + 20*ms
		since := w.now
		for i := range f {
			w.powerOff(5 + i)
		}
		w.runUntil(since.Add(bound))
		for i := range f {
			assert.LessOrEqual(t, w.knownAfter(t, since, 5+i), bound, "%d in a row", f)
		}
		require.NoError(t, w.violation)
	}
}

// TestBoundOfARank: an entry that a daemon publishes is known everywhere after one message for each
// hop of the graph.
func TestBoundOfARank(t *testing.T) {
	for _, members := range []int{2, 3, 9, 33, 65} {
		w := quietWorld(t, Config{Members: members})
		since := w.now
		w.step(members-1, Publish{Entries: []Entry{Process(Died, 77)}})
		hops := mono.Duration(1 + bits.Len(uint(members))/2)
		w.runUntil(since.Add(hops * w.delay))
		for me, m := range w.members {
			if me != members-1 {
				assert.Equal(t, []Entry{Process(Died, 77)}, m.list, "member %d of %d", me, members)
			}
		}
	}
}

// TestF11LeaseOverIsFrozen: a node that is cut off from the coordinator, in either direction,
// stands still a Timeout after the last beat that was granted, independently of the ring.
func TestF11LeaseOverIsFrozen(t *testing.T) {
	for _, toCoordinator := range []bool{true, false} {
		w := quietWorld(t, Config{Members: 4})
		from, to := rankset.Of(2), rankset.Of(0)
		if !toCoordinator {
			from, to = to, from
		}
		since := w.now
		w.sever(from, to, true)
		w.runUntil(since.Add(w.cfg.Timeout + 2*ms))
		assert.True(t, w.members[2].frozen)
		w.runUntil(since.Add(3 * mono.Second))
		assert.Empty(t, w.members[0].declarations.Slice(), "its observer hears it: that is link trouble")
		w.heal()
		w.runUntil(since.Add(4 * mono.Second))
		assert.False(t, w.members[2].frozen, "a later grant continues it")
		w.sever(from, to, true)
		w.runUntil(since.Add(4*mono.Second + w.cfg.Link + w.cfg.Timeout + w.cfg.Period))
		assert.Equal(t, []int{2}, w.members[1].declarations.Slice(), "after the link timeout it is declared")
		require.NoError(t, w.violation)
	}
}

// TestB22TheRingSuspectsTheCoordinatorDeclares cuts {6,7} off, as a losing side of 8 nodes: nobody
// there declares anybody, all of them stand still, and the launcher's side continues.
func TestB22TheRingSuspectsTheCoordinatorDeclares(t *testing.T) {
	for _, survive := range []bool{false, true} {
		w := quietWorld(t, Config{Members: 9, Survive: survive})
		since := w.now
		side, rest := rankset.Of(7, 8), rankset.Range(0, 7)
		w.sever(side, rest, true)
		w.sever(rest, side, true)
		w.runUntil(since.Add(5 * mono.Second))
		for m := range side.All() {
			assert.True(t, w.members[m].frozen)
			assert.Empty(t, w.members[m].declarations.Slice(), "survive %v", survive)
		}
		for m := range rest.All() {
			assert.Equal(t, []int{7, 8}, w.members[m].declarations.Slice(), "survive %v: member %d", survive, m)
			assert.True(t, w.members[m].runs())
		}
		w.heal()
		w.runUntil(since.Add(7 * mono.Second))
		for m := range side.All() {
			assert.True(t, w.members[m].fenced, "survive %v: member %d is told", survive, m)
		}
		require.NoError(t, w.violation)
	}
}

// TestF9OrphansEnd: the losing side of a partition that lasts stands still, and ends at the orphan
// time.
func TestF9OrphansEnd(t *testing.T) {
	w := quietWorld(t, Config{Members: 4})
	since := w.now
	w.sever(rankset.Of(2, 3), rankset.Of(0, 1), true)
	w.sever(rankset.Of(0, 1), rankset.Of(2, 3), true)
	w.runUntil(since.Add(w.cfg.Orphan))
	assert.False(t, w.members[2].ended)
	w.runUntil(since.Add(w.cfg.Orphan + w.cfg.Timeout + w.cfg.Period))
	assert.True(t, w.members[2].ended && w.members[3].ended)
	assert.True(t, w.members[0].runs() && w.members[1].runs())
	require.NoError(t, w.violation)
}

// TestPausesCostAPause: a node that stands still for 300 ms, and a launcher for 3 s, cost
// nobody's life.
func TestPausesCostAPause(t *testing.T) {
	w := quietWorld(t, Config{Members: 5})
	w.pause(2, 300*ms)
	w.runUntil(w.now.Add(3 * mono.Second))
	require.NoError(t, w.settled())
	assert.Zero(t, w.members[2].freezes)
	w.pause(0, 3*mono.Second)
	w.runUntil(w.now.Add(2 * mono.Second))
	assert.True(t, w.members[1].frozen)
	w.runUntil(w.now.Add(3 * mono.Second))
	require.NoError(t, w.settled())
	require.NoError(t, w.violation)
}

// TestLauncherGone: attached, all ends as soon as new connections to the launcher are
// refused; silent, all freezes, and ends at the orphan time.
func TestLauncherGone(t *testing.T) {
	w := quietWorld(t, Config{Members: 5})
	w.kill(0)
	w.runUntil(w.now.Add(mono.Second))
	for _, m := range w.members[1:] {
		assert.True(t, m.ended)
	}
	w = quietWorld(t, Config{Members: 5})
	w.powerOff(0)
	w.runUntil(w.now.Add(mono.Second))
	for _, m := range w.members[1:] {
		assert.True(t, m.frozen && !m.ended)
	}
	w.runUntil(w.now.Add(w.cfg.Orphan))
	for _, m := range w.members[1:] {
		assert.True(t, m.ended)
	}
}

// TestF12CoordinatorsFollowCoordinators: surviving, the launcher ends, then the node that is the
// coordinator after it; each time a majority chooses the next one, and all that live continue.
func TestF12CoordinatorsFollowCoordinators(t *testing.T) {
	for _, silent := range []bool{false, true} {
		w := quietWorld(t, Config{Members: 6, Survive: true})
		for victim := range 3 {
			if silent {
				w.powerOff(victim)
			} else {
				w.kill(victim)
			}
			w.runUntil(w.now.Add(4 * mono.Second))
			require.NoError(t, w.violation)
			require.NoError(t, w.settled(), "silent %v, after the death of %d", silent, victim)
			epoch, acts := w.members[victim+1].r.Leads()
			assert.True(t, acts)
			assert.Equal(t, uint32(victim+1), epoch)
		}
	}
}

// TestHalfAtOnceCannotBeSurvived: of six members three die at one moment, the launcher with them.
// The rest cannot know that it is not the losing side: it stands still and ends. Attached, with the
// launcher alive, the other half continues.
func TestHalfAtOnceCannotBeSurvived(t *testing.T) {
	w := quietWorld(t, Config{Members: 6, Survive: true})
	for _, m := range []int{0, 2, 4} {
		w.powerOff(m)
	}
	w.runUntil(w.now.Add(w.cfg.Orphan + 2*mono.Second))
	for _, m := range []int{1, 3, 5} {
		assert.True(t, w.members[m].ended)
		assert.Empty(t, w.members[m].declarations.Slice())
	}
	w = quietWorld(t, Config{Members: 6})
	for m := 2; m < 6; m++ {
		w.powerOff(m)
	}
	w.runUntil(w.now.Add(5 * mono.Second))
	require.NoError(t, w.settled())
	require.NoError(t, w.violation)
}

// TestTwoNodesSurviveAnyOneLoss: with the launcher they are three voters.
func TestTwoNodesSurviveAnyOneLoss(t *testing.T) {
	for victim := range 3 {
		w := quietWorld(t, Config{Members: 3, Survive: true})
		w.powerOff(victim)
		w.runUntil(w.now.Add(4 * mono.Second))
		require.NoError(t, w.violation)
		require.NoError(t, w.settled(), "victim %d", victim)
	}
}

// TestB27LinkTrouble: two living nodes cannot reach each other for Config.Link. The coordinator
// declares the one with more complaints, of equals the higher number. That node freezes first. The
// complaint of one of them alone costs nobody's life: a process there may stand still.
func TestB27LinkTrouble(t *testing.T) {
	for _, c := range []struct {
		complaints [][2]int // complainer, accused
		victim     int      // 0: none
	}{{[][2]int{{1, 2}}, 0}, {[][2]int{{2, 1}}, 0}, {[][2]int{{2, 1}, {3, 1}}, 0}, {[][2]int{{1, 2}, {2, 1}}, 2}, {[][2]int{{2, 1}, {1, 2}, {3, 1}}, 1}} {
		w := quietWorld(t, Config{Members: 4})
		since := w.now
		for _, pair := range c.complaints {
			w.step(pair[0], Unreachable{Member: pair[1]})
		}
		w.runUntil(since.Add(w.cfg.Link))
		assert.Empty(t, w.members[0].declarations.Slice())
		w.runUntil(since.Add(w.cfg.Link + 2*w.cfg.Timeout))
		require.NoError(t, w.violation)
		if c.victim == 0 {
			assert.Empty(t, w.members[0].declarations.Slice(), "complaints %v", c.complaints)
			continue
		}
		assert.Equal(t, []int{c.victim}, w.members[0].declarations.Slice(), "complaints %v", c.complaints)
		assert.Equal(t, 1, w.members[c.victim].freezes)
	}
}

// TestB27LinkMended: a complaint that is withdrawn in time costs nobody's life.
func TestB27LinkMended(t *testing.T) {
	w := quietWorld(t, Config{Members: 4})
	w.step(2, Unreachable{Member: 1})
	w.step(1, Unreachable{Member: 2})
	w.runUntil(w.now.Add(w.cfg.Link - 100*ms))
	w.step(1, Reachable{Member: 2})
	w.runUntil(w.now.Add(w.cfg.Link))
	require.NoError(t, w.settled())
	w.step(1, Unreachable{Member: 2})
	w.runUntil(w.now.Add(w.cfg.Link - 100*ms))
	assert.Empty(t, w.members[0].declarations.Slice())
	assert.Zero(t, w.members[2].freezes)
}

// TestLateDaemons: on an oversubscribed machine every daemon is up to a Period and a half late,
// each time. Nobody freezes for that, and nobody dies.
func TestLateDaemons(t *testing.T) {
	for _, survive := range []bool{false, true} {
		w := newWorld(rand.New(rand.NewPCG(4, 4)), Config{Members: 5, Survive: survive})
		w.jitter = 150 * ms
		w.runUntil(mono.Time(600 * mono.Second))
		require.NoError(t, w.violation)
		require.NoError(t, w.settled())
		for me, m := range w.members {
			assert.Zero(t, m.freezes, "member %d, survive %v", me, survive)
		}
	}
}

// TestLossOfDatagrams: with one datagram in twenty lost nobody dies in ten minutes, and a
// lease hardly ever runs out.
func TestLossOfDatagrams(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(5, 5)), Config{Members: 5})
	w.loss = 0.05
	w.runUntil(mono.Time(600 * mono.Second))
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	freezes := 0
	for _, m := range w.members {
		freezes += m.freezes
	}
	assert.LessOrEqual(t, freezes, 4)
}
