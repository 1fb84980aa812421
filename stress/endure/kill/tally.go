package kill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A tally has the counts of all jobs.
type tally struct {
	jobs, kills, right    int
	hangs, wrong, failed  int // jobs
	leftovers             int // processes and files
	byVictims             [ranksMax]int
	slowest, total        time.Duration
	batches, ops, repairs int
}

// killed counts the deaths that were planned.
func killed(r *trial.Result) (count int) {
	for _, d := range r.Deaths() {
		if d.Cause == trial.Killed && d.Planned != "" {
			count++
		}
	}
	return count
}

// judge returns the fault of a job; empty: none. Only planned victims may die.
func judge(r *trial.Result) string {
	bad := r.Judge()
	if bad == "" && len(r.Deaths()) > killed(r) {
		return "a rank that was not killed is lost"
	}
	return bad
}

// add counts a job and returns its fault.
func (t *tally) add(r *trial.Result) string {
	bad, kills := judge(r), killed(r)
	t.jobs++
	t.kills += kills
	t.byVictims[min(kills, len(t.byVictims)-1)]++
	t.leftovers += len(r.Left)
	t.slowest = max(t.slowest, r.Took)
	switch {
	case bad == "":
		t.right++
	case r.Hung:
		t.hangs++
	case bad == trial.BrokenPromise:
		t.wrong++
	case len(r.Left) == 0:
		t.failed++
	}
	for line := range strings.Lines(r.Stdout) {
		var rank, batches, ops, repairs int
		if n, _ := fmt.Sscanf(line, "kill: rank %d: batches=%d operations=%d repairs=%d", &rank, &batches, &ops, &repairs); n == 4 {
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
