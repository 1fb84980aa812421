package spectable

import (
	"fmt"
	"regexp"
	"sync"
)

// A Gap is a place where a rule is known not to hold. Its test still runs. Errors that match the
// gap are excused, other errors are not. A gap without a matching error is itself an error, so that
// the list cannot outlive its reasons.
type Gap struct {
	Test  string // package and name of the test function
	Says  string // regular expression of the test's errors about the gap
	Rules string // "R13"; "errors" or "contexts" where the API, but no rule, has the promise
	Why   string // one sentence
	// Rare gaps depend on the schedule: their test may meet them or not.
	Rare bool
}

// A T is the part of testing.TB that complaints end in.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Complaints collects the errors of a test, from any goroutine.
type Complaints struct {
	mu    sync.Mutex
	lines []string
}

// Errorf notes a complaint.
func (c *Complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// Judge ends the test. Complaints that no gap excuses fail the test, and so does a gap of this test
// that excuses none.
func (c *Complaints) Judge(t T, test string, gaps []Gap) {
	t.Helper()
	used := make([]int, len(gaps))
	for _, line := range c.lines {
		i := excuse(gaps, test, line)
		if i < 0 {
			t.Errorf("%s", line)
			continue
		}
		used[i]++
	}
	for i, g := range gaps {
		switch {
		case g.Test != test, g.Rare && used[i] == 0:
		case used[i] == 0:
			t.Errorf("the gap %q is closed: take it out of the list", g.Says)
		default:
			t.Logf("known gap in %s (%d times): %s", g.Rules, used[i], g.Why)
		}
	}
}

func excuse(gaps []Gap, test, line string) int {
	for i, g := range gaps {
		if g.Test == test && regexp.MustCompile(g.Says).MatchString(line) {
			return i
		}
	}
	return -1
}

// Gaps are the rules that do not hold yet.
func Gaps() []Gap { return nil }
