package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// A talk is one thing that several ranks report: a revocation, an agreement.
type talk struct {
	what, comm, text string
	procs            []int
	by               rankset.Set // those that have reported it
	firstNs, lastNs  int64
	dueNs            int64 // when it is told, whoever is missing
	whole            bool  // all living have reported it
	told             bool
}

// talkMax is how long a talk waits for the last of those that are known to report it: one
// that computes on all its threads is late.
const talkMax = 2 * time.Second

// talksKept is how many talks are remembered once they are told.
const talksKept = 256

// talks are those that are not told yet, and the last ones that are, in the order in which
// they came up. A rank reports each thing once. So its second report of a thing is of the
// second time that it happened, and its first one belongs to the first time, even if that was
// told long ago: then it is dropped.
type talks struct {
	list        []*talk
	forgottenNs int64 // what is older may have been told
}

// add notes what a rank reports, and returns the talk if that is to be told now.
func (ts *talks) add(rank int, atNs int64, m rankproto.Event, survivors int) *talk {
	t := ts.find(rank, m)
	if t == nil {
		t = &talk{what: m.Name, comm: m.Comm, text: m.Text, procs: m.Procs, firstNs: atNs, lastNs: atNs}
		ts.forget()
		t.told = atNs <= ts.forgottenNs
		ts.list = append(ts.list, t)
	}
	t.by.Add(rank)
	if t.told {
		return nil
	}
	t.firstNs, t.lastNs = min(t.firstNs, atNs), max(t.lastNs, atNs)
	want, known := t.expected(survivors)
	t.whole = known && t.by.Len() >= want
	t.dueNs = t.firstNs + eventLogDelay.Nanoseconds()
	if known {
		t.dueNs = t.firstNs + talkMax.Nanoseconds()
	}
	t.told = t.whole
	if t.told {
		return t
	}
	return nil
}

// find returns the talk to which a report belongs.
func (ts *talks) find(rank int, m rankproto.Event) *talk {
	for _, t := range ts.list {
		if t.what == m.Name && t.comm == m.Comm && t.text == m.Text && slices.Equal(t.procs, m.Procs) && !t.by.Has(rank) {
			return t
		}
	}
	return nil
}

// forget makes room for one, if any is told.
func (ts *talks) forget() {
	for len(ts.list) >= talksKept {
		i := slices.IndexFunc(ts.list, func(t *talk) bool { return t.told })
		if i < 0 {
			return
		}
		ts.forgottenNs = max(ts.forgottenNs, ts.list[i].firstNs)
		ts.list = slices.Delete(ts.list, i, i+1)
	}
}

// ripe returns the talks that are due at nowNs, or all that are not told.
func (ts *talks) ripe(nowNs int64, all bool) (due []*talk) {
	for _, t := range ts.list {
		if !t.told && (all || t.dueNs <= nowNs) {
			t.told = true
			due = append(due, t)
		}
	}
	return due
}

// dueNs is when the first of them is due, if any is.
func (ts *talks) dueNs() (first int64, any bool) {
	for _, t := range ts.list {
		if !t.told && (!any || t.dueNs < first) {
			first, any = t.dueNs, true
		}
	}
	return first, any
}

// expected is how many ranks will report a talk, where that is known: a shrink says how
// many came out of it, and what happens to the world all hear.
func (t *talk) expected(survivors int) (n int, known bool) {
	if _, err := fmt.Sscan(t.text, &n); err == nil && t.what == "shrink" {
		return min(n, survivors), true
	}
	return survivors, t.comm == "world"
}

// String says what was reported, and by how many.
func (t *talk) String() string {
	at := plural(t.by.Len(), "rank")
	switch {
	case t.what == "shrink" && t.text == "":
		return fmt.Sprintf("shrink of %s failed, dead %v, at %s", t.comm, t.procs, at)
	case t.what == "shrink" && t.whole:
		return fmt.Sprintf("shrink of %s to %s, dead %v, at %s", t.comm, ranks(t.text), t.procs, all(t.by.Len()))
	case t.what == "shrink":
		return fmt.Sprintf("shrink of %s to %s, dead %v, at %s", t.comm, ranks(t.text), t.procs, at)
	case t.what == "agree" || t.what == "agree_failed":
		return fmt.Sprintf("agree on %s found dead %v, at %s", t.comm, t.procs, at)
	}
	return fmt.Sprintf("%s of %s at %s", t.what, t.comm, at)
}

// all names as many survivors as there are.
func all(survivors int) string {
	if survivors == 1 {
		return "the only survivor"
	}
	return fmt.Sprintf("all %d survivors", survivors)
}

func ranks(n string) string {
	if n == "1" {
		return "1 rank"
	}
	return n + " ranks"
}

// plural is for messages.
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return strconv.Itoa(n) + " " + what + "es"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
