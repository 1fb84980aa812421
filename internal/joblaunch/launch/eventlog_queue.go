package launch

import (
	"slices"
	"time"
)

// The lines of the event log wait here until they are written. Whoever adds one never waits: what
// writes them may, for as long as nobody reads standard error, while ranks wait for what the
// launcher decides.
//
// Ranks tell what they have seen some 100 ms after they have (boot.RepairTime), and a
// death is told when it is found. So a line waits for eventLogDelay, and those of earlier
// moments are written before it.
const (
	eventLogDelay = 250 * time.Millisecond
	eventLogMax   = 1 << 20 // bytes that wait; what comes then is dropped and counted
)

// An eventLogLine is a line, or the lines of one dump.
type eventLogLine struct {
	atNs int64
	text string // without its end
	bare bool   // several, with their ends: they are written as they are
	dead *death // of which this is the line
}

// A death is told when the rank is reaped and its cause known; that all have
// heard of it is told after that.
type death struct {
	rank                  int
	killedNs              int64
	foundNs               int64
	firstHeard, lastHeard int64 // by a survivor; 0: by none yet
	heard                 int
	tell                  func(atNs int64) eventLogLine // once it was told: its line, with another time
	evidence              string
	explained             bool // the death itself was told
	complete              bool // all survivors know
	byNode                bool // it was lost with its node
}

// An eventLogQueue holds the lines that are not written yet, in the order of their times.
type eventLogQueue struct {
	lines   []eventLogLine
	bytes   int
	dropped int // since the last one that was taken
}

// add puts a line in its place: behind those of the same time.
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

// insert puts a line in a place, or drops it where too much waits.
func (q *eventLogQueue) insert(at int, line eventLogLine) {
	if q.bytes >= eventLogMax {
		q.dropped++
		return
	}
	q.lines = slices.Insert(q.lines, at, line)
	q.bytes += len(line.text)
}

// advance replaces the line of a death by one of an earlier time, if it is still there.
func (q *eventLogQueue) advance(d *death, earlier eventLogLine) {
	at := slices.IndexFunc(q.lines, func(l eventLogLine) bool { return l.dead == d && l.atNs > earlier.atNs })
	if at < 0 {
		return
	}
	q.bytes -= len(q.lines[at].text)
	q.lines = slices.Delete(q.lines, at, at+1)
	q.addCause(earlier)
}

// take returns the first line that is due at nowNs, or the first one at all. Dropped is how
// many have been dropped before it.
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

// dueNs is when the first line is to be written. There is one.
func (q *eventLogQueue) dueNs() int64 { return q.lines[0].atNs + eventLogDelay.Nanoseconds() }
