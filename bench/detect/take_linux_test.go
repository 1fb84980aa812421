package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain makes this binary the program of ranks, too.
func TestMain(m *testing.M) {
	if beRankIfAsked(os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

// told is a group that has reported these events; with over its job is over.
func told(over bool, events ...event) *group {
	g := &group{events: make(chan event, len(events))}
	for _, e := range events {
		g.events <- e
	}
	if over {
		close(g.events)
	}
	return g
}

const began = 1_000_000_000

func knows(node, victim, ms int64) event {
	return event{what: lineKnows, node: node, victim: victim, ns: began + ms*1e6}
}

func lost(node, ms int64) event { return event{what: watch.Lost, node: node, ns: began + ms*1e6} }

func TestAwaitKnown(t *testing.T) {
	f := fault{nodes: 4, victims: []int{1, 2}, how: faultStop}
	d, err := told(false, knows(0, 1, 30), event{what: watch.Suspected, node: 1, ns: began + 15e6}, event{what: watch.Suspected, node: 3, ns: began + 90e6}, lost(1, 20), event{what: watch.Frozen, node: 1}, knows(3, 1, 25), lost(2, 40), knows(0, 2, 50), knows(3, 2, 45)).awaitKnown(t.Context(), began, f)
	require.NoError(t, err)
	assert.Equal(t, delay{first: 25, all: 50, suspected: 15, declaration: 40}, d)

	// The death of a rank has no declaration.
	d, err = told(false, knows(1, 0, 2)).awaitKnown(t.Context(), began, fault{nodes: 2, victims: []int{0}, how: faultRank})
	require.NoError(t, err)
	assert.Equal(t, delay{first: 2, all: 2}, d)
}

func TestAwaitKnownOfWrongDeclarations(t *testing.T) {
	f := fault{nodes: 3, victims: []int{1}, how: faultStop}
	_, err := told(false, lost(1, 20), lost(0, 21)).awaitKnown(t.Context(), began, f)
	require.ErrorIs(t, err, errWrong)
	_, err = told(false, lost(1, -1)).awaitKnown(t.Context(), began, f)
	require.ErrorIs(t, err, errWrong, "before anything was done")
	_, err = told(false, knows(0, 1, -1)).awaitKnown(t.Context(), began, f)
	require.ErrorIs(t, err, errWrong, "before anything was done")
	_, err = told(true, lost(1, 20), event{what: someFailed, node: 2}).awaitKnown(t.Context(), began, f)
	require.ErrorIs(t, err, errWrong, "not told, but at the end")
	_, err = told(true, lost(1, 20), knows(0, 1, 21), event{what: someFailed, node: 1}).awaitKnown(t.Context(), began, f)
	require.NotErrorIs(t, err, errWrong)
	require.ErrorContains(t, err, "has ended")
	_, err = told(false, event{what: noWatch}).awaitKnown(t.Context(), began, f)
	require.ErrorIs(t, err, errNoWatch)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = told(false).awaitKnown(ctx, began, f)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAwaitInOfAWrongDeclaration(t *testing.T) {
	g := told(false, lost(1, 5))
	g.nodes = 2
	require.ErrorIs(t, g.awaitIn(t.Context()), errWrong)
	g = told(false, event{what: noWatch})
	g.nodes = 2
	require.ErrorIs(t, g.awaitIn(t.Context()), errNoWatch)
}

// TestAwaitInOfTheWatcher: ranks are not enough, and neither is the watcher.
func TestAwaitInOfTheWatcher(t *testing.T) {
	in := event{what: lineIn, node: 0, pids: [2]int{os.Getpid(), os.Getpid()}}
	for _, events := range [][]event{{in, {what: watch.Complete}}, {{what: watch.Complete}, in}} {
		g := told(false, events...)
		g.nodes, g.pids = 1, map[int64][2]int{}
		require.NoError(t, g.awaitIn(t.Context()))
		require.Len(t, g.pids, 1)
		g.close()
		g = told(true, events[0])
		g.nodes, g.pids = 1, map[int64][2]int{}
		err := g.awaitIn(t.Context())
		require.ErrorContains(t, err, "has ended")
		g.close()
	}
}

func TestSettingFlags(t *testing.T) {
	assert.Equal(t, "--period 100ms --timeout-factor 5", strings.Join(standard.flags(), " "))
	s := setting{period: 30 * time.Millisecond, factor: 2, confirm: time.Millisecond}
	assert.Equal(t, "--period 30ms --timeout-factor 2 --confirm 1ms", strings.Join(s.flags(), " "))
	assert.Equal(t, 60*time.Millisecond, s.timeout())
	s.hosts = "file"
	assert.Equal(t, "--period 30ms --timeout-factor 2 --confirm 1ms --hostfile file --launcher local", strings.Join(s.flags(), " "))
	assert.Equal(t, "--period 1h0m0s --timeout-factor 2 --confirm 1ms --link-timeout 4h0m0s --orphan-after 4h0m0s", strings.Join(withoutHeartbeats(2).flags(), " "))
}

// TestWithoutHeartbeats starts the control of D5 and D6: the launcher accepts its settings, and no
// node is lost.
func TestWithoutHeartbeats(t *testing.T) {
	b := &bench{plan: plan{seconds: 1, limit: 2 * time.Minute}, dir: t.TempDir()}
	var err error
	b.self, err = os.Executable()
	require.NoError(t, err)
	b.bin, err = job.Build(t.Context(), b.dir)
	require.NoError(t, err)
	_, err = b.lookFor(t.Context(), setting{period: 2 * time.Hour, factor: 2}, 2, loadIdle)
	require.ErrorContains(t, err, "link timeout", "refused flags are no false positive")
	for _, factor := range []int{2, 10} {
		o, err := b.lookFor(t.Context(), withoutHeartbeats(factor), 2, loadIdle)
		require.NoError(t, err)
		assert.Zero(t, o.lost)
	}
}

// TestCPUTime: the clock of another process advances with its work; without a process there is an
// error.
func TestCPUTime(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	require.NoError(t, err)
	x := 1.0
	for range 100 {
		x = piece(x)
	}
	assert.Positive(t, x)
	after, err := cpuTime(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, after, before)
	_, err = cpuTime(1 << 23) // beyond all numbers of processes on Linux
	assert.Error(t, err)
}

func TestRanksOf(t *testing.T) {
	ranks, err := ranksOf(fault{victims: []int{3, 0, 12}}.list())
	require.NoError(t, err)
	assert.Equal(t, []int{3, 0, 12}, ranks)
	_, err = ranksOf("")
	assert.Error(t, err)
}

// TestD1OfTwoNodes takes the figure from two daemons, with a rank and then a node killed in each
// run.
func TestD1OfTwoNodes(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	require.NoError(t, os.WriteFile(page, []byte(figure.Marker+"\n"), 0o600))
	require.NoError(t, takeAll(t.Context(), plan{figures: []string{"D1"}, quick: true, busy: true, nodes: []int{2}, out: dir, table: page, limit: 2 * time.Minute}))
	text, err := os.ReadFile(filepath.Join(dir, "D1.csv"))
	require.NoError(t, err)
	for _, name := range []string{"a rank killed", "a node killed"} {
		for _, of := range []string{"the first knows", "all know"} {
			// Of two runs one may be without a time, on a machine so busy that the node which lives
			// is declared.
			points := strings.Count(string(text), "\n"+name+": "+of+",2,")
			assert.True(t, points == 1 || points == 2, "%s: %s in\n%s", name, of, text)
		}
	}
	rows, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(rows), "| D1 | conditions |  | load average "), "%s", rows)
	assert.Equal(t, 4, strings.Count(string(rows), " knows, ms (medians of 2 runs) |")+strings.Count(string(rows), " know, ms (medians of 2 runs) |"), "%s", rows)
}
