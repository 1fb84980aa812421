package launch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

// TestTalks: the log has each talk once, when all expected ranks have reported it or when it is
// due. A second report of the same rank begins another talk. The log drops late reports.
func TestTalks(t *testing.T) {
	type reported struct {
		atNs int64
		rankproto.Event
	}
	report := func(name, comm, text string, atMs int64) reported {
		return reported{atMs * ms, rankproto.Event{Name: name, Comm: comm, Text: text, Procs: []int{3}}}
	}
	var ts talks
	add := func(rank int, m reported, survivors int) *talk { return ts.add(rank, m.atNs, m.Event, survivors) }
	shrink := report("shrink", "world", "2", 10)
	assert.Nil(t, add(0, shrink, 3))
	told := add(1, shrink, 3)
	require.NotNil(t, told)
	assert.Equal(t, "shrink of world to 2 ranks, dead [3], at all 2 survivors", told.String())
	assert.Nil(t, add(2, shrink, 3), "late: it dropped out, and reports it nevertheless")
	assert.Empty(t, ts.ripe(0, true), "nothing is told again at the end")

	again := report("shrink", "world", "2", 500)
	assert.Nil(t, add(0, again, 2))
	assert.NotNil(t, add(1, again, 2), "the same a second time")

	half := report("revoke", "split of world", "", 600)
	assert.Nil(t, add(0, half, 3))
	assert.Nil(t, add(2, half, 3))
	assert.Empty(t, ts.ripe(600*ms+eventLogDelay.Nanoseconds()-1, false))
	due := ts.ripe(600*ms+eventLogDelay.Nanoseconds(), false)
	require.Len(t, due, 1)
	assert.Equal(t, "revoke of split of world at 2 ranks", due[0].String())

	failed := report("shrink", "world", "", 700)
	assert.Nil(t, add(0, failed, 3))
	due = ts.ripe(0, true)
	require.Len(t, due, 1)
	assert.Equal(t, "shrink of world failed, dead [3], at 1 rank", due[0].String())

	for i := range 3 * talksKept {
		add(0, report("revoke", fmt.Sprint("split#", i), "", 1000+int64(i)), 3)
		ts.ripe(0, true)
	}
	assert.LessOrEqual(t, len(ts.list), talksKept)
	assert.Nil(t, add(1, report("shrink", "world", "2", 10), 1), "older than what is remembered")
	assert.Empty(t, ts.ripe(0, true))
}

// TestEventLogQueue: lines leave the queue in the order of their times once they are due, and the
// queue has a bound.
func TestEventLogQueue(t *testing.T) {
	var q eventLogQueue
	for _, at := range []int64{30, 10, 20} {
		q.add(eventLogLine{atNs: at * ms, text: fmt.Sprint(at)})
	}
	_, _, ok := q.take(10*ms+eventLogDelay.Nanoseconds()-1, false)
	assert.False(t, ok)
	for _, want := range []string{"10", "20", "30"} {
		line, _, ok := q.take(0, true)
		assert.True(t, ok)
		assert.Equal(t, want, line.text)
	}
	long := strings.Repeat("x", eventLogMax/4)
	for range 10 {
		q.add(eventLogLine{text: long})
	}
	_, dropped, _ := q.take(0, true)
	assert.Equal(t, 6, dropped)
	assert.Len(t, q.lines, 3)
}

// stuckWriter blocks until the test releases it.
type stuckWriter struct {
	locked
	letGo chan struct{}
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	<-w.letGo
	return w.locked.Write(b)
}

// TestNobodyReadsTheEventLog: the callers that decide about ranks add lines and never wait for a
// reader. Once somebody reads, the lines are there, as many as there is room for, in order.
func TestNobodyReadsTheEventLog(t *testing.T) {
	w := &stuckWriter{letGo: make(chan struct{})}
	r := newReporter(&Spec{}, &outlet{w: w}, time.Now())
	go r.tell()
	told := make(chan struct{})
	go func() {
		defer close(told)
		for range 2 * eventLogMax / 100 {
			r.note("note", "%s", strings.Repeat("x", 100))
		}
	}()
	<-told
	close(w.letGo)
	r.end(job.Verdict{Code: 7, Text: "that was it"}, nil)
	text := w.take()
	assert.Contains(t, text, "events of this event log are left out: standard error was not read")
	last := -1.0
	for line := range strings.Lines(text) {
		var at float64
		if _, err := fmt.Sscanf(line, "goulfm: +%fs", &at); err == nil {
			assert.GreaterOrEqual(t, at, last)
			last = at
		}
	}
}

