package launch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A reporter writes the event log of a job to stderr: lines of text, or of JSON. Its callers never
// wait for a line to be written (see eventLogQueue).
type reporter struct {
	mu      sync.Mutex
	out     *outlet
	json    bool
	quiet   bool
	verbose bool
	startNs int64
	deaths  map[int]*death // by number, deaths with lines still to come
	lost    []int          // numbers of all that have died
	talks   talks

	queue     eventLogQueue
	dueNs     int64 // all lines until then are due
	writtenNs int64 // the time of the last line that was written
	closing   bool  // no further line will come
	wake      chan struct{}
	told      chan struct{} // closed: all lines are written
}

func newReporter(spec *Spec, out *outlet, start time.Time) *reporter {
	return &reporter{out: out, json: spec.Report, quiet: spec.Quiet, verbose: spec.Verbose, startNs: boot.NowNs() - int64(time.Since(start)),
		deaths: map[int]*death{}, wake: make(chan struct{}, 1), told: make(chan struct{})}
}

func (r *reporter) seconds(ns int64) float64 { return float64(ns-r.startNs) / 1e9 }

// A record is a line of --report json. Times are seconds since the start.
type record struct {
	Event     string  `json:"event"`
	At        float64 `json:"at"`
	Rank      *int    `json:"rank,omitempty"`
	Ranks     []int   `json:"ranks,omitempty"`
	Comm      string  `json:"comm,omitempty"`
	Pid       int     `json:"pid,omitempty"`
	Cause     string  `json:"cause,omitempty"`
	By        string  `json:"by,omitempty"`
	Planned   string  `json:"planned,omitempty"`
	LatencyMs float64 `json:"latencyMs,omitempty"` // detection: SIGKILL until found; others: first until last rank
	AllMs     float64 `json:"allMs,omitempty"`     // detection: SIGKILL until every survivor knew
	Count     int     `json:"count,omitempty"`
	Size      string  `json:"size,omitempty"`
	Code      *int    `json:"code,omitempty"`
	Text      string  `json:"text,omitempty"`
}

// put adds a line of the moment atNs. The caller holds mu.
func (r *reporter) put(atNs int64, rec record, text string) {
	if r.shows(text) {
		r.queue.add(r.line(min(atNs, boot.NowNs()), rec, text)) // a rank reports the time itself
		r.awake()
	}
}

// shows reports whether a line is part of the log.
func (r *reporter) shows(text string) bool { return r.json || text != "" && !r.quiet }

func (r *reporter) line(atNs int64, rec record, text string) eventLogLine {
	if r.json {
		rec.At = r.seconds(atNs)
		b, _ := json.Marshal(rec)
		text = string(b)
	}
	return eventLogLine{atNs: atNs, text: text}
}

func (r *reporter) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// tell writes lines when they are due, until the end of the event log.
func (r *reporter) tell() {
	defer close(r.told)
	for {
		now := boot.NowNs()
		r.mu.Lock()
		for _, t := range r.talks.ripe(now, r.closing) {
			r.tellTalk(t)
		}
		line, dropped, ok := r.queue.take(max(now, r.dueNs+eventLogDelay.Nanoseconds()), r.closing)
		closing, next := r.closing, r.next()
		r.mu.Unlock()
		switch {
		case ok:
			r.write(line, dropped)
		case closing:
			return
		default:
			select {
			case <-r.wake:
			case <-time.After(next):
			}
		}
	}
}

// next is the time until the next line or talk is due. The caller holds mu.
func (r *reporter) next() time.Duration {
	next := int64(time.Hour)
	now := boot.NowNs()
	if len(r.queue.lines) > 0 {
		next = r.queue.dueNs() - now
	}
	if dueNs, any := r.talks.dueNs(); any {
		next = min(next, dueNs-now)
	}
	return time.Duration(next)
}

// lateAfter is how late a line may follow a line of a later moment without a remark.
const lateAfter = 50 * time.Millisecond

