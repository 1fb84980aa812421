package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var windowJobs = flag.Int("windows", 2, "how many jobs whose ranks are killed in each test of windows")

// window runs the test program, once for each job to kill, and compares its output with a regular
// expression.
func window(t *testing.T, jobs int, ranks, what, out string) {
	t.Helper()
	windowOn(t, jobs, []string{"-n", ranks}, what, out)
}

func windowOn(t *testing.T, jobs int, where []string, what, out string, flags ...string) {
	t.Helper()
	program := build(t, "./testdata/window", flags...)
	for range jobs {
		got := goulfmCommand(t, "", append(append([]string{"run", "-q"}, where...), "--timeout", "90s", program, what)...)
		assert.Zero(t, got.code, "%s%s", got.out, got.err)
		assert.Regexp(t, out, got.out)
		t.Log(got.out)
	}
}

// TestWindow: every call, between real processes.
func TestWindow(t *testing.T) {
	window(t, 1, "1", "calls", `^ok\n$`)
	window(t, 1, "4", "calls", `^ok\n$`)
}

// TestSpecW6W7PutsOfTheKilled: processes are killed while they put. Every number that they leave is
// whole, and none changes once their death is known.
func TestSpecW6W7PutsOfTheKilled(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	window(t, *windowJobs, "9", "puts", `^begun: [1-7], in the middle: \d\n$`)
}

// TestSpecW6CountsOfTheKilled: processes are killed while they count atomically. Each count has
// taken effect once or not at all.
func TestSpecW6CountsOfTheKilled(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	window(t, *windowJobs, "9", "counts", `^counted, ahead by \d\n$`)
}

// TestSpecW11LocksOfTheKilled: processes are killed with a lock. The next holder gets an error and
// repairs the memory, also if a repairer is killed. In the end no update is half done.
func TestSpecW11LocksOfTheKilled(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	window(t, *windowJobs, "9", "lock", `^mended [1-9]\d*\n$`)
}

// TestSpecW9W20MemoryOfTheKilled: the memory of a killed process is read, and taken over.
func TestSpecW9W20MemoryOfTheKilled(t *testing.T) {
	window(t, 1, "4", "rebuild", `^ok\n$`)
}

// TestSpecW7W8OwnMemoryOfTheKilled: a get from a program's own memory, at a rank that is killed,
// returns all data or none. Data that killed ranks have put into such memory do not change once
// their death is known.
func TestSpecW7W8OwnMemoryOfTheKilled(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	window(t, *windowJobs, "6", "own", `^ok\n$`)
	windowOn(t, *windowJobs, []string{"--host", "2", "--ppn", "3"}, "own", `^ok\n$`)
}

// TestWindowsOfANode: the processes of one node share memory also in a job of several.
func TestWindowsOfANode(t *testing.T) {
	windowOn(t, 1, []string{"--host", "2", "--ppn", "3"}, "near-calls", `^ok\nok\n$`)
	windowOn(t, 1, []string{"--host", "2", "--ppn", "4"}, "near-lock", `^(mended [1-9]\d*\n){2}$`)
}

// TestWindowsBetweenNodes: the same calls, and the same deaths, where most members are on other
// nodes.
func TestWindowsBetweenNodes(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	windowOn(t, 1, []string{"--host", "3", "--ppn", "2"}, "calls", `^ok\n$`)
	windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, "puts", `^begun: [0-7], in the middle: \d\n$`)
	windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, "counts", `^counted, ahead by \d\n$`)
	windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, "lock", `^mended [1-9]\d*\n$`)
	windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, "late", `^ok\n$`)
	windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, "waiter", `^ok\n$`)
}

// TestNotifyBetweenNodes: a frame that waits to be batched with others is written before its sender
// waits for something else.
func TestNotifyBetweenNodes(t *testing.T) {
	windowOn(t, *windowJobs, []string{"--host", "2", "--ppn", "2"}, "notify", `^ok\n$`)
}

// TestWindowsWhilePausedBetweenNodes: a process may lose its processor between the check that an
// origin lives and the effects of the origin's request, or just before the process publishes a
// death. Such a pause changes no state that others see.
func TestWindowsWhilePausedBetweenNodes(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	t.Setenv("GOULFM_PAUSE", "rate=24,max=15ms,place=engine")
	for what, out := range map[string]string{"lock": `^mended [1-9]\d*\n$`, "counts": `^counted, ahead by \d\n$`, "late": `^ok\n$`, "waiter": `^ok\n$`} {
		windowOn(t, *windowJobs, []string{"--host", "3", "--ppn", "3"}, what, out, "-tags", "pausepoints")
	}
}

// TestSpecW22FencedStores: with --fence no request is executed that a rank sends after its
// declaration of death, even if the rank continues.
func TestSpecW22FencedStores(t *testing.T) {
	longtest.Skip(t, "several jobs whose ranks are killed")
	windowOn(t, *windowJobs, []string{"-n", "3", "--suspect-after", "1s", "--fence"}, "fenced", `^ok\n$`)
}

// TestHashtable: a table in the memory of all ranks loses nothing when two of them are killed.
func TestHashtable(t *testing.T) {
	program := build(t, "../../examples/hashtable")
	got := goulfmCommand(t, "", "run", "-q", "-n", "4", "--timeout", "90s", "--kill", "1@batch=20", "--kill", "3@batch=60", program, "-keys", "100000")
	assert.Zero(t, got.code, got.err)
	assert.Regexp(t, `^hashtable: 100000 keys, 2 ranks of 4, [12] repairs: all there\n$`, got.out, "both may die before anybody repairs")
	got = goulfmCommand(t, "", "run", "-q", "--host", "2", "--ppn", "2", "--timeout", "90s", "--timeout-factor", "10", "--kill", "1@batch=20", "--kill", "node1@batch=60", program, "-keys", "100000")
	assert.Zero(t, got.code, got.err)
	assert.Regexp(t, `^hashtable: 100000 keys, [12] ranks? of 4, [12] repairs: all there\n$`, got.out)
}
