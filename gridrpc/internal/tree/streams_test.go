package tree

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// stream is a link at the level of the network, between two incarnations. Each of them learns of
// the end at a time of its own. Package treehost hosts the streams; the rules get only the events
// that treehost passes on.
type stream struct {
	child, parent *node // parent is nil until the request has arrived
	generation    uint64
	accepted      bool // the child has read the acceptance
	broken        bool // messages under way do not arrive
	left          bool // the child has left the link
	childEnded    bool // the child reads no more, because of its own Leave or the end of the link
	parentEnded   bool
	latest        [2]mono.Time // arrival of the latest message, to the child and to the parent
}

// carry delivers a message of a stream to one of its ends, in order.
func (w *world) carry(s *stream, to *node, do func()) {
	latest := &s.latest[0]
	if to == s.parent {
		latest = &s.latest[1]
	}
	*latest = max(w.now.Add(w.delay()), *latest+1)
	w.at(*latest, func() { w.deliver(to, func() { w.unless(s.broken, do) }) })
}

func (w *world) unless(not bool, do func()) {
	if !not {
		do()
	}
}

// deliver executes do at an incarnation: later if the incarnation is stopped, never if dead.
func (w *world) deliver(to *node, do func()) {
	switch {
	case !to.alive:
	case to.stopped:
		to.inbox = append(to.inbox, do)
	default:
		do()
	}
}

// dial opens a stream for a join. No process listens at the address of a dead one.
func (w *world) dial(n *node, a Join) {
	s := &stream{child: n, generation: a.Generation}
	w.streams = append(w.streams, s)
	name := a.To.Name
	w.after(w.delay(), func() {
		s.parent = w.agents[numberOf(name)]
		if !s.parent.alive {
			w.endAtChild(s)
			return
		}
		w.carry(s, s.parent, func() {
			w.step(s.parent, JoinAsked{Child: a.Child, Generation: a.Generation, Parent: a.To.ID})
		})
		if s.childEnded { // the child has given up meanwhile
			w.endAtParent(s)
		}
	})
}

// endAtChild informs the child of the end of a stream.
func (w *world) endAtChild(s *stream) {
	w.after(w.delay(), func() {
		w.deliver(s.child, func() {
			if !s.childEnded {
				s.childEnded = true
				w.step(s.child, Ended{At: w.now, Generation: s.generation})
			}
		})
	})
}

// endAtParent informs the parent, after all messages of the child.
func (w *world) endAtParent(s *stream) {
	at := max(w.now.Add(w.delay()), s.latest[1]+1)
	s.latest[1] = at
	w.at(at, func() {
		w.deliver(s.parent, func() {
			if !s.parentEnded {
				s.parentEnded = true
				w.step(s.parent, Closed{At: w.now, Peer: s.child.me, Generation: s.generation})
			}
		})
	})
}

// cut breaks streams: messages under way are lost, and both ends learn of the end.
func (w *world) cut(which func(*stream) bool) {
	for _, s := range w.streams {
		if s.parent != nil && !s.broken && which(s) {
			s.broken = true
			w.endAtChild(s)
			w.endAtParent(s)
		}
	}
	w.streams = slices.DeleteFunc(w.streams, func(s *stream) bool { return s.broken || s.childEnded && s.parentEnded })
}

// of reports whether a stream has this incarnation at one of its ends.
func (s *stream) of(n *node) bool { return s.child == n || s.parent == n }

// toChild sends a message on the stream of a child, if there is one. The last message ends the
// stream.
func (w *world) toChild(n *node, child ID, generation uint64, last bool, ev Event) {
	i := slices.IndexFunc(w.streams, func(s *stream) bool {
		return s.parent == n && s.child.me == child && s.generation == generation && !s.parentEnded
	})
	if i < 0 {
		return
	}
	s := w.streams[i]
	w.carry(s, s.child, func() {
		if s.childEnded {
			return
		}
		if _, ok := ev.(Joined); ok {
			s.accepted = true
		}
		if ev != nil {
			w.step(s.child, timed(ev, w.now))
		}
		if last && !s.childEnded {
			s.childEnded = true
			w.step(s.child, Ended{At: w.now, Generation: s.generation})
		}
	})
	if last {
		s.parentEnded = true
		w.after(w.delay(), func() {
			w.deliver(n, func() { w.step(n, Closed{At: w.now, Peer: child, Generation: generation}) })
		})
	}
}

