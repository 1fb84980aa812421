package era

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// plainRuns is how many short random schedules the plain tests run.
const plainRuns = 20000

var runs = flag.Uint64("runs", plainRuns, "short random schedules to run; the longer kinds in proportion")

// A driver plays one random schedule. Everything follows from the seed.
type driver struct {
	*cluster
	rng        *rand.Rand
	agreements int  // proposals of each member
	ahead      int  // how many a member proposes without waiting for decisions
	faults     int  // deaths still to come
	dieOneIn   int  // a step is a death with this chance
	lateNotice bool // death notices only when nothing else can happen
	isSlow     []bool
	ackOneIn   int
	acked      []rankset.Set
	last       int // the last member to act: a good victim, its messages are in flight
	hunted     int // the latest decider, chosen to die; -1: none
	hunting    bool
}

// newDriver draws the parameters of a run. Swarm style: each run has its own mix of
// faults, delays and loads, so that rare combinations are common in some runs.
func newDriver(seed uint64, cfg Config) *driver {
	rng := rand.New(rand.NewPCG(seed, 0xE7A))
	if cfg.N == 0 {
		cfg.N = 2 + rng.IntN(7)
	}
	d := &driver{
		cluster:    newCluster(cfg),
		rng:        rng,
		agreements: 1 + rng.IntN(3),
		ahead:      1 + rng.IntN(3),
		dieOneIn:   []int{4, 12, 40}[rng.IntN(3)],
		lateNotice: rng.IntN(3) == 0,
		ackOneIn:   1 + rng.IntN(3),
		acked:      make([]rankset.Set, cfg.N),
		hunting:    rng.IntN(3) == 0,
		hunted:     -1,
	}
	d.onDecide = d.hunt
	d.faults = rng.IntN(cfg.N)
	d.isSlow = make([]bool, cfg.N*cfg.N)
	if p := rng.IntN(3); p > 0 {
		for i := range d.isSlow {
			d.isSlow[i] = rng.IntN(6) < p
		}
	}
	return d
}

// long makes the run cross the window several times.
func (d *driver) long() *driver {
	d.agreements = Window + 2 + d.rng.IntN(2*Window)
	d.ahead = 1 + d.rng.IntN(2*Window)
	d.dieOneIn = 100
	return d
}

// run plays until nothing can happen any more and then checks the end.
func (d *driver) run() error {
	for {
		moved, err := d.move()
		if err != nil {
			return err
		}
		if !moved {
			return d.checkEnd()
		}
	}
}

// move takes one random step and reports whether there was a step.
func (d *driver) move() (bool, error) {
	if d.faults > 0 && (d.hunted >= 0 || d.rng.IntN(d.dieOneIn) == 0) {
		d.kill(d.victim())
		return true, nil
	}
	kinds := []func() (bool, error){d.moveDelivery, d.movePropose, d.moveNotice}
	first := d.rng.IntN(4) % 3 // deliveries twice as often
	if d.lateNotice && first == 2 {
		first = 0
	}
	for i := range kinds {
		if moved, err := kinds[(first+i)%3](); moved || err != nil {
			return moved, err
		}
	}
	return d.moveSlow()
}

func (d *driver) moveDelivery() (bool, error) {
	eager := d.rng.IntN(16) == 0 // now and then a slow queue is served as well
	return d.deliverAny(func(i int) bool { return eager || !d.isSlow[i] })
}

func (d *driver) moveSlow() (bool, error) { return d.deliverAny(func(int) bool { return true }) }

func (d *driver) deliverAny(may func(i int) bool) (bool, error) {
	start := d.rng.IntN(len(d.queues))
	for k := range d.queues {
		i := start + k
		if i >= len(d.queues) {
			i -= len(d.queues)
		}
		if from, to := i/d.n(), i%d.n(); d.pending(from, to) && may(i) {
			d.last = to
			d.log("deliver %d->%d", from, to)
			return true, d.deliver(from, to)
		}
	}
	return false, nil
}

func (d *driver) movePropose() (bool, error) {
	start := d.rng.IntN(d.n())
	for k := range d.n() {
		r := (start + k) % d.n()
		s := d.members[r]
		if d.dead.Has(r) || s.Next() > uint64(d.agreements) || s.Open() >= d.ahead {
			continue
		}
		d.last = r
		v := d.contribution(r)
		d.log("propose %d [%v]", r, v)
		return true, d.propose(r, v)
	}
	return false, nil
}

