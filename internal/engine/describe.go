package engine

import (
	"fmt"
	"sort"
	"strings"

	"github.com/goulfm/goulfm/internal/base/waitgraph"
)

// A Waiting is one thing that this process waits for.
type Waiting = waitgraph.Waiting

// Waits lists the operations that this process waits for, for a report on a job that hangs. Waits
// does not wait for the lock: a report must come even from a process in trouble.
func (p *Proc) Waits() []Waiting {
	if !p.mu.TryLock() {
		return nil
	}
	defer p.mu.Unlock()
	var out []Waiting
	for _, r := range p.slots {
		if !r.active() || r.comm == nil || r.part != nil {
			continue
		}
		w := Waiting{Op: r.what, Comm: r.comm.Name()}
		w.Ranks = p.waitsFor(r)
		if r.peer >= 0 {
			w.Tag = int(r.tag)
		}
		w.Procs = r.comm.awaitedProcs(w.Ranks)
		switch r.kind {
		case recvRequest:
			w.Tag = r.Recv.Tag
			if r.class() == Collective {
				w.Op, w.Together = "collective", true
			}
		case callRequest, collectiveRequest, scheduleRequest:
			w.Together = true
		}
		w.Any = len(w.Ranks) == 0
		out = append(out, w)
	}
	for _, b := range p.memory.stores.blocked {
		out = append(out, b.waiting())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].String() < out[j].String() })
	return out
}

// awaitedProcs returns the numbers of the processes of ranks, or those of all other members that
// live.
func (c *Comm) awaitedProcs(ranks []int) (procs []int) {
	for _, rank := range ranks {
		if rank >= 0 && rank < c.Size() { // not oneself, not nobody
			procs = append(procs, c.Numbers()[rank])
		}
	}
	if len(ranks) > 0 {
		return procs
	}
	for rank, q := range c.group.Procs {
		if q != c.p.me && !c.p.isDead(q) {
			procs = append(procs, c.Numbers()[rank])
		}
	}
	return procs
}

// Describe prints the state of the control rules.
func (p *Proc) Describe() string {
	if !p.mu.TryLock() {
		return "(the progress lock is held)\n"
	}
	defer p.mu.Unlock()
	msgs, bytes := p.match.Buffered()
	var rules string
	p.memory.diagnose(func() { rules = p.ctl.Describe() })
	text := strings.TrimRight(rules, "\n") + fmt.Sprintf("\nunexpected: %d messages, %d bytes\n", msgs, bytes)
	if p.others != nil {
		text += strings.Join(append(p.others.link.Describe(), ""), "\n")
	}
	return text
}
