package engine

import (
	"fmt"
	"sort"
	"strings"
)

// A Waiting is one thing that this process waits for.
type Waiting struct {
	Op   string `json:"op"`
	Comm string `json:"comm"`
	// Ranks of Comm that could end the wait; empty: any.
	Ranks []int `json:"ranks"`
	Tag   int   `json:"tag"`
	// Procs are the same in numbers of the world; where any of several could end the
	// wait they are the living members of Comm.
	Procs []int `json:"procs"`
	// Any: one of Procs can end the wait; otherwise it takes all.
	Any bool `json:"any"`
	// Together is true for a call that all members of Comm make.
	Together bool `json:"together"`
}

// String prints "recv on world from [3], tag 7".
func (w Waiting) String() string {
	from := fmt.Sprint(w.Ranks)
	if len(w.Ranks) == 0 {
		from = "any rank"
	}
	return fmt.Sprintf("%s on %s for %s, tag %d", w.Op, w.Comm, from, w.Tag)
}

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
