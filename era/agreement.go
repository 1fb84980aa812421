package era

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// state is where one member stands in one agreement (ERA, Part 1).
type state uint8

const (
	notEntered state = iota // not proposed here; faster members may have sent something already
	gathering               // waits for the contribution of every child in view
	waiting                 // has sent UP, waits for its parent's DOWN
	decided                 // has the decision, and answers requests
)

// member is the state that the agreements of one Series share: the identity of this member, the
// closed participants, and the pending actions. Agreements know participants alone; their ranks
// matter only at the edges, where messages are received and sent.
type member struct {
	n, me   int          // participants, and the number of this participant
	teams   *teams       // their ranks; nil: each is the rank of its number
	closed  rankset.Set  // participants that the tree skips, with their messages dropped: the dead and the left
	dead    rankset.Set  // ranks, the dead alone, as reported by a contribution
	out     []Action     // of the Step in progress
	settled []*agreement // decided in the Step in progress; the Series takes them from here
}

// An agreement is one member's side of one agreement.
type agreement struct {
	*member
	seq          uint64
	state        state
	tree         *tree       // nil until entered
	value        Value       // the contributions merged so far; the decision once decided
	contributors rankset.Set // participants with an UP merged here: each has promised to listen to this member only
	requesters   rankset.Set // participants that sent a RESULTREQUEST
	asked        rankset.Set // participants to which this member, as root, sent a RESULTREQUEST: their DOWN is accepted
	parent       int         // receiver of the last UP; -1 before that and as root
	idle         bool        // the watchdog has seen this state once
}

// enter starts the agreement here: Procedure Agreement of ERA. Again means that an earlier speaker
// of this participant may have entered the agreement before. As root the earlier speaker had asked
// its children, and a child that has decided sends nothing by itself: so this member asks, too
// (A25).
func (a *agreement) enter(own Value, t *tree, again bool) {
	a.tree = t
	a.value.Merge(own)
	a.become(gathering)
	a.evaluate()
	if again && a.state == gathering && a.isRoot() {
		a.ask()
	}
}

// learn records v, which an earlier speaker of this participant has decided, and sends the decision
// to the contributors and requesters of this member. Other members ask again when they learn that
// the earlier speaker has stopped.
func (a *agreement) learn(v Value, t *tree) {
	a.tree = t
	to := a.contributors
	to.Union(a.requesters)
	to.Subtract(a.closed)
	a.conclude(v, to)
}

// up handles an UP from q (rule 1).
//
// The UP is merged even in state waiting: the paper does nothing in that case (A4), but if the
// parent dies and this member becomes root, q will not send again, since its own parent, this
// member, has not changed. Being a contributor also gets q the decision.
func (a *agreement) up(q int, v Value) {
	if a.state == decided {
		a.send(q, Down{a.value})
		return
	}
	a.value.Merge(v)
	a.contributors.Add(q)
	a.idle = false
	a.evaluate()
}

// request handles a RESULTREQUEST from q (rule 4). The request proves no death (A1), and is no
// reason to send anything to q: q receives the decision after this member's own parent has sent it
// here, or an UP when q becomes that parent.
//
// The request is recorded in every undecided state (A10). Schedule: 5 waits for 2, which decides,
// sends 5 a slow DOWN and dies; 0 is dead too. Root 1 asks 5. 5 accepts 2's DOWN before 5 learns of
// the death: if 5 had not recorded 1, then 1 would wait for ever.
func (a *agreement) request(q int) {
	if a.state == decided {
		a.send(q, Down{a.value})
		return
	}
	a.requesters.Add(q)
	a.probeParent(q)
}

// down handles a DOWN from y (rule 5): accepted from the parent of the last UP, or from a
// participant that this member asked. Messages of closed members were dropped before (A6). To
// accept any other DOWN would break a promise made to another member; such a DOWN is only a hint
// that the parent may be dead.
func (a *agreement) down(y int, v Value) {
	switch {
	case a.state == decided:
		if !a.value.Equal(v) {
			a.anomaly(a.teams.speaks(y), "agreement %d was decided as [%v], member %d says [%v]", a.seq, a.value, y, v)
		}
	case y == a.parent, a.asked.Has(y):
		a.decide(v, y)
	default:
		a.probeParent(y)
	}
}

// failed reacts to the closing of x, which has just happened in this member's view (rule 3).
func (a *agreement) failed(x int) {
	if a.state == decided || a.state == notEntered {
		return
	}
	if a.state == waiting && x == a.parent {
		a.reattach()
	}
	if a.state == gathering && a.isRoot() {
		a.ask()
	}
	a.evaluate()
}

