package tree

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Links is a Tree together with the identities of the processes that its links to parents lead to.
// Links turns the events of streams, which carry only the generation of a link, into events of the
// rule, and forwards the rule's actions.
//
// A configured parent is known by name only, until its acceptance. The acceptance names its
// incarnation, and every later event of that link carries this identity (T13): the rule would
// ignore any other.
type Links struct {
	tree *Tree
	ups  []uplink
	out  []Action
}

// uplink is a link to a parent, or one on which a join waits for its answer.
type uplink struct {
	generation uint64
	peer       ID // the requested parent; after the acceptance, the parent that accepted
	accepted   bool
}

// Ended reports that the stream of a link to a parent has ended: the connection could not be made,
// or the connection broke, or the parent closed the stream.
type Ended struct {
	At         mono.Time
	Generation uint64
}

// Gained reports that a link leads to the parent from now on.
type Gained struct {
	Parent     Ref
	Generation uint64
}

// Lost reports that the link to the parent is lost.
type Lost struct{ Parent Ref }

func (Ended) happened() {}
func (Gained) action()  {}
func (Lost) action()    {}

// NewLinks returns a process that has not started.
func NewLinks(c Config) *Links { return &Links{tree: New(c)} }

// Tree returns the rule, for reading.
func (l *Links) Tree() *Tree { return l.tree }

// Deadline returns the time of the next Tick, if there is any.
func (l *Links) Deadline() (mono.Time, bool) { return l.tree.Deadline() }

// Step applies an event: Ended, or one of the rule. Listed needs no From. The actions are valid
// until the next Step.
func (l *Links) Step(ev Event) []Action {
	l.out = l.out[:0]
	switch ev := ev.(type) {
	case Joined:
		l.joined(ev)
	case Declined: // the stream ends, too, and needs no further action
		l.forget(ev.Generation)
		l.apply(ev)
	case Listed:
		if u := l.up(ev.Generation); u != nil {
			ev.From = u.peer
			l.apply(ev)
		}
	case Ended:
		l.ended(ev)
	case JoinAsked:
		l.asked(ev)
	default:
		l.apply(ev)
	}
	return l.out
}

// up returns the link of a generation; nil if this process has left the link, or the link has
// ended.
func (l *Links) up(generation uint64) *uplink {
	i := slices.IndexFunc(l.ups, func(u uplink) bool { return u.generation == generation })
	if i < 0 {
		return nil
	}
	return &l.ups[i]
}

func (l *Links) forget(generation uint64) {
	l.ups = slices.DeleteFunc(l.ups, func(u uplink) bool { return u.generation == generation })
}

func (l *Links) joined(ev Joined) {
	u := l.up(ev.Generation)
	if u == nil {
		return // this process has left the link before the answer came
	}
	u.peer, u.accepted = ev.Parent.ID, true // T13
	l.apply(ev)
	if parent, generation, ok := l.tree.Parent(); ok && generation == ev.Generation {
		l.out = append(l.out, Gained{Parent: parent, Generation: generation})
	}
}

func (l *Links) ended(ev Ended) {
	u := l.up(ev.Generation)
	if u == nil {
		return
	}
	peer, accepted := u.peer, u.accepted
	l.forget(ev.Generation)
	if !accepted {
		l.apply(Declined{At: ev.At, Generation: ev.Generation})
		return
	}
	l.apply(Closed{At: ev.At, Peer: peer, Generation: ev.Generation, Up: true})
}

// asked refuses a child that means another process, or another incarnation of this process: the
// child's address may be an old one.
func (l *Links) asked(ev JoinAsked) {
	me := l.tree.Me()
	if ev.Parent.Name != me.Name || ev.Parent.Incarnation != 0 && ev.Parent.Incarnation != me.Incarnation {
		l.out = append(l.out, Refuse{Child: ev.Child.ID, Generation: ev.Generation})
		return
	}
	l.apply(ev)
}

// apply steps the rule, and keeps the list of links up to date.
func (l *Links) apply(ev Event) {
	before, _, had := l.tree.Parent()
	actions := l.tree.Step(ev)
	if _, _, has := l.tree.Parent(); had && !has {
		l.out = append(l.out, Lost{Parent: before})
	}
	for _, a := range actions {
		switch a := a.(type) {
		case Join:
			l.ups = append(l.ups, uplink{generation: a.Generation, peer: a.To.ID})
		case Leave:
			if a.Up && l.up(a.Generation) == nil {
				continue // the link has ended
			}
			if a.Up {
				l.forget(a.Generation)
			}
		}
		l.out = append(l.out, a)
	}
}
