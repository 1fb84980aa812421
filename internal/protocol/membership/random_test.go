package membership

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var seeds = flag.Int("seeds", 60, "random runs per test")

// chaos plans faults for some seconds: deaths with and without a trace, pauses, cuts of one
// direction between any two groups, clocks that differ, datagrams that are lost. It spares
// the launcher unless the job survives that, and lets no more die than that. Seeds from -seeds up
// have racks.
type chaos struct {
	*world
	end    mono.Time
	mortal int // how many may still die
}

func newChaos(seed uint64, survive bool) *chaos {
	rng := rand.New(rand.NewPCG(seed, 7))
	cfg := Config{Members: 2 + rng.IntN(7), Survive: survive}
	if seed%3 == 2 {
		cfg.Adaptive = &adaptive.QoS{Detection: 600 * adaptive.Millisecond}
	}
	if seed%4 == 1 && !survive && cfg.Members > 2 {
		cfg.Absent = rankset.Range(2+rng.IntN(cfg.Members-2), cfg.Members)
	}
	if seed >= uint64(*seeds) {
		for m := range cfg.Members {
			cfg.Racks = append(cfg.Racks, (m*m+int(seed))%3)
		}
	}
	c := &chaos{world: newWorld(rng, cfg), end: mono.Time(8 * mono.Second)}
	for m := range cfg.Absent.All() {
		c.at(mono.Time(rng.Int64N(int64(c.end))), func() { c.come(m) })
	}
	c.delay = mono.Duration(1 + rng.Int64N(int64(8*ms)))
	c.jitter = mono.Duration(1 + rng.Int64N(int64(2*ms)))
	if rng.IntN(2) == 0 {
		c.loss = rng.Float64() / 10
	}
	c.mortal = cfg.Members - 1
	if survive {
		c.mortal = (cfg.Members - 1) / 2
	}
	for range rng.IntN(12) {
		c.at(mono.Time(rng.Int64N(int64(c.end))), c.fault)
	}
	c.at(c.end, func() {
		c.heal()
		c.loss = 0
	})
	return c
}

func (c *chaos) fault() {
	me := c.rng.IntN(len(c.members))
	switch c.rng.IntN(6) {
	case 0:
		if c.mayDie(me) {
			c.kill(me)
		}
	case 1:
		if c.mayDie(me) {
			c.powerOff(me)
		}
	case 2, 3:
		c.pause(me, mono.Duration(c.rng.Int64N(int64(2*mono.Second))))
	default:
		from, to := c.someGroup(), c.someGroup()
		c.sever(from, to, true)
		if c.rng.IntN(2) == 0 {
			c.sever(to, from, true)
		}
		c.at(c.now.Add(mono.Duration(c.rng.Int64N(int64(3*mono.Second)))), func() {
			c.sever(from, to, false)
			c.sever(to, from, false)
		})
	}
}

func (c *chaos) mayDie(me int) bool {
	if c.mortal == 0 || c.members[me].gone || c.members[me].absent || me == Launcher && !c.cfg.Survive {
		return false
	}
	c.mortal--
	return true
}

func (c *chaos) someGroup() rankset.Set {
	var group rankset.Set
	for m := range c.members {
		if c.rng.IntN(3) == 0 {
			group.Add(m)
		}
	}
	return group
}

// TestI18I7Attached: no member ever considers another one dead while the ranks of that one run.
// When the faults are over all live members run, under the launcher, and know the same dead.
func TestI18I7Attached(t *testing.T) {
	deaths, declared, freezes, messages, late := 0, 0, 0, 0, 0
	for seed := range uint64(*seeds + *seeds/4) {
		c := newChaos(seed, false)
		c.runUntil(c.end.Add(14 * mono.Second))
		require.NoError(t, c.violation, "seed %d", seed)
		require.NoError(t, c.settled(), "seed %d, %d members", seed, len(c.members))
		for _, m := range c.members {
			freezes += m.freezes
			if m.gone {
				deaths++
			}
		}
		late += c.cfg.Absent.Len()
		declared += c.members[0].declarations.Len()
		messages += c.messages
	}
	require.Greater(t, declared, deaths, "nobody was ever declared who lived")
	require.NotZero(t, late, "nobody ever came late")
	t.Logf("%d runs, %d deaths, %d declared, %d came late, %d freezes, %d messages", *seeds+*seeds/4, deaths, declared, late, freezes, messages)
}

// TestI20I18Surviving is the same where the coordinator may change. Nobody acts as coordinator
// after a later one has acted, and a version is the same at each coordinator that makes it count. A
// majority may be declared, in the wake of long pauses and cuts; then the rest stands still, and
// ends.
func TestI20I18Surviving(t *testing.T) {
	settled, coordinators, freezes := 0, 0, 0
	for seed := range uint64(*seeds + *seeds/4) {
		c := newChaos(seed, true)
		c.runUntil(c.end.Add(18 * mono.Second))
		require.NoError(t, c.violation, "seed %d", seed)
		err := c.settled()
		if err == nil {
			settled++
		} else if c.majorityLives() {
			require.NoError(t, err, "seed %d, %d members", seed, len(c.members))
		}
		coordinators += int(c.acted)
		for _, m := range c.members {
			freezes += m.freezes
		}
	}
	require.Greater(t, settled, *seeds)
	require.NotZero(t, coordinators, "the coordinator never changed")
	t.Logf("%d runs, %d settled, %d epochs, %d freezes", *seeds+*seeds/4, settled, coordinators, freezes)
}

// majorityLives reports whether the live members could choose a coordinator according to all
// records.
func (c *chaos) majorityLives() bool {
	var live, declared rankset.Set
	newest := Record{}
	for me, m := range c.members {
		if m.lives() {
			live.Add(me)
			declared.Union(m.declarations)
		}
		if m.r.voter.record.newer(newest) {
			newest = m.r.voter.record
		}
	}
	before := rankset.Range(0, len(c.members))
	before.Subtract(declared)
	return isMajority(live, newest.voters(len(c.members))) && isMajority(live, before)
}

// TestSafetyNeedsNoDelays: the promises about safety do not rest on how long a message takes. Some
// take seconds here and overtake others, links are cut all the time, and machines are paused, so
// that coordinators follow coordinators and each finds the half-finished work of the one before.
func TestSafetyNeedsNoDelays(t *testing.T) {
	coordinators, declared := 0, 0
	for seed := range uint64(*seeds * longtest.N(1, 5)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		cfg := Config{Members: 3 + rng.IntN(3), Survive: rng.IntN(5) > 0}
		c := &chaos{world: newWorld(rng, cfg), end: mono.Time(20 * mono.Second)}
		c.storm, c.delay, c.jitter = true, 4*ms, 2*ms
		c.mortal = rng.IntN(2)
		for range 10 + rng.IntN(60) {
			c.at(mono.Time(rng.Int64N(int64(c.end))), c.fault)
		}
		c.runUntil(c.end)
		require.NoError(t, c.violation, "seed %d", seed)
		coordinators += int(c.acted)
		for _, m := range c.members {
			declared += m.declarations.Len()
		}
	}
	t.Logf("%d runs, %d epochs, %d declarations", *seeds*longtest.N(1, 5), coordinators, declared)
}