// succeeded reacts to a new speaker of participant p. Messages to and from the former speaker may
// be lost with that rank; the promises between the two participants stand (A25, A27). So a member
// that waits for p sends its UP again, and a root that has asked p asks again. A decision that this
// member owes to p needs no action: the heir requests the decision by itself, as it knows of the
// agreement only the contents of the memory of its node.
func (a *agreement) succeeded(p int) {
	switch {
	case a.state == waiting && p == a.parent:
		a.sendUp(p)
	case a.state == gathering && a.asked.Has(p) && !a.contributors.Has(p):
		a.send(p, ResultRequest{})
	}
}

// reattach finds a new parent after the death of the last one. If there is none this
// member becomes root.
//
// A new root keeps its contributors (A8): their promises still hold, and they will not send again.
func (a *agreement) reattach() {
	if p := a.tree.parent(a.me, a.closed); p >= 0 {
		a.sendUp(p)
		return
	}
	a.parent = -1
	a.become(gathering)
}

// ask sends a RESULTREQUEST to every child in view that has not contributed (rule 3, A9). Such a
// child may have had the decision from an older root, and then sends no UP by itself. A child is
// asked once: the child records the request.
func (a *agreement) ask() {
	for q := range a.missing {
		if a.asked.Add(q) {
			a.send(q, ResultRequest{})
		}
	}
}

// evaluate is the spontaneous rule (ERA, Part 3; rule 2): once this member and all
// its children in view have contributed, the root decides, another sends UP.
func (a *agreement) evaluate() {
	if a.state != gathering || !a.complete() {
		return
	}
	if p := a.tree.parent(a.me, a.closed); p >= 0 {
		a.sendUp(p)
		return
	}
	v := a.value
	v.Dead.Union(a.dead)
	a.decide(v, -1)
}

// decide takes v as the decision (Procedure Decision of ERA, rule 6): store the decision, send it
// to all members that may be waiting for this one, except teller, its source (-1: none), and
// complete the caller.
func (a *agreement) decide(v Value, teller int) {
	to := a.requesters
	to.Union(a.contributors)
	for q := range a.tree.children(a.me, a.closed) {
		to.Add(q)
	}
	to.Subtract(a.closed)
	to.Remove(teller)
	a.conclude(v, to)
	a.out = append(a.out, Decide{Seq: a.seq, Value: v.Clone()})
}

// conclude stores the decision v and sends it to the members of to.
func (a *agreement) conclude(v Value, to rankset.Set) {
	a.value = v
	a.become(decided)
	for q := range to.All() {
		a.send(q, Down{v})
	}
	a.settled = append(a.settled, a)
	// Nothing but the decision is needed any more (ERA, section 3).
	a.contributors, a.requesters, a.asked = rankset.Set{}, rankset.Set{}, rankset.Set{}
	a.parent = -1
}

// remind sends the last message again and requests a check of the members that should have answered
// (rule 9). The rules terminate without it.
func (a *agreement) remind() {
	switch a.state {
	case waiting:
		a.sendUp(a.parent)
		a.probe(a.parent)
	case gathering:
		for q := range a.missing {
			if a.asked.Has(q) {
				a.send(q, ResultRequest{})
			}
			a.probe(q)
		}
	}
}

// missing yields the children in view that have not contributed.
func (a *agreement) missing(yield func(int) bool) {
	for q := range a.tree.children(a.me, a.closed) {
		if !a.contributors.Has(q) && !yield(q) {
			return
		}
	}
}

// complete reports whether every child in view has contributed.
func (a *agreement) complete() bool {
	for range a.missing {
		return false
	}
	return true
}

func (a *agreement) isRoot() bool { return a.tree.root(a.closed) == a.me }

func (a *agreement) become(s state) { a.state, a.idle = s, false }

// sendUp sends the merged contributions, with every death known by now, to p, and waits for p.
func (a *agreement) sendUp(p int) {
	a.become(waiting)
	a.value.Dead.Union(a.dead)
	a.parent = p
	a.send(p, Up{a.value})
}

// probeParent requests a check of the parent, unless the message was from the parent.
func (a *agreement) probeParent(heard int) {
	if a.tree == nil {
		return
	}
	if p := a.tree.parent(a.me, a.closed); p >= 0 && p != heard {
		a.probe(p)
	}
}

func (a *agreement) send(to int, m Message) {
	a.out = append(a.out, Send{To: a.teams.speaks(to), Seq: a.seq, Msg: AppendMessage(nil, m)})
}

func (m *member) probe(p int) { m.out = append(m.out, Probe{Rank: m.teams.speaks(p)}) }

func (m *member) anomaly(from int, format string, args ...any) {
	m.out = append(m.out, Anomaly{From: from, Text: fmt.Sprintf(format, args...)})
}