func (d *driver) contribution(r int) Value {
	if d.rng.IntN(d.ackOneIn) == 0 {
		d.acked[r] = d.told[r].Clone()
	}
	claim := Claim{Call: 7, Rank: r}
	if d.rng.IntN(8) == 0 {
		claim.Call = uint64(d.rng.IntN(9))
	}
	v := Value{Lo: claim, Hi: claim, Flag: d.rng.Uint64(), Acked: d.acked[r].Clone()}
	if d.rng.IntN(8) == 0 {
		v.Vetoes.Add(r)
	}
	if d.rng.IntN(4) == 0 {
		v.Entries = []Entry{{Rank: r, Data: fmt.Append(nil, d.rng.IntN(1000))}}
	}
	return v
}

func (d *driver) moveNotice() (bool, error) {
	start := d.rng.IntN(d.n())
	for k := range d.n() {
		r := (start + k) % d.n()
		if d.dead.Has(r) || d.dead.SubsetOf(d.told[r]) {
			continue
		}
		news := d.dead.Clone()
		news.Subtract(d.told[r])
		all := news.Slice()
		x := all[d.rng.IntN(len(all))]
		d.last = r
		d.log("notice %d %d", r, x)
		return true, d.notice(r, x)
	}
	return false, nil
}

// hunt picks the latest decider: the schedules that split the paper's rules need every decider to
// die and one DOWN of the last of them to be late.
func (d *driver) hunt(r int) {
	if d.hunting && d.faults > 0 && d.rng.IntN(2) == 0 {
		d.hunted = r
	}
}

// victim chooses among the harmful deaths: the latest decider, the last member to act, its parent,
// the root.
func (d *driver) victim() int {
	victim := d.hunted
	d.hunted = -1
	if victim < 0 {
		switch d.rng.IntN(4) {
		case 0:
			victim = d.last
		case 1:
			victim = d.dead.NextAbsent(0)
		case 2:
			victim = (d.last - 1) / 2
		}
	}
	for victim < 0 || d.dead.Has(victim) {
		victim = d.rng.IntN(d.n())
	}
	return victim
}

// kill stops a member, somewhere in the middle of its sends. Messages already sent may be delayed.
func (d *driver) kill(victim int) {
	d.faults--
	d.log("die %d", victim)
	d.die(victim)
	for to := range d.n() {
		m := len(*d.queue(victim, to))
		if m == 0 {
			continue
		}
		switch d.rng.IntN(4) {
		case 0:
			d.lose(victim, to, d.rng.IntN(m))
		case 1:
			d.lose(victim, to, m-1)
		case 2:
			d.isSlow[victim*d.n()+to] = true
		}
	}
}

// explain plays a failing run again and returns its events.
func (d *driver) explain() string {
	d.verbose = true
	err := d.run()
	return fmt.Sprintf("%s\n%v", strings.Join(d.events, "\n"), err)
}

// sweep plays the runs with seeds 1..count on two cores and returns the least seed
// that fails, with its error; 0 if none does. It stops early once one has failed.
func sweep(count uint64, make func(seed uint64) *driver) (uint64, error) {
	const workers = 2
	var failed atomic.Uint64 // least failing seed, plus nothing if 0
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			for seed := w + 1; seed <= count; seed += workers {
				if f := failed.Load(); f != 0 && f < seed {
					return
				}
				if make(seed).run() != nil {
					lower(&failed, seed)
					return
				}
			}
		})
	}
	wg.Wait()
	if seed := failed.Load(); seed != 0 {
		return seed, make(seed).run()
	}
	return 0, nil
}

func lower(least *atomic.Uint64, seed uint64) {
	for {
		old := least.Load()
		if old != 0 && old < seed || least.CompareAndSwap(old, seed) {
			return
		}
	}
}

// runCount scales a plain number of runs to the requested one.
func runCount(plain uint64) uint64 {
	if *runs == plainRuns && (raceEnabled || testing.Short()) {
		return plain / 10
	}
	return plain * *runs / plainRuns
}

// TestRandomSchedules: Theorems 1-4 of ERA and the values of the decisions, in random
// schedules with deaths anywhere, notices arbitrarily late, several agreements open
// and the watchdog off (rules 1-8 terminate without it).
func TestRandomSchedules(t *testing.T) {
	for _, c := range []struct {
		name  string
		count uint64
		make  func(seed uint64) *driver
	}{
		{"short", plainRuns, func(seed uint64) *driver { return newDriver(seed, Config{}) }},
		{"chain", 2000, func(seed uint64) *driver { return newDriver(seed, Config{Parent: chain}) }},
		{"star", 2000, func(seed uint64) *driver { return newDriver(seed, Config{Parent: star}) }},
		{"long", 200, func(seed uint64) *driver { return newDriver(seed, Config{}).long() }},
		{"wide", 60, func(seed uint64) *driver { return newDriver(seed, Config{N: 9 + int(seed%56)}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if seed, err := sweep(runCount(c.count), c.make); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, c.make(seed).explain())
			}
		})
	}
}

func chain(pos int) int { return pos - 1 }

func star(pos int) int { return min(pos-1, 0) }
