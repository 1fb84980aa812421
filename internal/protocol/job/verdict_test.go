package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func exits(code int) Status { return Status{Code: code} }

var killed = Status{Signal: sigkill}

// TestVerdict: the code of a job, and the words with which it ends, from the ends of its ranks.
// Times are those at which the ends were found.
func TestVerdict(t *testing.T) {
	fine := Process{Joined: true, Left: true}
	said := func(number int, status Status, foundNs int64) Process {
		return Process{Slot: number, Status: status, Joined: true, FoundNs: foundNs}
	}
	for _, c := range []struct {
		name            string
		ends            []Process
		code, any, none int // of --survive killed, and any; with none the job ends with the first loss
		text            string
	}{
		{"all finish", []Process{fine, fine}, 0, 0, 0, "2 of 2 ranks finished"},
		{"one is killed", []Process{fine, said(1, killed, 1)}, 0, 0, 137, "1 of 2 ranks finished"},
		{"one has an error", []Process{fine, said(1, exits(1), 1)}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit code 1"},
		{"one panics", []Process{fine, said(1, exits(2), 1)}, 2, 0, 2, "1 of 2 ranks finished, rank 1 failed: exit code 2"},
		{"one calls os.Exit(3)", []Process{said(0, exits(3), 1), fine}, 3, 0, 3, "1 of 2 ranks finished, rank 0 failed: exit code 3"},
		{"one exits without Finalize", []Process{fine, said(1, exits(0), 1)}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit without Finalize"},
		{"one exits without Init", []Process{fine, {Slot: 1, Status: exits(0)}}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit without Init"},
		{"one aborts some", []Process{fine, {Slot: 1, Status: killed, Joined: true, Aborted: 9}}, 9, 0, 9, "1 of 2 ranks finished, rank 1 failed: Abort(9)"},
		{"one is fenced", []Process{fine, {Slot: 1, Status: exits(5), Joined: true, Fenced: true}}, 0, 0, 5, "1 of 2 ranks finished"},
		{"code 5 of one that is not", []Process{fine, said(1, exits(5), 1)}, 5, 0, 5, "1 of 2 ranks finished, rank 1 failed: exit code 5"},
		{"a code after Finalize", []Process{fine, {Slot: 1, Status: exits(2), Joined: true, Left: true}}, 2, 2, 2, "2 of 2 ranks finished, rank 1 failed: exit code 2 after Finalize"},
		{"killed after Finalize", []Process{fine, {Slot: 1, Status: killed, Joined: true, Left: true}}, 0, 0, 0, "2 of 2 ranks finished"},
		{"one ends, and nobody can tell how", []Process{fine, said(1, Status{Unknown: true}, 1)}, 0, 0, 1, "1 of 2 ranks finished"},
		{"the first that said so", []Process{said(0, exits(1), 20), said(1, exits(4), 10), said(2, killed, 5), fine}, 4, 0, 137, "1 of 4 ranks finished, rank 1 failed: exit code 4"},
		{"all are killed", []Process{said(0, killed, 1), said(1, killed, 2)}, 4, 4, 137, "0 of 2 ranks finished: too many lost"},
		{"nobody finishes", []Process{said(0, exits(1), 2), said(1, killed, 1)}, 1, 1, 137, "0 of 2 ranks finished, rank 0 failed: exit code 1"},
		{"a Spawn that failed", []Process{fine, {Slot: 1, Status: killed, Dropped: true}, {Slot: 2, Status: exits(0), Dropped: true}}, 0, 0, 0, "1 of 3 ranks finished"},
		{"other programs", []Process{{Status: exits(0)}, {Slot: 1, Status: exits(0)}}, 0, 0, 0, "0 of 2 processes failed; none came through Init: is it a goulfm program of this build?"},
		{"one of them fails", []Process{{Status: exits(0)}, {Slot: 1, Status: exits(7)}}, 7, 7, 7, "1 of 2 processes failed; none came through Init: is it a goulfm program of this build?"},
	} {
		assert.Equal(t, Verdict{c.code, c.text}, judge(c.ends, tally{}, SurviveKilled), c.name)
		assert.Equal(t, c.any, judge(c.ends, tally{}, SurviveAny).Code, "%s, --survive any", c.name)
		assert.Equal(t, c.none, firstLoss(c.ends), "%s, --survive none", c.name)
	}
}

// firstLoss is the code with which the first loss ends a job.
func firstLoss(ends []Process) int {
	strangers := true
	for _, e := range ends {
		strangers = strangers && !e.Joined
	}
	code, at := 0, int64(0)
	for _, e := range ends {
		if e.lost(strangers) && (code == 0 || e.FoundNs < at) {
			code, at = codeOfLoss(e, strangers), e.FoundNs
		}
	}
	return code
}

// TestSurvivorsOf: a process that became a rank after a death does not report this death.
func TestSurvivorsOf(t *testing.T) {
	r := New(Config{Ranks: 3, Procs: 5})
	for proc := range 3 {
		r.Step(Forked{Proc: proc})
		r.Step(Joined{Proc: proc})
	}
	r.Step(Found{Proc: 1, By: ByTombstone})
	r.Step(Wanted{Root: 0, N: 1, Parents: []int{0, 2}})
	r.Step(Forked{Proc: 3})
	assert.Equal(t, []int{3, 2, 2}, []int{r.Survivors(), r.SurvivorsOf(1), r.SurvivorsOfWorld()})
	r.Step(Found{Proc: 2, By: ByTombstone})
	assert.Equal(t, []int{2, 1, 1}, []int{r.Survivors(), r.SurvivorsOf(1), r.SurvivorsOfWorld()})
	assert.Equal(t, 2, r.SurvivorsOf(2), "the process that was started in between does")
}
