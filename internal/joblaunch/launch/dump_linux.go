package launch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/waitgraph"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// dumps are the answers of processes to a request for their waits.
type dumps map[int]rankproto.Dump

func (d *dumps) add(proc int, m rankproto.Dump) {
	if *d != nil { // somebody has asked
		(*d)[proc] = m
	}
}

func (l *launcher) timeUp() {
	l.dump(fmt.Sprintf("after --timeout %s", l.spec.Timeout))
	l.stop(ExitTimeout, fmt.Sprintf("--timeout %s", l.spec.Timeout))
}

// dumpMax is how long a dump waits for the answers of processes.
const dumpMax = 2 * time.Second

// dump asks every process for the calls in which its goroutines wait, and prints the answers.
func (l *launcher) dump(why string) {
	l.Mu.Lock()
	l.dumps = dumps{}
	for _, p := range l.Rules.Processes() {
		if p.Joined {
			l.crew.Say(p.Number(), rankproto.Describe{})
		}
	}
	l.Mu.Unlock()
	deadline := time.Now().Add(dumpMax)
	for tick := time.NewTicker(5 * time.Millisecond); time.Now().Before(deadline) && !l.allDumped(); <-tick.C {
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.rep.dump(why, l.dumpsOf(l.Rules.Processes()))
}

func (l *launcher) allDumped() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, p := range l.Rules.Processes() {
		if _, said := l.dumps[p.Number()]; !said && !p.Reaped && p.Joined {
			return false
		}
	}
	return true
}

// A dumped is a process and its answer; dump nil: no answer.
type dumped struct {
	job.Process
	pid  int
	dump *rankproto.Dump
}

// dumpsOf adds to processes their answers. The caller holds Mu.
func (l *launcher) dumpsOf(processes []job.Process) (all []dumped) {
	for _, p := range processes {
		x := dumped{Process: p, pid: l.crew.Pid(p.Number())}
		if m, said := l.dumps[p.Number()]; said {
			x.dump = &m
		}
		all = append(all, x)
	}
	return all
}

// dump prints the calls in which ranks wait, the cycle if there is one, and the stacks.
func (r *reporter) dump(why string, ranks []dumped) {
	text := fmt.Sprintf("goulfm: waiting ranks, %s:\n", why) + waitText(ranks) + stackText(stacksOf(ranks), r.verbose)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := boot.NowNs()
	if r.json {
		r.put(now, record{Event: "dump", Text: text}, "")
	} else {
		r.queue.add(eventLogLine{atNs: now, text: text, bare: true})
	}
	r.dueNs = now
	r.awake()
}

func stacksOf(ranks []dumped) (all []rankStacks) {
	for _, x := range ranks {
		if x.dump != nil {
			all = append(all, rankStacks{rank: x.Number(), pid: x.pid, text: x.dump.Text})
		}
	}
	return all
}

// waitText returns a line for each rank, one for each cycle, and one for each collective call that
// some members have not come to.
func waitText(ranks []dumped) string {
	var b strings.Builder
	var graph []waitgraph.Wait
	var calls jointCalls
	for _, x := range ranks {
		switch {
		case x.Reaped && x.Left:
			fmt.Fprintf(&b, "  rank %d: finished\n", x.Number())
		case x.Reaped:
			fmt.Fprintf(&b, "  rank %d: dead (%s)\n", x.Number(), x.Fate())
		case x.dump == nil && x.Spare:
			fmt.Fprintf(&b, "  spare %d (pid %d): waits for a rank to replace\n", x.Number(), x.pid)
		case x.dump == nil:
			fmt.Fprintf(&b, "  rank %d (pid %d): no answer within 2 s: stopped, or not in Init yet\n", x.Number(), x.pid)
		case len(x.dump.Waits) == 0:
			fmt.Fprintf(&b, "  rank %d: computes (in no call)\n", x.Number())
		default:
			at := strings.Join(x.dump.Lines, ", ")
			for _, w := range x.dump.Waits {
				what := w.Op + " on " + w.Comm
				if at != "" {
					what += ", " + at
				}
				graph = append(graph, waitgraph.Wait{Rank: x.Number(), On: w.Procs, Any: w.Any, What: what})
				calls.add(x.Number(), w)
				fmt.Fprintf(&b, "  rank %d: %s\n", x.Number(), waitLine(w, at))
			}
		}
	}
	if circle := waitgraph.Cycle(graph); circle != nil {
		fmt.Fprintf(&b, "goulfm: they wait for each other: %s\n", waitgraph.Text(circle))
	}
	return b.String() + calls.text()
}

// waitLine returns the line of one wait, at lines of the program.
func waitLine(w rankproto.Wait, at string) string {
	line := fmt.Sprintf("%s on %s waits for %s", w.Op, w.Comm, rankText(w.Ranks))
	if hasTag(w.Op) {
		line += fmt.Sprintf(", tag %d", w.Tag)
	}
	if len(w.Ranks) > 0 && !slices.Equal(w.Ranks, w.Procs) {
		line += ": " + rankText(w.Procs) + " of the world"
	}
	if at != "" {
		line += ", at " + at
	}
	return line
}

// hasTag reports whether a call names a tag: a send, a receive or a probe.
func hasTag(op string) bool {
	return strings.Contains(op, "send") || strings.Contains(op, "recv") || strings.Contains(op, "probe")
}

// A jointCall is a call of all members of a communicator: its waiting ranks, and the ranks that
// they wait for.
type jointCall struct {
	name             string
	waiting, awaited []int
}

type jointCalls []jointCall

// add takes in one wait. A wait for any rank is left out: all members have come, and the call ends
// with the last of them.
func (js *jointCalls) add(rank int, w rankproto.Wait) {
	if !w.Together {
		return
	}
	name := w.Op + " on " + w.Comm
	i := slices.IndexFunc(*js, func(j jointCall) bool { return j.name == name })
	if i < 0 {
		i = len(*js)
		*js = append(*js, jointCall{name: name})
	}
	j := &(*js)[i]
	j.waiting = append(j.waiting, rank)
	if len(w.Ranks) > 0 {
		j.awaited = append(j.awaited, w.Procs...)
	}
}

// text names the ranks that are awaited in a call and do not wait in the same call themselves.
func (js jointCalls) text() string {
	var b strings.Builder
	for _, j := range js {
		missing := slices.DeleteFunc(slices.Clone(j.awaited), func(r int) bool { return slices.Contains(j.waiting, r) })
		slices.Sort(missing)
		missing = slices.Compact(missing)
		if len(missing) > 0 {
			fmt.Fprintf(&b, "goulfm: %s: %s waiting, not in this call: %s\n", j.name, plural(len(j.waiting), "rank"), rankText(missing))
		}
	}
	return b.String()
}