// timed returns an event with its time.
func timed(ev Event, now mono.Time) Event {
	switch ev := ev.(type) {
	case Joined:
		ev.At = now
		return ev
	case Listed:
		ev.At = now
		return ev
	case Declined:
		ev.At = now
		return ev
	case Declared:
		ev.At = now
		return ev
	case Answered:
		ev.At = now
		return ev
	case HomeSeen:
		ev.At = now
		return ev
	}
	return ev
}

// leaveUp ends a stream at the child.
func (w *world) leaveUp(n *node, generation uint64) {
	for _, s := range w.streams {
		if s.child != n || s.generation != generation || s.left || s.childEnded {
			continue
		}
		s.left = true
		w.after(w.delay(), func() { // until then the child may read messages under way
			s.childEnded = true
			if s.parent != nil {
				w.endAtParent(s)
			}
		})
	}
}

// detection is the silence after which observers declare a process dead.
const detection = 2 * mono.Second

// halt stops an incarnation for a while: SIGSTOP and SIGCONT. After a long stop the observers
// declare the incarnation dead. When it resumes, it may declare the processes that it observes,
// because it has received nothing from them.
func (w *world) halt(n *node, last mono.Duration) {
	n.stopped, n.silentAt = true, w.now
	w.note("a%d is stopped for %v", n.number, last)
	begun := w.now
	w.after(detection, func() {
		if n.stopped && n.silentAt == begun {
			w.declare(n)
		}
	})
	w.after(last, func() { w.proceed(n, last >= detection) })
}

// proceed is SIGCONT.
func (w *world) proceed(n *node, long bool) {
	if !n.alive || !n.stopped {
		return
	}
	w.note("a%d resumes", n.number)
	n.stopped = false
	w.peace = max(w.peace, w.now.Add(5*mono.Second))
	inbox := n.inbox
	n.inbox = nil
	if w.random.IntN(2) == 0 {
		w.tick(n) // before its messages
	}
	for _, do := range inbox {
		w.deliver(n, do)
	}
	if long && w.random.IntN(2) == 0 {
		for _, a := range slices.Clone(n.observed) {
			w.detected(n, a.ID)
		}
	}
	w.tick(n)
}

func (w *world) tick(n *node) {
	if d, ok := n.rule.Deadline(); ok && d <= w.now {
		n.wake = 0
		w.step(n, Tick{Now: w.now})
	}
}

// declare makes all observers of an incarnation declare its death.
func (w *world) declare(dead *node) {
	for _, n := range w.agents {
		if n != nil && n != dead && n.alive && n.observes(dead.me) {
			w.declareTo(n, dead)
		}
	}
}

func (w *world) declareTo(n, dead *node) {
	w.after(w.delay(), func() {
		w.deliver(n, func() { w.detected(n, dead.me) })
	})
}

// detected is a declaration by the failure detector, which ends the observation.
func (w *world) detected(n *node, who ID) {
	if o := w.incarnation(who); o != nil && o.alive {
		n.slurs[who] = true
	}
	n.observed = slices.DeleteFunc(slices.Clone(n.observed), func(r Ref) bool { return r.ID == who })
	w.step(n, Declared{At: w.now, Who: who})
}

// observes reports whether an incarnation observes another incarnation: a child, or a near
// ancestor.
func (n *node) observes(id ID) bool {
	is := func(r Ref) bool { return r.ID == id }
	return slices.ContainsFunc(n.observed, is) || slices.ContainsFunc(n.rule.Tree().Children(), is)
}

// observe begins observations. They find processes that are dead already, or stopped for long.
func (w *world) observe(n *node, ids ...ID) {
	for _, id := range ids {
		w.after(detection, func() {
			if o := w.incarnation(id); n.alive && n.observes(id) && (o == nil || !o.alive || o.stopped && w.now.Sub(o.silentAt) >= detection) {
				w.deliver(n, func() { w.detected(n, id) })
			}
		})
	}
}

// incarnation returns the process of that identity, or nil if the identity is not present.
func (w *world) incarnation(id ID) *node {
	if n := w.agents[numberOf(id.Name)]; n != nil && n.me == id {
		return n
	}
	return nil
}
