package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/ulfm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { trial.RunTests(m, func([]string) { main() }) }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-seed 3": true, "-rounds 5 -mode goroutines": true, "-for 1s": true, "-only agree,i:*": true, "-rank -seed 2 -log x": true,
		"-mode x": false, "-rounds -1": false, "-only nothing": false, "-without *": false, "x": false, "-frob": false,
	})
	o, err := parse([]string{"-seed", "7"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, 1, o.rounds, "with a seed alone it is that round again")
}

// TestRoundsOfProcesses, TestRoundsOfNodes and TestRoundsOfGoroutines run a few rounds; make random
// runs many.
func TestRoundsOfProcesses(t *testing.T) { rehearse(t, longtest.N(4, 20), modeProcs) }

func TestRoundsOfNodes(t *testing.T) { rehearse(t, longtest.N(4, 20), modeNodes) }

func TestRoundsOfGoroutines(t *testing.T) { rehearse(t, longtest.N(4, 20), modeGoroutines) }

// TestRoundsOfWindows runs programs of windows alone, in each mode.
func TestRoundsOfWindows(t *testing.T) {
	for _, mode := range []string{modeGoroutines, modeProcs, modeNodes} {
		rehearse(t, longtest.N(3, 20), mode, "-only", "win:*,dup,split")
	}
}

func rehearse(t *testing.T, n int, mode string, more ...string) {
	if testing.Short() {
		n = min(n, 5)
	}
	rounds := strconv.Itoa(n)
	o, err := parse(append([]string{"-mode", mode, "-seed", "1", "-rounds", rounds}, more...), io.Discard)
	require.NoError(t, err)
	var out strings.Builder
	code, err := drive(o, &out)
	require.NoError(t, err)
	assert.Zero(t, code, "%s", &out)
	assert.Contains(t, out.String(), "rounds="+rounds+" wrong=0 ")
}

// TestDraw: equal seeds give equal rounds, at least one rank survives, and all kinds of deaths and
// features occur.
func TestDraw(t *testing.T) {
	for _, mode := range []string{modeProcs, modeNodes, modeGoroutines} {
		kinds, features := map[string]int{}, map[string]int{}
		for seed := range uint64(2000) {
			points := seed%2 == 0
			r := draw(seed, mode, points)
			require.Equal(t, r, draw(seed, mode, points), "seed %d", seed)
			dying := len(r.dooms)
			if r.frame > 0 {
				dying++
				kinds[doomFrame]++
			}
			require.Less(t, dying, r.n, "seed %d: %v", seed, r)
			for _, d := range r.dooms {
				kinds[d.kind]++
			}
			for _, f := range r.features() {
				features[f]++
			}
		}
		want := []string{doomFrame, doomKill, doomPoint}
		switch mode {
		case modeNodes:
			want = []string{doomError, doomExit, doomKill, doomPoint, doomLaunch, doomMark, doomNode, doomPanic, doomPause}
			assert.Subset(t, slices.Collect(maps.Keys(features)), []string{"--host", "--stop", "--cut", "era"})
		case modeProcs:
			want = []string{doomError, doomExit, doomKill, doomPoint, doomLaunch, doomMark, doomPanic, doomPause, doomStop}
			assert.Subset(t, slices.Collect(maps.Keys(features)), []string{"ring", "era", "--fence", "--suspect-after", "GOGC", "GOMAXPROCS", "one core", "load"})
		}
		assert.ElementsMatch(t, want, slices.Collect(maps.Keys(kinds)))
		assert.Subset(t, slices.Collect(maps.Keys(features)), []string{"2 ranks", "12 ranks", "uniform", "handler", "chosen ways", "nobody dies"})
	}
}

// fake is a round of three processes, one of which dies, with more records at process 0.
func fake(more ...record) *result {
	over := record{What: recOver}
	agree := record{What: recEnd, Step: "0.0", Op: "agree", Comm: "world", Out: "1"}
	member := record{What: recMember, Comm: "world", Procs: []int{0, 1, 2}}
	return &result{
		r: &round{n: 3}, dead: map[int]bool{2: true},
		logs: logs{0: append([]record{member, agree, over}, more...), 1: {member, agree, over}, 2: {member, agree}},
	}
}

// TestJudgeSees: the judge finds each kind of fault, and nothing else.
func TestJudgeSees(t *testing.T) {
	end := func(class string, procs ...int) record {
		return record{What: recEnd, Step: "0.1", Op: "send", Comm: "world", Class: class, Err: class, Procs: procs}
	}
	created := func(out string) record {
		return record{What: recEnd, Step: "0.2", Op: "dup", Comm: "world", From: "world", Out: out}
	}
	both := func(a, b record) *result {
		res := fake(a)
		res.logs[1] = append(res.logs[1], b)
		return res
	}
	hung := fake()
	hung.bad = "hung"
	lost := fake()
	lost.logs[1] = lost.logs[1][:2]
	uniform := fake(end(classRevoked))
	uniform.r.uniform = true
	overtaken := both(created("made"), record{What: recEnd, Step: "0.2", Op: "dup", Comm: "world", From: "world", Class: classRevoked})
	overtaken.logs[1] = append(overtaken.logs[1], record{What: recRevoke, Comm: "world"})
	for name, c := range map[string]struct {
		res *result
		bad string
	}{
		"all is well":                      {fake(), ""},
		"the dead are blamed":              {fake(end(classFailed, 2)), ""},
		"the living are blamed":            {fake(end(classFailed, 1)), "blames the living"},
		"revoked by nobody":                {fake(end(classRevoked)), "nobody has"},
		"revoked":                          {fake(end(classRevoked), record{What: recRevoke, Comm: "world"}), ""},
		"revoked by a death":               {uniform, ""},
		"another communicator was revoked": {fake(end(classRevoked), record{What: recRevoke, Comm: "x"}), "nobody has"},
		"another error":                    {fake(end(classOther)), "no error of this kind"},
		"told that it is dead":             {fake(end(classFenced)), "is told that it is dead"},
		"two outcomes":                     {both(created("made"), created("none")), "outcomes differ"},
		"two outcomes, overtaken":          {overtaken, ""},
		"an outcome of the dead":           {func() *result { r := fake(); r.logs[2][1].Out = "0"; return r }(), ""},
		"a broken promise":                 {fake(record{What: recWrong, Err: "bad data"}), "bad data"},
		"a hang":                           {hung, "hung"},
		"lost on the way":                  {lost, "has not come to the end"},
	} {
		if bad := c.res.judge(); c.bad == "" {
			assert.Empty(t, bad, name)
		} else {
			assert.Contains(t, bad, c.bad, name)
		}
	}
}

