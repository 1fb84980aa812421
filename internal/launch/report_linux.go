package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/waitgraph"
)

// A reporter tells what happens to a job, on stderr: a line of text, or of JSON.
type reporter struct {
	mu      sync.Mutex
	w       io.Writer
	json    bool
	quiet   bool
	startNs int64
	deaths  map[int]*death // by rank
	talks   map[string]*talk
	order   []string
	feeds   []*os.File // stdin for all ranks
}

// A death is told when the rank is reaped and its cause known; that all have
// heard of it is told after that.
type death struct {
	rank      int
	killedNs  int64
	foundNs   int64
	lastHeard int64
	heard     int
	evidence  string
	explained bool // the death itself was told
	complete  bool // all survivors know
}

// A talk is one thing that several ranks report: a revocation, an agreement.
type talk struct {
	what, comm, text string
	procs            []int
	count            int
	firstNs, lastNs  int64
	told             bool
}

func newReporter(spec *Spec, start time.Time) *reporter {
	return &reporter{w: spec.Stderr, json: spec.Report, quiet: spec.Quiet, startNs: boot.NowNs() - int64(time.Since(start)),
		deaths: map[int]*death{}, talks: map[string]*talk{}}
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

func (r *reporter) put(rec record, text string) {
	if r.json {
		b, _ := json.Marshal(rec)
		fmt.Fprintf(r.w, "%s\n", b)
		return
	}
	if text != "" && !r.quiet {
		fmt.Fprintf(r.w, "goulfm: +%.3fs %s\n", rec.At, text)
	}
}

// started is told once all ranks run.
func (r *reporter) started(n int, program string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(record{Event: "start", At: r.seconds(boot.NowNs()), Count: n, Text: program}, "")
}

// spawned is told when processes have been started by one of the job.
func (r *reporter) spawned(first, n int, program string, root int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = first + i
	}
	r.put(record{Event: "spawn", At: r.seconds(boot.NowNs()), Ranks: ranks, Count: n, Text: program},
		fmt.Sprintf("rank %d starts %s of %s: %s", root, plural(n, "rank"), program, rankText(ranks)))
}

func (r *reporter) note(event, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	r.put(record{Event: event, At: r.seconds(boot.NowNs()), Text: text}, text)
}

func (r *reporter) death(rank int) *death {
	d := r.deaths[rank]
	if d == nil {
		d = &death{rank: rank}
		r.deaths[rank] = d
	}
	return d
}

// died is told when a rank that had not left was reaped.
func (r *reporter) died(x *rank) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.death(x.number)
	d.foundNs, d.killedNs = x.foundNs, x.killedNs
	cause := describe(x.status)
	r.put(record{Event: "death", At: r.seconds(d.foundNs), Rank: &d.rank, Pid: x.pid, Cause: cause, By: x.how, Planned: x.planned, LatencyMs: since(d.killedNs, d.foundNs)},
		fmt.Sprintf("rank %d (pid %d) died: %s%s; found by its %s%s", x.number, x.pid, cause, atPoint(x.planned), x.how, took(" ", d.killedNs, d.foundNs)))
	d.explained = true
	if d.complete {
		r.tellHeard(d)
	}
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

// event is told what a rank reports.
func (r *reporter) event(rank int, m boot.Message, survivors int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Name == "detect" {
		for _, p := range m.Procs {
			r.heard(p, m, survivors)
		}
		return
	}
	if m.Name == "anomaly" || m.Name == "suspect" {
		text := fmt.Sprintf("rank %d: %s of rank %v %s", rank, m.Name, m.Procs, m.Text)
		r.put(record{Event: m.Name, At: r.seconds(m.AtNs), Rank: &rank, Ranks: m.Procs, Text: m.Text}, text)
		return
	}
	key := fmt.Sprint(m.Name, m.Comm, m.Procs, m.Text)
	t := r.talks[key]
	if t == nil {
		t = &talk{what: m.Name, comm: m.Comm, text: m.Text, procs: m.Procs, firstNs: m.AtNs, lastNs: m.AtNs}
		r.talks[key] = t
		r.order = append(r.order, key)
	}
	t.count++
	t.firstNs, t.lastNs = min(t.firstNs, m.AtNs), max(t.lastNs, m.AtNs)
	if want := r.expected(t, survivors); t.count >= want && !t.told {
		r.tell(t)
		delete(r.talks, key)
	}
}

// expected is how many ranks will report a talk: a shrink says how many came out
// of it.
func (r *reporter) expected(t *talk, survivors int) int {
	var n int
	if _, err := fmt.Sscan(t.text, &n); err == nil && t.what == "shrink" {
		return min(n, survivors)
	}
	return survivors
}

