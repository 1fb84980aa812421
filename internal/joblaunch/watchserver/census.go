package watchserver

import (
	"cmp"
	"slices"

	"github.com/goulfm/goulfm/fd/watch"
)

// A member is the subject of an event: a process by its number, otherwise a node by its number,
// otherwise a stranger by its name.
type member struct {
	kind int
	n    int
	name string
}

// Kinds of members, in the order of a snapshot.
const (
	ofNode = iota
	ofProcess
	ofStranger
)

func memberOf(e watch.Event) member {
	switch {
	case e.Proc != watch.None:
		return member{kind: ofProcess, n: e.Proc}
	case e.Node != watch.None:
		return member{kind: ofNode, n: e.Node}
	}
	return member{kind: ofStranger, name: e.Name}
}

func compareMembers(a, b member) int {
	return cmp.Or(a.kind-b.kind, a.n-b.n, cmp.Compare(a.name, b.name))
}

// A census holds the members that are present according to the events so far.
type census struct {
	seq uint64 // of the last event
	all map[member]*resident
}

// A resident is a member that is present.
type resident struct {
	joined watch.Event
	frozen *watch.Event // the event since which it is frozen; nil: it is not frozen
}

func newCensus() *census { return &census{all: map[member]*resident{}} }

// note applies an event. An event about a member that is not present changes nothing: a process
// may end before it has joined.
func (c *census) note(e watch.Event) {
	c.seq = e.Seq
	m := memberOf(e)
	switch r := c.all[m]; {
	case e.What == watch.Joined:
		c.all[m] = &resident{joined: e}
	case r == nil:
	case e.What == watch.Left, e.What == watch.Died, e.What == watch.Lost:
		delete(c.all, m)
	case e.What == watch.Frozen:
		r.frozen = &e
	case e.What == watch.Thawed:
		r.frozen = nil
	}
}

// snapshot returns the present members, nodes first, as events that carry the number of the last
// event in the census. A frozen member has two events.
func (c *census) snapshot() (events []watch.Event) {
	add := func(what string, e watch.Event) {
		e.What, e.Seq = what, c.seq
		events = append(events, e)
	}
	members := make([]member, 0, len(c.all))
	for m := range c.all {
		members = append(members, m)
	}
	slices.SortFunc(members, compareMembers)
	for _, m := range members {
		r := c.all[m]
		add(watch.Present, r.joined)
		if r.frozen != nil {
			add(watch.Frozen, *r.frozen)
		}
	}
	add(watch.Complete, word(watch.Complete, ""))
	return events
}
