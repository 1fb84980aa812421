package launch

import (
	"slices"
	"time"
)

// The lines of the event log wait here until they are written. A caller that adds a line never
// waits. Only the writer may wait, for as long as nobody reads standard error, while ranks depend
// on decisions of the launcher.
//
// Ranks report an event about 100 ms late (boot.RepairTime), and the launcher adds a death when it
// finds the death. So a line waits for eventLogDelay, and lines of earlier moments are written
// before it.
const (
	eventLogDelay = 250 * time.Millisecond
	eventLogMax   = 1 << 20 // bytes that wait; further lines are dropped and counted
)

// An eventLogLine is a line, or the lines of one dump.
type eventLogLine struct {
	atNs int64
	text string // without its end
	bare bool   // several, with their ends: they are written unchanged
	dead *death // the death of this line
}

// The line of a death is added when the rank was reaped and its cause is known. The line about all
// survivors knowing of the death follows.
type death struct {
	rank                  int
	killedNs              int64
	foundNs               int64
	firstHeard, lastHeard int64 // by a survivor; 0: by none yet
	heard                 int
	tell                  func(atNs int64) eventLogLine // once the death has its line: the same line with another time
	evidence              string
	explained             bool // the death has its line
	complete              bool // all survivors know
	byNode                bool // the rank was lost with its node
}

// An eventLogQueue holds the lines that are not written yet, in the order of their times.
type eventLogQueue struct {
	lines   []eventLogLine
	bytes   int
	dropped int // since the last one that was taken
}

// add inserts a line by its time: behind the lines of the same time.
func (q *eventLogQueue) add(line eventLogLine) {
	at := len(q.lines)
	for at > 0 && q.lines[at-1].atNs > line.atNs {
		at--
	}
	q.insert(at, line)
}

// addCause is add for the line of a death: other lines of the same time follow.
func (q *eventLogQueue) addCause(line eventLogLine) {
	at := len(q.lines)
	for at > 0 && q.lines[at-1].atNs >= line.atNs {
		at--
	}
	q.insert(at, line)
}

// insert puts a line in a place, or drops the line when too many bytes wait.
func (q *eventLogQueue) insert(at int, line eventLogLine) {
	if q.bytes >= eventLogMax {
		q.dropped++
		return
	}
	q.lines = slices.Insert(q.lines, at, line)
	q.bytes += len(line.text)
}

// advance replaces the line of a death by one of an earlier time, if the line still waits.
func (q *eventLogQueue) advance(d *death, earlier eventLogLine) {
	at := slices.IndexFunc(q.lines, func(l eventLogLine) bool { return l.dead == d && l.atNs > earlier.atNs })
	if at < 0 {
		return
	}
	q.bytes -= len(q.lines[at].text)
	q.lines = slices.Delete(q.lines, at, at+1)
	q.addCause(earlier)
}

// take returns the first line that is due at nowNs or, with all, the first line at all. Dropped is
// the number of lines that were dropped before.
func (q *eventLogQueue) take(nowNs int64, all bool) (line eventLogLine, dropped int, ok bool) {
	if len(q.lines) == 0 || !all && q.dueNs() > nowNs {
		return line, 0, false
	}
	line, dropped = q.lines[0], q.dropped
	q.lines = slices.Delete(q.lines, 0, 1)
	q.bytes -= len(line.text)
	q.dropped = 0
	return line, dropped, true
}

// dueNs is when the first line is due. The queue must not be empty.
func (q *eventLogQueue) dueNs() int64 { return q.lines[0].atNs + eventLogDelay.Nanoseconds() }
