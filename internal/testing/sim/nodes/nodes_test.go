package nodes

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

var (
	seed       = flag.Uint64("seed", 1, "first seed")
	nodeRuns   = flag.Int("node-runs", 300, "jobs on several nodes to simulate")
	nodeReplay = flag.Uint64("node-replay", 0, "print the trace of this run of nodes")
)

// TestNodes runs jobs on several machines: the invariants of nodeChecker hold, and each kind of
// event occurs.
func TestNodes(t *testing.T) {
	total, err := RunMany(Options{Seed: *seed}, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= *nodeRuns })
	t.Logf("%+v", total)
	require.NoError(t, err)
	for what, n := range map[string]int{
		"agreements": total.Agreements, "shrinks": total.Shrinks, "revocations": total.Revokes, "deaths of ranks": total.Deaths,
		"nodes that were declared": total.Lost, "and lived": total.Wronged, "freezes": total.Freezes, "ranks that stand still by themselves": total.Halts,
		"thaws": total.Thaws, "other coordinators": total.Coordinators, "ranks of declared nodes that ran on": total.Zombies, "connections that broke": total.Broken,
		"sessions that told of a death": total.Refused, "nodes that ended themselves": total.Ended, "jobs that could not go on": total.Stopped,
	} {
		assert.Positive(t, n, what)
	}
}

// TestSameSeedSameNodes: a run is a function of its options.
func TestSameSeedSameNodes(t *testing.T) {
	hashes := map[uint64]bool{}
	for s := range uint64(20) {
		first, err1 := Run(Options{Seed: s})
		traced, err2 := Run(Options{Seed: s, Trace: func(string) {}})
		require.NoError(t, err1)
		require.NoError(t, err2)
		assert.Equal(t, first, traced, "seed %d", s)
		hashes[first.Hash] = true
	}
	assert.Len(t, hashes, 20)
}

// TestShrinkNodes: the faults that remain of a run break the same invariant, and none can be left
// out.
func TestShrinkNodes(t *testing.T) {
	found := 0
	for s := uint64(1); found < 3; s++ {
		_, err := Run(Options{Seed: s, tamper: func(r *nodeRun) {
			r.plan(r.setup.safety, func() {
				if r.report.Deaths > 0 {
					r.fail("I0", "%d deaths", r.report.Deaths)
				}
			})
		}})
		v, broken := errors.AsType[*Violation](err)
		if !broken || len(v.Faults) < 3 {
			continue
		}
		small := Shrink(v)
		if small == v {
			continue // all of them are needed
		}
		found++
		assert.Equal(t, "I0", small.Invariant)
		assert.Less(t, len(small.Faults), len(v.Faults))
		assert.Contains(t, strings.Join(small.Faults, "\n"), "dies")
		assert.Contains(t, small.Error(), fmt.Sprintf("replay: goulfm sim -nodes 1 -replay %d -faults %d", s, small.Options.Faults[0]))
		for i := range small.Options.Faults { // none can be spared
			o := small.Options
			o.Faults = slices.Delete(slices.Clone(o.Faults), i, i+1)
			_, err := Run(o)
			assert.NoError(t, err, small)
		}
	}
}

// TestNodeChecksFindIt: each forbidden event is found, without any fault, and the error names the
// command that replays the run.
func TestNodeChecksFindIt(t *testing.T) {
	for invariant, spoil := range map[string]func(r *nodeRun){
		"I19": func(r *nodeRun) { r.ranks[0].lanes[len(r.ranks)-1].heard++ },
		"I18": func(r *nodeRun) { r.stations[1].declared = true },
		"I7":  func(r *nodeRun) { r.check.declaration(r.stations[1], r.stations[2]) },
		"I20": func(r *nodeRun) { r.check.epoch = 9 },
		"I6":  func(r *nodeRun) { r.ranks[0].fenced("for nothing") },
	} {
		t.Run(invariant, func(t *testing.T) {
			_, err := Run(Options{Seed: 3, Nodes: 3, Faults: []int{}, tamper: func(r *nodeRun) {
				r.plan(mono.Millisecond, func() { spoil(r) })
			}})
			v, broken := errors.AsType[*Violation](err)
			require.True(t, broken)
			assert.Equal(t, invariant, v.Invariant)
			assert.Contains(t, v.Error(), "replay: goulfm sim -nodes 1 -replay 3 -n 3 -faults none")
		})
	}
}

// TestADeclaredNodeMustEnd: a machine that never resumes after a pause is declared, and its ranks
// do not end. The check finds them, also if all other ranks have left in peace.
func TestADeclaredNodeMustEnd(t *testing.T) {
	for _, closes := range []bool{false, true} {
		_, err := Run(Options{
			Seed: 3, Nodes: 3, Faults: []int{},
			shape:  func(s *nodeSetup) { s.closes = closes },
			tamper: func(r *nodeRun) { r.plan(mono.Millisecond, func() { r.stations[2].paused++ }) },
		})
		v, broken := errors.AsType[*Violation](err)
		require.True(t, broken)
		assert.Equal(t, "I6", v.Invariant)
		assert.Contains(t, v.Text, "was declared, and the process does not end")
	}
}

func TestNodeReplay(t *testing.T) {
	if *nodeReplay == 0 {
		t.Skip("needs -node-replay SEED")
	}
	report, err := Run(Options{Seed: *nodeReplay, Trace: func(line string) { t.Log(line) }})
	t.Logf("%+v", report)
	require.NoError(t, err)
}
