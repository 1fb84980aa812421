package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// A tally counts.
type tally struct {
	jobs, kills, right    int
	hangs, wrong, failed  int // jobs
	leftovers             int // processes and files
	byVictims             [ranksMax]int
	slowest, total        time.Duration
	batches, ops, repairs int
}

// deaths counts the ranks that are lost, as the launcher reports them, and those of
// them that were to be.
func (r *result) deaths() (lost, killed int) {
	for line := range strings.Lines(r.stderr) {
		if !strings.Contains(line, `"event":"death"`) {
			continue
		}
		lost++
		if strings.Contains(line, `"cause":"killed (SIGKILL)"`) && strings.Contains(line, `"planned":`) {
			killed++
		}
	}
	return lost, killed
}

// judge says what is wrong with a job, or nothing.
func (r *result) judge() string {
	exit := new(exec.ExitError)
	lost, killed := r.deaths()
	switch {
	case r.hung:
		return "hung"
	case errors.As(r.err, &exit) && exit.ExitCode() == codeWrong:
		return "wrong data"
	case r.err != nil:
		return "ended with " + r.err.Error()
	case lost > killed:
		return "a rank that was not killed is lost"
	case len(r.left) > 0:
		return "left behind: " + strings.Join(r.left, ", ")
	}
	return ""
}

// add counts a job and says what is wrong with it.
func (t *tally) add(r result) string {
	bad := r.judge()
	_, killed := r.deaths()
	t.jobs++
	t.kills += killed
	t.byVictims[min(killed, len(t.byVictims)-1)]++
	t.leftovers += len(r.left)
	t.slowest = max(t.slowest, r.took)
	switch {
	case bad == "":
		t.right++
	case r.hung:
		t.hangs++
	case bad == "wrong data":
		t.wrong++
	case len(r.left) == 0:
		t.failed++
	}
	for line := range strings.Lines(r.stdout) {
		var rank, batches, ops, repairs int
		if n, _ := fmt.Sscanf(line, "killstress: rank %d: batches=%d operations=%d repairs=%d", &rank, &batches, &ops, &repairs); n == 4 {
			t.batches += batches
			t.ops += ops
			t.repairs += repairs
			break // the next one is of a rank that came when this one had died
		}
	}
	return bad
}

func (t *tally) print(out io.Writer) {
	fmt.Fprintf(out, "jobs=%d right=%d kills=%d hangs=%d wrong=%d failed=%d leftovers=%d\n", t.jobs, t.right, t.kills, t.hangs, t.wrong, t.failed, t.leftovers)
	fmt.Fprintf(out, "batches=%d operations=%d repairs=%d slowest=%v took=%v\njobs by ranks killed:", t.batches, t.ops, t.repairs, t.slowest.Round(time.Millisecond), t.total.Round(time.Millisecond))
	for n, jobs := range t.byVictims {
		if jobs > 0 {
			fmt.Fprintf(out, " %d:%d", n, jobs)
		}
	}
	fmt.Fprintln(out)
}