// write writes a line. A line may be late because its rank had no time to report. A late line
// stands at the place where it arrives, with a remark that names its own time.
func (r *reporter) write(line eventLogLine, dropped int) {
	var b strings.Builder
	if dropped > 0 && !r.json {
		fmt.Fprintf(&b, "goulfm: %s of this event log are left out: standard error was not read\n", plural(dropped, "event"))
	}
	at, of := line.atNs, ""
	if at < r.writtenNs-lateAfter.Nanoseconds() {
		at, of = r.writtenNs, fmt.Sprintf(" (at +%.3fs)", r.seconds(line.atNs))
	}
	switch {
	case r.json:
		if dropped > 0 {
			rec, _ := json.Marshal(record{Event: "dropped", At: r.seconds(at), Count: dropped})
			fmt.Fprintf(&b, "%s\n", rec)
		}
		fmt.Fprintf(&b, "%s\n", line.text)
	case line.bare:
		b.WriteString(line.text)
	default:
		fmt.Fprintf(&b, "goulfm: +%.3fs %s%s\n", r.seconds(at), line.text, of)
	}
	r.writtenNs = max(r.writtenNs, at)
	r.out.writeLine([]byte(b.String()))
}

// started adds the line of the start, once all ranks run.
func (r *reporter) started(n int, program string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(boot.NowNs(), record{Event: "start", Count: n, Text: program}, "")
}

// spawned adds the line of processes that a process of the job has started.
func (r *reporter) spawned(ranks []int, program string, root int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(boot.NowNs(), record{Event: "spawn", Ranks: ranks, Count: len(ranks), Text: program},
		fmt.Sprintf("rank %d starts %s of %s: %s", root, plural(len(ranks), "rank"), program, rankText(ranks)))
}

// spareWaits adds the line of a spare that is ready to replace a rank.
func (r *reporter) spareWaits(proc int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(boot.NowNs(), record{Event: "spare", Rank: &proc}, "")
}

func (r *reporter) note(event, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	r.put(boot.NowNs(), record{Event: event, Text: text}, text)
}

func buildingText(said string) string {
	return fmt.Sprintf("builds %s: the first time this takes a minute or two", said)
}

// building adds the line of a build that takes time.
func (r *reporter) building(said string) {
	r.note("build", "%s", buildingText(said))
	r.atOnce()
}

// atOnce makes all lines so far due at once, because a reader waits for them.
func (r *reporter) atOnce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dueNs = boot.NowNs()
	r.awake()
}

// writeAll ends the event log, and returns when all lines so far are written.
func (r *reporter) writeAll() {
	r.mu.Lock()
	r.closing = true
	r.awake()
	r.mu.Unlock()
	<-r.told
}

// begunNs is the time of the line of a death: when the launcher found the death or, if earlier,
// when a survivor found it. So all consequences follow. The death of a rank that was lost with its
// node follows the line of the node, which is its cause. Clocks of other machines differ by more
// than talkMax.
func (d *death) begunNs() int64 {
	if d.firstHeard == 0 || d.byNode || d.foundNs-d.firstHeard > talkMax.Nanoseconds() {
		return d.foundNs
	}
	return min(d.foundNs, d.firstHeard)
}

func (r *reporter) death(rank int) *death {
	d := r.deaths[rank]
	if d == nil {
		d = &death{rank: rank}
		r.deaths[rank] = d
	}
	return d
}

// died adds the line of a rank that had not left and was reaped.
func (r *reporter) died(p job.Process, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.death(p.Number())
	d.foundNs, d.killedNs = p.FoundNs, p.KilledNs
	cause := p.Fate()
	d.byNode = p.By == job.ByNode
	rec := record{Event: "death", Rank: &d.rank, Pid: pid, Cause: cause, By: string(p.By), Planned: p.Planned, LatencyMs: since(d.killedNs, d.foundNs)}
	text := fmt.Sprintf("rank %d (pid %d) died: %s%s; found%s by its %s", p.Number(), pid, cause, atPoint(p.Planned), took(" ", d.killedNs, d.foundNs), foundBy(p.By))
	if r.shows(text) {
		d.tell = func(atNs int64) eventLogLine {
			line := r.line(min(atNs, boot.NowNs()), rec, text)
			line.dead = d
			return line
		}
		r.queue.addCause(d.tell(d.begunNs()))
		r.awake()
	}
	d.explained = true
	r.lost = append(r.lost, d.rank)
	if d.complete {
		r.tellHeard(d)
	}
}

// foundBy returns the evidence of an end, in words for people who have not read the code.
func foundBy(by job.Evidence) string {
	switch by {
	case job.ByTombstone:
		return "tombstone in shared memory"
	case job.ByReaping:
		return "exit status"
	case job.ByNode:
		return "node, which is lost"
	}
	return string(by)
}

