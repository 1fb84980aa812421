package era

// This file is ERA as printed (Parts 2 and 4), reached with FlawPaper (and, for one
// rule, FlawA1) only: the schedule A23 splits it, and tests show that. It departs from the print where the
// print contradicts itself: a root accepts the DOWN that answers its own
// RESULTREQUEST, as the text says, although its Parent is nobody (A6).
//
// S of the paper is member.closed. Part 3 and the procedures are those of
// agreement.go.

// paperUp is Part 2, first rule. A waiting member does nothing (A4).
func (a *agreement) paperUp(q int, v Value) {
	if a.state != waiting {
		a.up(q, v)
	}
}

// paperDown is Part 2, second rule: what counts is the parent now, not whom the
// last UP went to.
func (a *agreement) paperDown(q int, v Value) {
	if a.state == decided || a.tree == nil {
		return
	}
	if q == a.tree.parent(a.me, a.closed) || a.asked.Has(q) {
		a.decide(v, q)
	}
}

// paperRequest is Part 2, third rule: the requester is taken for the root, so
// everybody before it is taken for dead, and it gets the UP whether or not it is
// the parent (A1). It is not written down if this member waits (A10).
func (a *agreement) paperRequest(q int) {
	for r := range q {
		if r != a.me {
			a.closed.Add(r)
			a.dead.Add(r)
		}
	}
	switch a.state {
	case decided:
		a.send(q, Down{a.value})
	case waiting:
		a.send(q, Up{a.value})
	default:
		a.requesters.Add(q)
		a.evaluate()
	}
}

// paperFailed is Part 4: a member is marked dead by now, was is what held before.
func (a *agreement) paperFailed(was paperView) {
	switch {
	case a.state == waiting && was.parentDied:
		a.paperReattach()
	case a.state == gathering && was.root:
		for _, q := range was.orphans {
			a.paperAsk(q)
		}
	}
	a.evaluate()
}

// paperReattach sends UP to the new parent, or starts anew as root, with every
// contributor forgotten (A8).
func (a *agreement) paperReattach() {
	if p := a.tree.parent(a.me, a.closed); p >= 0 {
		a.sendUp(p)
		return
	}
	a.become(gathering)
	a.contributors.Subtract(a.contributors)
	for q := range a.tree.children(a.me, a.closed) {
		a.paperAsk(q)
	}
}

func (a *agreement) paperAsk(q int) {
	a.asked.Add(q)
	a.send(q, ResultRequest{})
}

// paperView is what Part 4 wants to know of S' (S before x was marked dead): was x
// the parent, was this member root, and whose parent was x if x was a child.
type paperView struct {
	parentDied, root bool
	orphans          []int
}

// paperBefore looks at the tree while x still counts as alive.
func (a *agreement) paperBefore(x int) (was paperView) {
	if a.tree == nil {
		return was
	}
	p := a.tree.parent(a.me, a.closed)
	was.parentDied, was.root = p == x, p < 0
	for q := range a.tree.children(a.me, a.closed) {
		if q != x {
			continue
		}
		for orphan := range a.tree.children(x, a.closed) {
			was.orphans = append(was.orphans, orphan)
		}
	}
	return was
}

func deliverPaper(a *agreement, from int, m Message) {
	switch m := m.(type) {
	case Up:
		a.paperUp(from, m.Value)
	case Down:
		a.paperDown(from, m.Value)
	case ResultRequest:
		a.paperRequest(from)
	}
}

// closePaper marks x dead, and lets every agreement compare before and after.
func (s *Series) closePaper(x int) {
	before := make([]paperView, len(s.records))
	for i, a := range s.records {
		if a != nil {
			before[i] = a.paperBefore(x)
		}
	}
	s.closed.Add(x)
	for i, a := range s.records {
		if a != nil {
			a.paperFailed(before[i])
		}
	}
}

// closeBefore is what a RESULTREQUEST from q proves in the paper, with the reaction
// to a death that Part 2 leaves out.
func (s *Series) closeBefore(q int) {
	for r := range q {
		s.failed(r)
	}
}
