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

// A talk is one event that several ranks report: a revocation, an agreement.
type talk struct {
	what, comm, text string
	procs            []int
	by               rankset.Set // ranks that have reported the event
	firstNs, lastNs  int64
	dueNs            int64 // when the log gets its line, even if reports are missing
	whole            bool  // all living ranks have reported the event
	told             bool
}

// talkMax is how long a talk waits for the last expected report: a rank that computes on all its
// threads is late.
const talkMax = 2 * time.Second

// talksKept is how many talks are remembered after they have their line.
const talksKept = 256

// talks are the talks without a line yet, and the last ones with a line, in the order of their
// first reports. A rank reports each event once. So its second report of an equal event belongs to
// the second occurrence. Its first report belongs to the first occurrence, even if this has had its
// line long ago: then the report is dropped.
type talks struct {
	list        []*talk
	forgottenNs int64 // older talks may have had their line
}

// add notes a report of a rank, and returns the talk if its line is due now.
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

// find returns the talk of a report.
func (ts *talks) find(rank int, m rankproto.Event) *talk {
	for _, t := range ts.list {
		if t.what == m.Name && t.comm == m.Comm && t.text == m.Text && slices.Equal(t.procs, m.Procs) && !t.by.Has(rank) {
			return t
		}
	}
	return nil
}

// forget makes room for one talk, if any talk has its line.
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

// ripe returns the talks that are due at nowNs or, with all, every talk without a line.
func (ts *talks) ripe(nowNs int64, all bool) (due []*talk) {
	for _, t := range ts.list {
		if !t.told && (all || t.dueNs <= nowNs) {
			t.told = true
			due = append(due, t)
		}
	}
	return due
}

// dueNs is when the first talk is due, if any is.
func (ts *talks) dueNs() (first int64, any bool) {
	for _, t := range ts.list {
		if !t.told && (!any || t.dueNs < first) {
			first, any = t.dueNs, true
		}
	}
	return first, any
}

// expected is how many ranks will report a talk, where this number is known: a shrink reports its
// number of members, and all survivors learn of events of the world.
func (t *talk) expected(survivors int) (n int, known bool) {
	if _, err := fmt.Sscan(t.text, &n); err == nil && t.what == "shrink" {
		return min(n, survivors), true
	}
	return survivors, t.comm == "world"
}

// String names the event, and the number of ranks that reported it.
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

// all names the given number of survivors.
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

// plural formats a number of things for messages.
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return strconv.Itoa(n) + " " + what + "es"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
