package launch

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func exits(code int) syscall.WaitStatus { return syscall.WaitStatus(code << 8) }

const killed = syscall.WaitStatus(syscall.SIGKILL)

// TestVerdict: the code of a job, and the words with which it ends, from how its ranks
// ended. Times are those at which the ends were found.
func TestVerdict(t *testing.T) {
	fine := end{joined: true, left: true}
	said := func(number int, status syscall.WaitStatus, foundNs int64) end {
		return end{number: number, status: status, joined: true, foundNs: foundNs}
	}
	for _, c := range []struct {
		name            string
		ends            []end
		code, any, none int // of --survive killed, and any; with none the job ends with the first loss
		text            string
	}{
		{"all finish", []end{fine, fine}, 0, 0, 0, "2 of 2 ranks finished"},
		{"one is killed", []end{fine, said(1, killed, 1)}, 0, 0, 137, "1 of 2 ranks finished"},
		{"one has an error", []end{fine, said(1, exits(1), 1)}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit code 1"},
		{"one panics", []end{fine, said(1, exits(2), 1)}, 2, 0, 2, "1 of 2 ranks finished, rank 1 failed: exit code 2"},
		{"one calls os.Exit(3)", []end{said(0, exits(3), 1), fine}, 3, 0, 3, "1 of 2 ranks finished, rank 0 failed: exit code 3"},
		{"one exits without Finalize", []end{fine, said(1, exits(0), 1)}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit without Finalize"},
		{"one exits without Init", []end{fine, {number: 1, status: exits(0)}}, 1, 0, 1, "1 of 2 ranks finished, rank 1 failed: exit without Init"},
		{"one aborts some", []end{fine, {number: 1, status: killed, joined: true, aborted: 9}}, 9, 0, 9, "1 of 2 ranks finished, rank 1 failed: Abort(9)"},
		{"one is fenced", []end{fine, {number: 1, status: exits(5), joined: true, fenced: true}}, 0, 0, 5, "1 of 2 ranks finished"},
		{"code 5 of one that is not", []end{fine, said(1, exits(5), 1)}, 5, 0, 5, "1 of 2 ranks finished, rank 1 failed: exit code 5"},
		{"a code after Finalize", []end{fine, {number: 1, status: exits(2), joined: true, left: true}}, 2, 2, 2, "2 of 2 ranks finished, rank 1 failed: exit code 2 after Finalize"},
		{"killed after Finalize", []end{fine, {number: 1, status: killed, joined: true, left: true}}, 0, 0, 0, "2 of 2 ranks finished"},
		{"the first that said so", []end{said(0, exits(1), 20), said(1, exits(4), 10), said(2, killed, 5), fine}, 4, 0, 137, "1 of 4 ranks finished, rank 1 failed: exit code 4"},
		{"all are killed", []end{said(0, killed, 1), said(1, killed, 2)}, 4, 4, 137, "0 of 2 ranks finished: too many lost"},
		{"nobody finishes", []end{said(0, exits(1), 2), said(1, killed, 1)}, 1, 1, 137, "0 of 2 ranks finished, rank 0 failed: exit code 1"},
		{"a Spawn that failed", []end{fine, {number: 1, status: killed, dropped: true}, {number: 2, status: exits(0), dropped: true}}, 0, 0, 0, "1 of 3 ranks finished"},
		{"other programs", []end{{status: exits(0)}, {number: 1, status: exits(0)}}, 0, 0, 0, "0 of 2 processes failed; none came through Init: is it a goulfm program?"},
		{"one of them fails", []end{{status: exits(0)}, {number: 1, status: exits(7)}}, 7, 7, 7, "1 of 2 processes failed; none came through Init: is it a goulfm program?"},
	} {
		assert.Equal(t, verdict{c.code, c.text}, judge(c.ends, SurviveKilled), c.name)
		assert.Equal(t, c.any, judge(c.ends, SurviveAny).code, "%s, --survive any", c.name)
		assert.Equal(t, c.none, firstLoss(c.ends), "%s, --survive none", c.name)
	}
}

// firstLoss is the code with which the first loss ends a job.
func firstLoss(ends []end) int {
	strangers := true
	for _, e := range ends {
		strangers = strangers && !e.joined
	}
	code, at := 0, int64(0)
	for _, e := range ends {
		if e.lost(strangers) && (code == 0 || e.foundNs < at) {
			code, at = codeOfLoss(e, strangers), e.foundNs
		}
	}
	return code
}
