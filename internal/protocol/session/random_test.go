package session

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

var seeds = flag.Int("seeds", 400, "random schedules")

// TestI19ExactlyOnce exposes a pair to every fault of a network: links that break at any byte and
// lose the bytes in flight, an end that learns of a break much earlier than the other, dials that
// fail or hang, stale hellos, time that passes. The hosts compare the position of each piece with
// the position that must come next. Then the faults stop and both ends close: each must have
// received and acknowledged all that the other ever appended.
func TestI19ExactlyOnce(t *testing.T) {
	var total, breaks, opens uint64
	for seed := range uint64(*seeds) {
		rng := rand.New(rand.NewPCG(seed, 19))
		p := newPair(8+rng.IntN(56), 1+rng.IntN(100))
		g := &gambler{pair: p, rng: rng, roads: road{rng.IntN(4) > 0, rng.IntN(4) > 0}, patience: 1 + rng.IntN(30)}
		for range 300 + rng.IntN(700) {
			g.act()
		}
		require.NoError(t, p.violation, "seed %d", seed)
		g.finish(t, seed)
		total += p.ends[0].received + p.ends[1].received
		breaks += g.breaks
		opens += p.ends[0].s.dials + p.ends[1].s.dials
	}
	require.NotZero(t, breaks, "no link ever broke")
	t.Logf("%d schedules, %d bytes, %d links cut, %d dials", *seeds, total, breaks, opens)
}

// A gambler plays a random schedule.
type gambler struct {
	*pair
	rng      *rand.Rand
	roads    road
	patience int // of this number of tries to cut a link one succeeds on average
	breaks   uint64
}

func (g *gambler) act() {
	me := g.rng.IntN(2)
	switch r := g.rng.IntN(20); {
	case r < 3:
		g.appendSome(me)
	case r < 5:
		if n := g.ends[me].waiting(); n > 0 {
			g.take(me, 1+g.rng.IntN(n), g.rng.IntN(8) == 0)
		}
	case r < 6:
		g.step(me, Sweep{})
	case r < 8:
		g.now = g.now.Add(mono.Duration(g.rng.Int64N(int64(30 * ms))))
		g.tick(me)
	case r < 9 && g.rng.IntN(g.patience) == 0:
		g.breakSome(me)
	case r < 10 && g.rng.IntN(40) == 0:
		g.step(me, Want{})
	default:
		g.useLink(me)
	}
	g.forgetEmptyLinks()
}

func (g *gambler) appendSome(me int) {
	copied, referred := g.ends[me].s.Room()
	ev := Append{Copied: g.rng.IntN(copied + 1), Referred: g.rng.IntN(referred + 1)}
	if g.rng.IntN(2) == 0 {
		ev.Referred = 0
	}
	g.step(me, ev)
}

// breakSome cuts a link in flight, and sometimes reports the break to one end at once.
func (g *gambler) breakSome(me int) {
	if len(g.links) == 0 {
		return
	}
	l := g.links[g.rng.IntN(len(g.links))]
	if !l.up {
		return
	}
	g.breaks++
	g.cut(l, g.rng.IntN(4), g.rng.IntN(10))
	if g.rng.IntN(3) == 0 {
		g.breakAt(l, me)
	}
}

// useLink advances a random link: its dial ends, or an item arrives.
func (g *gambler) useLink(me int) {
	if len(g.links) == 0 {
		return
	}
	l := g.links[g.rng.IntN(len(g.links))]
	switch {
	case !l.up && l.closed[l.dialer]:
	case !l.up && g.roads[l.dialer]:
		g.connect(l)
	case !l.up && g.rng.IntN(3) == 0:
		g.refuse(l)
	case l.up && len(l.queue[me]) > 0 && !l.closed[me]:
		g.deliver(l, me, g.rng.IntN(12))
	}
}

// forgetEmptyLinks keeps the list short: a dial that was given up before it connected.
func (g *gambler) forgetEmptyLinks() { g.sweepLinks() }

// finish closes both ends with the roads of the schedule; at least one road is open.
func (g *gambler) finish(t *testing.T, seed uint64) {
	roads := g.roads
	if !roads[0] && !roads[1] {
		roads[g.rng.IntN(2)] = true
	}
	g.step(0, Close{})
	if g.rng.IntN(2) == 0 {
		g.runQuietly(g.now.Add(mono.Second), roads)
	}
	g.step(1, Close{})
	g.runQuietly(g.now.Add(10*mono.Second), roads)
	require.NoError(t, g.violation, "seed %d", seed)
	for me, e := range g.ends {
		peer := g.ends[1-me]
		state := []any{"seed %d: end %d: %s", seed, me, e.s.Describe()}
		require.True(t, e.closed, state...)
		require.Zero(t, e.lost, state...)
		require.Equal(t, e.s.out.queued, peer.received, state...)
		require.Equal(t, peer.received, peer.taken, state...)
		require.Zero(t, e.told, state...)
	}
}

// TestPairsAlwaysMeet opens a lane from both ends, with random delays below BusyFor in total and
// one road or both: they meet.
func TestPairsAlwaysMeet(t *testing.T) {
	for seed := range uint64(*seeds) {
		rng := rand.New(rand.NewPCG(seed, 41))
		p := newPair(64, 0)
		p.vanish = rng.IntN(2) == 0
		roads := []road{{true, false}, {false, true}, {true, true}}[rng.IntN(3)]
		g := &gambler{pair: p, rng: rng, roads: roads, patience: 1 << 30}
		p.step(0, Want{})
		p.step(1, Want{})
		for range rng.IntN(60) {
			switch rng.IntN(3) {
			case 0:
				p.now = p.now.Add(mono.Duration(rng.Int64N(int64(BusyFor / 100))))
				p.tick(0)
				p.tick(1)
			default:
				g.useLink(rng.IntN(2))
			}
		}
		p.runQuietly(p.now.Add(AttemptFor+BusyFor+2*RedialLast), roads)
		require.NoError(t, p.violation, "seed %d", seed)
		require.True(t, p.meet(), "seed %d, roads %v: %s; %s", seed, roads, p.ends[0].s.Describe(), p.ends[1].s.Describe())
	}
}
