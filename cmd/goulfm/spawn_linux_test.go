package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestSpawn: spawned processes exchange messages with the processes that started them, merge with
// them, and leave with them.
func TestSpawn(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, agree := range []string{"node", "era"} {
			r := goulfmCommand(t, "", "run", "-n", fmt.Sprint(n), "--agree", agree, "--timeout", "60s", prog, "spawn")
			sum := n * (n + 1) / 2
			want := []string{}
			for rank := range 2 {
				want = append(want, fmt.Sprintf("new %d of 2 beside %d, spawned true, argument, here: sum %d", rank, n, sum))
			}
			lines := strings.Split(strings.TrimSpace(r.out), "\n")
			slices.Sort(lines)
			if r.code != 0 || !slices.Equal(lines, want) || strings.Contains(r.err, "died") {
				t.Errorf("%d ranks, --agree %s: code %d\n%s%s", n, agree, r.code, r.out, r.err)
			}
		}
	}
}

// TestSpecR59SpawnThatFails: a Spawn that cannot start its processes returns an error at every
// member. The communicator still works, and no process remains.
func TestSpecR59SpawnThatFails(t *testing.T) {
	r := goulfmCommand(t, "", "run", "-n", "3", "--timeout", "60s", prog, "spawn-errors")
	for i, want := range []string{
		`bad argument: 0 processes to start: want at least 1`,
		`1000 processes asked for, and of the 22 that the job can have at a time 3 are there: give it more with goulfm run --universe N`,
		`/no/such/program: no such program`,
		`rank [34] ended before it was in Init`,
	} {
		lines := strings.Split(r.out, "\n")
		if len(lines) <= i || !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d of\n%swant %q", i, r.out, want)
		}
	}
	if r.code != 0 {
		t.Errorf("code %d\n%s", r.code, r.err)
	}
}

// TestSpecR59DeathsWhileOthersAreStarted: in each round one process dies, and a second one dies
// while the first is replaced. Rank 0 and new processes are among the victims. The job always
// returns to its initial number of processes.
func TestSpecR59DeathsWhileOthersAreStarted(t *testing.T) {
	for seed := range longtest.N(1, 6) {
		r := goulfmCommand(t, "", "run", "-n", "6", "--universe", "300", "--timeout", "60s", prog, "spawn-stress", fmt.Sprint(seed), "10")
		if r.code != 0 || strings.Contains(r.err, "panic") {
			t.Errorf("seed %d: code %d\n%s%s", seed, r.code, r.out, r.err)
		}
	}
}

// TestSpawnTakesExactDeaths: with the ring, Spawn is an error, because all processes that the job
// can have observe each other.
func TestSpawnTakesExactDeaths(t *testing.T) {
	r := goulfmCommand(t, "", "run", "-n", "2", "--detector", "ring", "--timeout", "60s", prog, "spawn")
	if r.code == 0 || !strings.Contains(r.err, "spawn on world: not supported: Spawn needs exact detection: run without --detector ring") {
		t.Errorf("code %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestUniverse: wrong sizes are refused before anything is started.
func TestUniverse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run -n 4 --universe 3 PROG ring", "at least the 4 ranks"},
		{"run -n 4 --universe 100000 PROG ring", "at most 4096"},
		{"run -n 4 --universe 8 --detector ring PROG ring", "--universe 8: replacement needs exact detection: run without --detector ring"},
	} {
		r := goulfmCommand(t, "", strings.Fields(strings.ReplaceAll(c.args, "PROG", prog))...)
		if r.code != 2 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: code %d, %s", c.args, r.code, r.err)
		}
	}
}

// TestLastOperationBetweenWorlds: a member that has completed an operation between two worlds and
// has left is no failure for a member that has not completed the operation yet. This holds in
// collectives of messages and of memory, in windows, for long messages, and after a Disconnect.
func TestLastOperationBetweenWorlds(t *testing.T) {
	program := build(t, "./testdata/last")
	for _, operation := range []string{"allreduce", "barrier", "bcast", "merged", "window", "long", "disconnect"} {
		for _, where := range [][]string{{"-n", "2"}, {"--host", "4", "--ppn", "1"}} {
			for range longtest.N(1, *windowJobs) {
				got := goulfmCommand(t, "", append(append([]string{"run", "-q"}, where...), "--timeout", "90s", program, operation)...)
				assert.Zero(t, got.code, "%s %v: %s", operation, where, got.err)
			}
		}
	}
}

// TestSpawnAwaitsLeavers: the job has slots for one Spawn at a time. The processes of the Spawn
// before are about to end, and the next Spawn waits for their end. A Spawn that has no room even
// without them is refused.
func TestSpawnAwaitsLeavers(t *testing.T) {
	for _, where := range []string{"-n 1", "--host 2 --ppn 1 -n 1"} {
		args := append(append([]string{"run"}, strings.Fields(where)...), "--timeout", "60s", "--universe")
		got := goulfmCommand(t, "", append(args, "5", prog, "spawn-again")...)
		assert.Equal(t, 0, got.code, "%s: %s", where, got.err)
		got = goulfmCommand(t, "", append(args, "4", prog, "spawn-again")...)
		assert.Equal(t, 1, got.code, where)
		assert.Contains(t, got.err, "no room: 4 processes asked for", where)
	}
}
