package spectable

import (
	"fmt"
	"regexp"
	"sync"
)

// A Gap is a place where a rule is known not to hold. Its test still runs: what it
// says about the gap is excused, anything else is not, and a gap of which the test
// says nothing any more is an error, so that the list cannot outlive its reasons.
type Gap struct {
	Test  string // package and name of the test function
	Says  string // regular expression: what the test says about it
	Rules string // "R13"; "errors", "contexts" where no rule but the API says so
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

// Complaints collects what a test has to say, from any goroutine.
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

// Judge ends the test: complaints that no gap excuses fail it, and so does a gap of
// this test that excuses none.
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
func Gaps() []Gap {
	return []Gap{{
		Test:  "matrix.TestSpecR1R5R6R7EveryCallInEveryState",
		Says:  `^SendRecv (from peer|from any|self) / .*: the error's operation is "recv", want "sendrecv"$`,
		Rules: "errors",
		Why:   "An error of SendRecv's receiving half is told as one of recv.",
	}, {
		Test:  "comm.TestSpecContextSendRecv",
		Says:  `^during (true|false): the send of a cancelled SendRecv arrives`,
		Rules: "contexts",
		Why:   "The sending half of a SendRecv that was given up is detached and goes on; it should be taken back as a cancelled Send is.",
	}, {
		Test:  "comm.TestSpecContextAgreementBefore",
		Says:  `^(Agree|Split) with a context that is over took no part`,
		Rules: "contexts",
		Why:   "With a context that is over at the call no contribution is made, so the others wait, and the caller cannot tell this from a wait given up.",
	}, {
		Test:  "comm.TestSpecContextNamesWhomItWaitedFor",
		Says:  `^(Agree|AgreeFailed|Iagree|Dup|Split|Shrink): .* does not name rank 1$`,
		Rules: "contexts",
		Why:   "The error of a context that ended in an agreement names no ranks, though the engine knows for whom the call waits.",
	}, {
		Test:  "comm.TestSpecContextFinalize",
		Says:  `^Finalize after one that was given up: finalize on world: communicator freed$`,
		Rules: "contexts",
		Why:   "A Finalize that was given up cannot be called again to wait for its end.",
	}, {
		Test:  "comm.TestSpecR1R45SendRecvToTheDead",
		Says:  `^SendRecv of \d+ to the dead waits for the living: recv on world from rank 2: context canceled$`,
		Rules: "R1",
		Why:   "A SendRecv whose send has failed still waits for its receive, for ever if the living source never sends.",
	}, {
		Test:  "matrix.TestSpecR1R45R46PeerKilledAtEveryFrame",
		Says:  `^SendRecv from (peer|any) / .*: the error's operation is "recv", want "sendrecv"$`,
		Rules: "errors",
		Why:   "An error of SendRecv's receiving half is told as one of recv, also when the peer dies meanwhile.",
	}, {
		Test:  "matrix.TestSpecR68ManyGoroutinesMeetADeath",
		Says:  `^SendRecv (from peer|from any|self) / .*: the error's operation is "recv", want "sendrecv"$`,
		Rules: "errors",
		Why:   "An error of SendRecv's receiving half is told as one of recv, in a crowd as well.",
		Rare:  true,
	}}
}
