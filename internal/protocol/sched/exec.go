package sched

import "github.com/goulfm/goulfm/internal/base/must"

// An Exec runs one Plan for one rank. An Exec is pure: Next returns the next message to start, the
// host reports its end with Completed, and the host's Do performs local steps in between. Unlike
// the other machines, an Exec has plain methods instead of one Step with events and actions,
// because every message of every collective passes here. After Start nothing allocates.
//
// The host's loop:
//
//	x.Start(plan, do)
//	for i, ok := x.Next(); ok; i, ok = x.Next() {
//		start plan.Steps[i]; if it is complete already: x.Completed(i)
//	}
//	later, when message i is complete: x.Completed(i), and the loop again
//
// until Done. Completed may be called between any two calls of Next.
//
// The zero value is ready for Start, and Start reuses the memory of the run
// before.
type Exec struct {
	plan *Plan
	do   Host

	waits   []int32 // by step: dependencies that are not complete
	flags   []uint8 // by step: started, complete
	next    []int32 // by step: the next step of its kind and peer, or none
	succ    []int32 // the steps that wait for a step ...
	succAt  []int32 // ... from here to here of the next step
	comm    []int32 // messages that may start, from commAt on, first in first out
	local   []int32 // local steps that may start, likewise
	commAt  int
	localAt int

	left        int // steps that are not complete
	outstanding int // messages started and not complete
	failed      error
}

// Host performs step i of the plan, a Copy or a Reduce. It must do nothing for a Copy of memory
// onto itself, which occurs in calls in place.
type Host interface {
	Do(i int)
}

const (
	started uint8 = 1 << iota
	complete
)

// Start makes x run p from its beginning. The caller must not change p during the run. The run
// before must have ended: Done, or failed with nothing Outstanding.
func (x *Exec) Start(p *Plan, do Host) {
	must.That(x.outstanding == 0, "%d messages of the run before are under way", x.outstanding)
	n := len(p.Steps)
	x.plan, x.do, x.left, x.failed = p, do, n, nil
	x.waits, x.next, x.flags = resize(x.waits, n), resize(x.next, n), resize(x.flags, n)
	x.comm, x.local, x.commAt, x.localAt = resize(x.comm, n)[:0], resize(x.local, n)[:0], 0, 0
	x.invert()
	for i := range p.Steps {
		x.flags[i], x.next[i] = 0, none
		x.waits[i] = p.Steps[i].afters
		if b := p.Steps[i].before; b != none {
			x.next[b] = int32(i)
		}
	}
	for i := range p.Steps {
		x.consider(int32(i))
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// invert turns "waits for" into "is waited for by": succ, by a counting sort.
func (x *Exec) invert() {
	p := x.plan
	x.succ, x.succAt = resize(x.succ, len(p.after)), resize(x.succAt, len(p.Steps)+2)
	clear(x.succAt)
	for i := range p.Steps {
		for _, a := range p.After(i) {
			x.succAt[a+2]++
		}
	}
	for i := 2; i < len(x.succAt); i++ {
		x.succAt[i] += x.succAt[i-1]
	}
	for i := range p.Steps {
		for _, a := range p.After(i) {
			x.succ[x.succAt[a+1]] = int32(i)
			x.succAt[a+1]++
		}
	}
}

// consider queues step i if it waits for nothing. It then queues the messages of the same kind and
// peer that waited only for step i to start.
func (x *Exec) consider(i int32) {
	for i != none {
		s := &x.plan.Steps[i]
		if x.waits[i] > 0 || x.flags[i] != 0 {
			return
		}
		if s.Kind == Copy || s.Kind == Reduce {
			x.flags[i] = started
			x.local = append(x.local, i)
			return
		}
		if s.before != none && x.flags[s.before] == 0 {
			return
		}
		x.flags[i] = started
		x.comm = append(x.comm, i)
		i = x.next[i]
	}
}

// Next returns the next Send or Recv to start; ok is false if none can start now. Messages come
// first, so that none waits while this rank computes. Then local steps run until a message can
// start.
func (x *Exec) Next() (i int, ok bool) {
	for x.failed == nil {
		if x.commAt < len(x.comm) {
			i = int(x.comm[x.commAt])
			x.commAt++
			x.outstanding++
			return i, true
		}
		if x.localAt == len(x.local) {
			break
		}
		l := x.local[x.localAt]
		x.localAt++
		x.do.Do(int(l))
		x.finish(l)
	}
	return 0, false
}

// Completed reports that message i, which Next returned, is complete: received elements are in
// their place, and sent elements may be overwritten.
func (x *Exec) Completed(i int) {
	must.That(x.outstanding > 0 && x.flags[i] == started && x.plan.Steps[i].Kind <= Recv, "step %d completed with flags %b", i, x.flags[i])
	x.outstanding--
	x.finish(int32(i))
}

func (x *Exec) finish(i int32) {
	x.flags[i] |= complete
	x.left--
	if x.failed != nil {
		return
	}
	for _, w := range x.succ[x.succAt[i]:x.succAt[i+1]] {
		x.waits[w]--
		x.consider(w)
	}
}

// Fail ends the run: Next returns no more messages. The host may still report messages under way
// with Completed; until Outstanding is 0 they own their memory. A later error does not replace the
// first.
func (x *Exec) Fail(err error) {
	must.That(err != nil, "failed without an error")
	if x.failed == nil && x.left > 0 {
		x.failed = err
	}
}

// Done reports whether the run has ended. The error is nil if all steps are complete, else the
// reason of the failure.
func (x *Exec) Done() (bool, error) { return x.failed != nil || x.left == 0, x.failed }

// Outstanding returns the number of messages that have started and are not complete.
func (x *Exec) Outstanding() int { return x.outstanding }