// TestJudgeCode: a rank that reports a failure fails the job, unless the job survives failures;
// nothing else fails the job.
func TestJudgeCode(t *testing.T) {
	exit := errors.New("exit status 1")
	died := func(kind string) logs { return logs{2: {{What: recDie, Op: kind}}} }
	dead := map[int]bool{2: true}
	strict, lenient := &round{n: 3, strict: true}, &round{n: 3}
	assert.Empty(t, strict.judgeCode(exit, died(doomPanic), dead))
	assert.Empty(t, lenient.judgeCode(nil, died(doomPanic), dead))
	assert.Empty(t, strict.judgeCode(nil, died(doomKill), dead))
	assert.NotEmpty(t, strict.judgeCode(nil, died(doomExit), dead))
	lost := *strict
	lost.nodes, lost.node, lost.ended = []int{0, 0, 1}, 1, true
	assert.Empty(t, lost.judgeCode(nil, died(doomExit), dead), "its node is lost, and with it how it ended")
	assert.NotEmpty(t, lenient.judgeCode(exit, died(doomError), dead))
	assert.NotEmpty(t, strict.judgeCode(exit, died(doomKill), dead))
	assert.Empty(t, strict.judgeCode(exit, nil, map[int]bool{0: true, 1: true, 2: true}), "nobody is left")
	assert.Empty(t, strict.judgeCode(exit, died(doomExit), nil), "it had finalized before")
}

// TestClassify: the classes of errors, of one and of many requests.
func TestClassify(t *testing.T) {
	failed := &ulfm.Error{Op: "recv", Ranks: []int{3}, Err: ulfm.ErrProcFailed}
	assert.Equal(t, classFailed, classify(failed))
	assert.Equal(t, []int{3}, namedRanks(fmt.Errorf("more: %w", failed)))
	many := &comm.MultiError{Errs: []error{nil, failed, &ulfm.Error{Ranks: []int{5}, Err: ulfm.ErrProcFailed}}}
	assert.Equal(t, []int{3, 5}, namedRanks(many))
	assert.Equal(t, classRevoked, classify(&ulfm.Error{Err: ulfm.ErrRevoked}))
	assert.Equal(t, classOther, classify(comm.ErrMismatch))
}

// TestJournalOutlives: records are there although the process has not closed its log, and half a
// line does no harm.
func TestJournalOutlives(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir, 4)
	require.NoError(t, err)
	j.put(record{What: recDie, Op: doomKill, Procs: []int{4}})
	_, err = j.file.WriteString(`{"What":"be`)
	require.NoError(t, err)
	all, err := readLogs(dir)
	require.NoError(t, err)
	require.Len(t, all[4], 1)
	assert.Equal(t, recDie, all[4][0].What)
	assert.WithinDuration(t, time.Now(), time.Unix(0, all[4][0].T), time.Minute)
	assert.Contains(t, all.String(), "die  kill  processes [4]")
}

// TestWrongRoundsAreTold: the driver prints the seed and the command that repeats the round, and
// collects the wrong seeds.
func TestWrongRoundsAreTold(t *testing.T) {
	o, err := parse([]string{"-mode", "goroutines", "-seed", "5", "-rounds", "2", "-without", "free-early"}, io.Discard)
	require.NoError(t, err)
	var out strings.Builder
	tally := o.rehearse(&out, func(r *round) *result {
		res := fake(record{What: recWrong, Err: "bad data"})
		res.r = r
		return res
	})
	assert.Equal(t, []uint64{5, 6}, tally.failed)
	assert.Contains(t, out.String(), "again: go run ./stress/randprog -mode goroutines -seed 6 -without 'free-early' -v\n")
	assert.Contains(t, out.String(), "WRONG: process 0: bad data\n")
}

// TestNodeOfAReplacement: a process in the slot of an ended process is on the node of the slot.
func TestNodeOfAReplacement(t *testing.T) {
	r := round{nodes: []int{0, 0, 1, 1}, node: 1, ended: true}
	assert.Equal(t, 1, r.nodeOf(1<<16|2))
	assert.True(t, r.onEndedNode(3<<16|3))
	assert.False(t, r.onEndedNode(3<<16|1))
	one := round{}
	assert.Equal(t, 0, one.nodeOf(1<<16|2))
}
