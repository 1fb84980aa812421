package cluster

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

var (
	seed       = flag.Uint64("seed", 1, "first seed")
	agreements = flag.Int("agreements", 2_500, "agreements to simulate")
	nmax       = flag.Int("nmax", 0, "most processes, with -replay")
	replay     = flag.Uint64("replay", 0, "print the trace of this seed")
)

// TestSurvivors simulates agreements with random deaths. The watchdog is off.
func TestSurvivors(t *testing.T) {
	total, err := RunMany(Options{Seed: *seed}, runtime.NumCPU(), func(sum Total) bool { return sum.Agreements >= *agreements })
	t.Logf("%+v", total)
	if err != nil {
		t.Fatal(err)
	}
	if total.Deaths == 0 || total.Revokes == 0 || total.Communicators == 0 {
		t.Errorf("too tame: %+v", total)
	}
}

// TestLongMessages: with every detector, runs have long messages, and some that their senders
// withdraw.
func TestLongMessages(t *testing.T) {
	for _, d := range []Detector{Exact, Ring, Wild} {
		t.Run(d.String(), func(t *testing.T) {
			total, err := RunMany(Options{Seed: *seed, NMax: 8, Detector: d}, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= 60 })
			require.NoError(t, err)
			assert.Greater(t, total.Long, 100)
			assert.Greater(t, total.TakenBack, 5)
		})
	}
}

// TestWatchdog makes agreements repeat their messages: the repetitions do no harm.
func TestWatchdog(t *testing.T) {
	o := Options{Seed: *seed, NMax: 16, Watchdog: 5 * world.MessageDelay}
	total, err := RunMany(o, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= 30 })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", total)
}

func TestReplay(t *testing.T) {
	if *replay == 0 {
		t.Skip("needs -replay SEED")
	}
	if _, err := Run(Options{Seed: *replay, NMax: *nmax, Trace: func(line string) { t.Log(line) }}); err != nil {
		t.Fatal(err)
	}
}

// TestSpecC9UniformRuns: where failures revoke by themselves, every communicator with a dead member
// ends revoked at every live process, and all other invariants hold.
func TestSpecC9UniformRuns(t *testing.T) {
	deaths, revoked := 0, 0
	for s := range uint64(60) {
		o := Options{Seed: *seed + s, NMax: 12}
		w := newSimulation(o).swarm
		w.uniform, w.revokes = true, 0 // no other revocation
		o.like = &w
		report, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		deaths += report.Deaths
		if report.Deaths > 0 {
			revoked++
		}
	}
	if deaths < 30 || revoked < 20 {
		t.Errorf("%d deaths in %d runs: too tame", deaths, revoked)
	}
}

// TestSameSeedSameRun: a run is a function of its options, byte for byte.
func TestSameSeedSameRun(t *testing.T) {
	hashes := map[uint64]bool{}
	for s := range uint64(20) {
		first, err1 := Run(Options{Seed: s, NMax: 12})
		traced, err2 := Run(Options{Seed: s, NMax: 12, Trace: func(string) {}})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if first != traced {
			t.Errorf("seed %d: %+v, then %+v", s, first, traced)
		}
		hashes[first.Hash] = true
	}
	if len(hashes) != 20 {
		t.Errorf("20 seeds have %d hashes", len(hashes))
	}
}

// TestQueueOrder compares the heap with sorting.
func TestQueueOrder(t *testing.T) {
	tp := world.NewTape(7)
	var q queue
	var want []event
	for i := range 500 {
		e := event{at: mono.Time(tp.Below(50)), proc: i}
		q.push(e)
		want = append(want, e)
		if i%7 == 0 { // a slot is used again
			slices.SortStableFunc(want, byTime)
			if got, ok := q.pop(); !ok || got.proc != want[0].proc {
				t.Fatalf("got event %d, want %d", got.proc, want[0].proc)
			}
			want = want[1:]
		}
	}
	slices.SortStableFunc(want, byTime)
	for _, w := range want {
		if got, ok := q.pop(); !ok || got.proc != w.proc {
			t.Fatalf("got event %d, want %d", got.proc, w.proc)
		}
	}
	if _, ok := q.pop(); ok {
		t.Error("an event more than were put in")
	}
}

func byTime(a, b event) int { return int(a.at - b.at) }

// TestNetworkKeepsOrder: frames of one lane of a pair never overtake each other, no frame passes a
// shut link, and a death destroys a suffix.
func TestNetworkKeepsOrder(t *testing.T) {
	w := newNetwork(world.NewTape(3), swarm{n: 2, tails: true, slowPairs: 50}, &part{})
	var last mono.Time
	for i := range 1000 {
		now := mono.Time(i * 1000)
		if i == 500 {
			w.shut(0, 1, now.Add(mono.Second))
		}
		at := w.arrival(controlLane, 0, 1, now, i%10 == 0)
		if at <= last || at <= now || i >= 500 && at < 500_000+mono.Time(mono.Second) {
			t.Fatalf("frame %d arrives at %d, the one before at %d", i, at, last)
		}
		if back := w.arrival(controlLane, 1, 0, now, false); back > now.Add(mono.Second/2) {
			t.Fatalf("the other direction is shut, too: %d", back)
		}
		last = at
	}
	if !w.arrives(controlLane, 0, 1, last) {
		t.Error("lost without a death")
	}
	w.lose(0, 999_000)
	cut := w.link(0, 1).lanes[controlLane].cut
	if cut < 999_000 || w.arrives(controlLane, 0, 1, cut+1) || !w.arrives(controlLane, 0, 1, cut) || !w.arrives(controlLane, 1, 0, cut+1) {
		t.Errorf("cut at %d", cut)
	}
}

// TestViolationNamesItsReplay: the replay command has the seed and the options, so that the run is
// the same.
func TestViolationNamesItsReplay(t *testing.T) {
	run := func(seed uint64) *Violation {
		s := newSimulation(Options{Seed: seed, NMax: 8, Detector: Exact, Agree: Era})
		s.tamper = func(ev event) []event {
			if ev.kind == arrival && s.report.Steps == 50 {
				return []event{ev, {at: ev.at, kind: notice, proc: ev.proc, other: ev.other}} // this process may be alive
			}
			return []event{ev}
		}
		s.run()
		return s.violation
	}
	seed := uint64(1)
	v := run(seed)
	for v == nil {
		seed++
		v = run(seed)
	}
	want := fmt.Sprintf("\nreplay: goulfm sim -replay %d -nmax 8 -detector exact -agree era", seed)
	assert.True(t, strings.HasSuffix(v.Error(), want), "%v\nwant %s", v, want)
	again := run(seed)
	require.NotNil(t, again)
	assert.Equal(t, v.Error(), again.Error())
}