func (r *reporter) heard(proc int, m boot.Message, survivors int) {
	d := r.death(proc)
	d.heard++
	d.lastHeard, d.evidence = max(d.lastHeard, m.AtNs), m.Text
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
	r.put(record{Event: "detection", At: r.seconds(d.lastHeard), Rank: &d.rank, Count: d.heard, By: d.evidence, LatencyMs: since(d.killedNs, d.foundNs), AllMs: since(from, d.lastHeard)},
		fmt.Sprintf("rank %d: all %s know it%s (%s)", d.rank, plural(d.heard, "survivor"), took(" ", from, d.lastHeard), d.evidence))
}

func (r *reporter) tell(t *talk) {
	t.told = true
	text := fmt.Sprintf("%s of %s at %s", t.what, t.comm, plural(t.count, "rank"))
	switch t.what {
	case "shrink":
		text = fmt.Sprintf("shrink of %s to %s ranks, dead %v, at all %d", t.comm, t.text, t.procs, t.count)
	case "agree", "agree_failed":
		text = fmt.Sprintf("agree on %s found dead %v, at %s", t.comm, t.procs, plural(t.count, "rank"))
	}
	r.put(record{Event: t.what, At: r.seconds(t.lastNs), Ranks: t.procs, Comm: t.comm, Count: t.count, Size: t.text, LatencyMs: since(t.firstNs, t.lastNs)},
		text+fmt.Sprintf(", first to last %.2f ms", since(t.firstNs, t.lastNs)))
}

// end is told how the job ended.
func (r *reporter) end(code int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.order { // what not all reported, because some died meanwhile
		if t := r.talks[key]; t != nil && !t.told {
			r.tell(t)
		}
	}
	shown := ""
	if len(r.deaths) > 0 || code != 0 {
		shown = fmt.Sprintf("%s, %s lost; exit code %d", text, plural(len(r.deaths), "rank"), code)
	}
	lost := []int{}
	for rank := range r.deaths {
		lost = append(lost, rank)
	}
	slices.Sort(lost)
	r.put(record{Event: "end", At: r.seconds(boot.NowNs()), Ranks: lost, Code: &code, Text: text}, shown)
}

// dump prints who waits for whom, the cycle if there is one, and all stacks.
func (r *reporter) dump(why string, ranks []*rank) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "goulfm: who waits for whom, %s:\n", why)
	type waiting struct {
		Op, Comm string
		Ranks    []int
		Procs    []int
		Tag      int
	}
	var graph []waitgraph.Wait
	for _, x := range ranks {
		switch {
		case x.reaped && x.left:
			fmt.Fprintf(&b, "  rank %d: finished\n", x.number)
		case x.reaped:
			fmt.Fprintf(&b, "  rank %d: dead (%s)\n", x.number, describe(x.status))
		case x.dump == nil:
			fmt.Fprintf(&b, "  rank %d (pid %d): no answer within 2 s: stopped, or not in Init yet\n", x.number, x.pid)
		default:
			var ws []waiting
			_ = json.Unmarshal(x.dump.Waits, &ws)
			if len(ws) == 0 {
				fmt.Fprintf(&b, "  rank %d: computes (in no call)\n", x.number)
			}
			for _, w := range ws {
				what := w.Op + " on " + w.Comm
				if len(x.dump.Lines) > 0 {
					what += ", " + strings.Join(x.dump.Lines, ", ")
				}
				graph = append(graph, waitgraph.Wait{Rank: x.number, On: w.Procs, Any: len(w.Ranks) == 0, What: what})
				fmt.Fprintf(&b, "  rank %d: %s on %s waits for %s, tag %d%s%s\n", x.number, w.Op, w.Comm, rankText(w.Ranks), w.Tag, ofTheWorld(w.Ranks, w.Procs), atLines(x.dump.Lines))
			}
		}
	}
	if circle := waitgraph.Cycle(graph); circle != nil {
		fmt.Fprintf(&b, "goulfm: they wait for each other: %s\n", waitgraph.Text(circle))
	}
	for _, x := range ranks {
		if x.dump != nil {
			fmt.Fprintf(&b, "goulfm: stacks of rank %d (pid %d):\n%s\n", x.number, x.pid, strings.TrimRight(x.dump.Text, "\n"))
		}
	}
	if r.json {
		line, _ := json.Marshal(record{Event: "dump", At: r.seconds(boot.NowNs()), Text: b.String()})
		fmt.Fprintf(r.w, "%s\n", line)
		return
	}
	fmt.Fprint(r.w, b.String())
}

// ofTheWorld says who ranks of another communicator are.
func ofTheWorld(ranks, procs []int) string {
	if len(ranks) == 0 || slices.Equal(ranks, procs) {
		return ""
	}
	return ": " + rankText(procs) + " of the world"
}

// atLines says where in the program the calls are.
func atLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return ", at " + strings.Join(lines, ", ")
}

func rankText(ranks []int) string {
	if len(ranks) == 0 {
		return "any rank"
	}
	return "ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ","), "[]")
}
