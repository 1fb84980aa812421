package heat

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A result is the last line of heat.
type result struct {
	line  string
	steps int
}

var resultLine = regexp.MustCompile(`(?m)^result: steps=(\d+) residual=\S+ checksum=[0-9a-f]{16}$`)

// resultOf finds the result in a run that is otherwise right. Rank 0 may die after it has printed
// the result and before the others know that. Then the next one prints the result again, and both
// must be the same.
func resultOf(r *trial.Result) (res result, bad string) {
	if bad := r.Judge(); bad != "" {
		return res, bad
	}
	for i, m := range resultLine.FindAllStringSubmatch(r.Stdout, -1) {
		if i > 0 && m[0] != res.line {
			return res, "two different results"
		}
		res.line = m[0]
		res.steps, _ = strconv.Atoi(m[1])
	}
	if res.line == "" {
		return res, "no result"
	}
	return res, ""
}

// judge returns the fault of a run; empty: none.
func judge(r *trial.Result, want string) string {
	got, bad := resultOf(r)
	if bad == "" && got.line != want {
		bad = fmt.Sprintf("got %q, want %q", got.line, want)
	}
	return bad
}

var repairLine = regexp.MustCompile(`(?m)^repair: (\d+) -> (\d+) ranks, lost \[[\d ]*\], (.*), [\d.]+ ms$`)

// A report is the output of heat about its repairs.
type report struct{ repairs, lost, restarts, inRepair int }

func reportOf(stdout string) (s report) {
	for _, m := range repairLine.FindAllStringSubmatch(stdout, -1) {
		before, _ := strconv.Atoi(m[1])
		after, _ := strconv.Atoi(m[2])
		s.repairs++
		s.lost += before - after
		if strings.Contains(m[3], "both lost") {
			s.restarts++
		}
		if strings.Contains(m[3], "tries") {
			s.inRepair++
		}
	}
	return s
}