// TestALateLine: a late line stands at the place where it arrives, and names its own time.
func TestALateLine(t *testing.T) {
	var out bytes.Buffer
	r := newReporter(&Spec{}, &outlet{w: &out}, time.Now())
	r.write(eventLogLine{atNs: r.startNs + 900*ms, text: "first"}, 0)
	r.write(eventLogLine{atNs: r.startNs + 860*ms, text: "nearly in order"}, 0)
	r.write(eventLogLine{atNs: r.startNs + 200*ms, text: "late"}, 0)
	assert.Equal(t, "goulfm: +0.900s first\ngoulfm: +0.860s nearly in order\ngoulfm: +0.900s late (at +0.200s)\n", out.String())
}

// TestTheOnlySurvivor is not "all 1 survivor".
func TestTheOnlySurvivor(t *testing.T) {
	r := newReporter(&Spec{}, &outlet{w: io.Discard}, time.Now())
	r.died(job.Process{Slot: 1, By: job.ByTombstone, Status: job.Status{Signal: 9}, FoundNs: r.startNs}, 7)
	r.event(0, r.startNs+ms, rankproto.Event{Name: "detect", Procs: []int{1}, Text: "exit"}, alive{of: []int{1}})
	require.Len(t, r.queue.lines, 2)
	assert.Equal(t, "rank 1 (pid 7) died: killed (SIGKILL); found by its tombstone in shared memory", r.queue.lines[0].text)
	assert.Equal(t, "rank 1: the only survivor knows it 1.00 ms after (exit)", r.queue.lines[1].text)
}

// TestToldDeathsAreForgotten: in a job that loses and replaces ranks without end, the reporter
// keeps only the number of each death.
func TestToldDeathsAreForgotten(t *testing.T) {
	r := newReporter(&Spec{}, &outlet{w: io.Discard}, time.Now())
	for i := range 1000 {
		p := job.Process{Slot: 1, Generation: i, By: job.ByTombstone, Status: job.Status{Signal: 9}, FoundNs: r.startNs}
		heard := func() {
			r.event(0, r.startNs+ms, rankproto.Event{Name: "detect", Procs: []int{p.Number()}, Text: "exit"}, alive{of: []int{1}})
		}
		if i%2 == 0 {
			heard()
		}
		r.died(p, 7)
		if i%2 == 1 {
			heard()
		}
	}
	assert.Empty(t, r.deaths)
	assert.Len(t, r.lost, 1000)
}

// TestCausesComeFirst: the launcher finds a death later than the ranks, and adds its line before
// they report. The line of the death still precedes the lines of its consequences.
func TestCausesComeFirst(t *testing.T) {
	for _, json := range []bool{false, true} {
		for _, late := range []bool{false, true} { // the launcher learns of the death last
			r := newReporter(&Spec{Report: json}, &outlet{w: io.Discard}, time.Now().Add(-time.Second))
			died := func() {
				r.died(job.Process{Slot: 2, By: job.ByTombstone, Status: job.Status{Signal: 9}, FoundNs: r.startNs + 30*ms}, 7)
			}
			if !late {
				died()
			}
			for rank := range 2 {
				a := alive{all: 3, world: 2, of: []int{2}}
				r.event(rank, r.startNs+20*ms, rankproto.Event{Name: "detect", Procs: []int{2}, Text: "exit"}, a)
				r.event(rank, r.startNs+21*ms, rankproto.Event{Name: "revoke", Comm: "world"}, a)
			}
			if late {
				died()
			}
			require.Len(t, r.queue.lines, 3)
			for i, want := range [][2]string{{"rank 2 (pid 7) died", `"death","at":0.02,`}, {"rank 2: all 2 survivors know it", `"detection"`}, {"revoke of world at 2 ranks", `"revoke","at":0.021,`}} {
				part := want[0]
				if json {
					part = want[1]
				}
				assert.Contains(t, r.queue.lines[min(i, 2)].text, part, "late %v", late)
			}
		}
	}
}

// TestDeathOfANode: the line of the node, which is the cause, stays before the lines of its ranks.
func TestDeathOfANode(t *testing.T) {
	r := newReporter(&Spec{}, &outlet{w: io.Discard}, time.Now().Add(-time.Second))
	r.died(job.Process{Slot: 2, By: job.ByNode, Status: job.Status{Signal: 9}, FoundNs: r.startNs + 30*ms}, 7)
	r.event(0, r.startNs+20*ms, rankproto.Event{Name: "detect", Procs: []int{2}, Text: "node"}, alive{of: []int{2}})
	require.Len(t, r.queue.lines, 1)
	assert.Equal(t, r.startNs+30*ms, r.queue.lines[0].atNs)
}