func atPoint(planned string) string {
	if planned == "" {
		return ""
	}
	return " at " + planned
}

func since(fromNs, toNs int64) float64 {
	if fromNs == 0 || toNs < fromNs {
		return 0
	}
	return float64(toNs-fromNs) / 1e6
}

func took(lead string, fromNs, toNs int64) string {
	if fromNs == 0 || toNs < fromNs {
		return ""
	}
	return fmt.Sprintf("%s%.2f ms after", lead, since(fromNs, toNs))
}

// event takes in an event that a rank reports.
func (r *reporter) event(rank int, atNs int64, m rankproto.Event, alive alive) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Name == "detect" {
		for i, p := range m.Procs {
			r.heard(p, atNs, m, alive.of[i])
		}
		return
	}
	if m.Name == "anomaly" || m.Name == "suspect" {
		text := fmt.Sprintf("rank %d: %s of rank %v %s", rank, m.Name, m.Procs, m.Text)
		r.put(atNs, record{Event: m.Name, Rank: &rank, Ranks: m.Procs, Text: m.Text}, text)
		return
	}
	survivors := alive.all
	if m.Comm == "world" { // its members are the ranks with which the job began
		survivors = alive.world
	}
	if t := r.talks.add(rank, atNs, m, survivors); t != nil {
		r.tellTalk(t)
	}
	r.awake()
}

func (r *reporter) heard(proc int, atNs int64, m rankproto.Event, survivors int) {
	d := r.death(proc)
	d.heard++
	d.lastHeard, d.evidence = max(d.lastHeard, atNs), m.Text
	if d.firstHeard == 0 || atNs < d.firstHeard {
		d.firstHeard = atNs
	}
	if d.tell != nil {
		r.queue.advance(d, d.tell(d.begunNs()))
	}
	if d.heard < survivors || d.complete {
		return
	}
	d.complete = true
	if d.explained {
		r.tellHeard(d)
	}
}

func (r *reporter) tellHeard(d *death) {
	from := d.killedNs
	if from == 0 {
		from = d.foundNs
	}
	know := all(d.heard) + " know it"
	if d.heard == 1 {
		know = all(1) + " knows it"
	}
	r.put(d.lastHeard, record{Event: "detection", Rank: &d.rank, Count: d.heard, By: d.evidence, LatencyMs: since(d.killedNs, d.foundNs), AllMs: since(from, d.lastHeard)},
		fmt.Sprintf("rank %d: %s%s (%s)", d.rank, know, took(" ", from, d.lastHeard), d.evidence))
	delete(r.deaths, d.rank) // no line of this death will follow
}

// tellTalk adds the line of a talk. The caller holds mu.
func (r *reporter) tellTalk(t *talk) {
	r.put(t.lastNs, record{Event: t.what, Ranks: t.procs, Comm: t.comm, Count: t.by.Len(), Size: t.text, LatencyMs: since(t.firstNs, t.lastNs)},
		fmt.Sprintf("%s, first to last %.2f ms", t, since(t.firstNs, t.lastNs)))
}

// end adds the line of the verdict, and writes the rest of the event log. Nobody else waits for the
// log now; once hurry is closed, end waits for a bounded time.
func (r *reporter) end(v job.Verdict, hurry <-chan struct{}) {
	r.mu.Lock()
	for _, t := range r.talks.ripe(0, true) { // talks that not all ranks reported, because some died meanwhile
		r.tellTalk(t)
	}
	shown := ""
	if len(r.lost) > 0 || v.Code != 0 {
		shown = fmt.Sprintf("%s, %s lost; exit code %d", v.Text, plural(len(r.lost), "rank"), v.Code)
	}
	slices.Sort(r.lost)
	r.put(boot.NowNs(), record{Event: "end", Ranks: r.lost, Code: &v.Code, Text: v.Text}, shown)
	r.closing = true
	r.awake()
	r.mu.Unlock()
	select {
	case <-r.told:
		return
	case <-hurry:
	}
	select {
	case <-r.told:
	case <-time.After(daemon.OutputMax):
	}
}

// rankText returns ranks for a reader; without ranks: any rank.
func rankText(ranks []int) string {
	switch len(ranks) {
	case 0:
		return "any rank"
	case 1:
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ","), "[]")
}
