package tree

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// search is T4: an agent that has lost its parent probes all ancestors at once, also the lost
// parent, because only the link may be broken.
func (t *Tree) search(now mono.Time) {
	t.homing = false
	t.phase, t.since, t.sent = Probing, now, 0
	t.answered, t.tried, t.redirects = t.answered[:0], t.tried[:0], nil
	if Published {
		t.next(now)
		return
	}
	for _, a := range t.ancestors {
		if !slices.Contains(t.dead, a.ID) {
			t.act(Probe{To: a})
		}
	}
	t.consider(now)
}

// isOut reports whether an ancestor is dead or was tried. The search does not wait for such an
// ancestor.
func (t *Tree) isOut(a Ref) bool {
	return slices.Contains(t.dead, a.ID) || slices.Contains(t.tried, a.ID)
}

func (t *Tree) heard(ev Answered) {
	switch {
	case ev.Is != ev.Asked:
		t.declared(Declared{At: ev.At, Who: ev.Asked}) // another incarnation is there
		return
	case !slices.Contains(t.answered, ev.Is):
		t.answered = append(t.answered, ev.Is)
	}
	if t.phase == Probing {
		t.consider(ev.At)
	}
}

// consider joins the nearest ancestor that answers, once no nearer one may still answer.
func (t *Tree) consider(now mono.Time) {
	if len(t.redirects) > 0 {
		to := t.redirects[0]
		t.redirects = t.redirects[1:]
		t.join(to, now)
		return
	}
	waited := now.Sub(t.since)
	open := false
	for _, a := range t.ancestors {
		switch {
		case t.isOut(a):
		case slices.Contains(t.answered, a.ID) && (!open || waited >= waitFirst):
			t.join(a, now)
			return
		default:
			open = true
		}
	}
	switch {
	case !open || waited >= waitLast:
		t.ask()
	case waited < waitFirst:
		t.due = t.since.Add(waitFirst)
	default:
		t.due = t.since.Add(waitLast)
	}
}

// join asks an agent to become the parent.
func (t *Tree) join(to Ref, now mono.Time) {
	t.drawn++
	t.candidate, t.due = to, now.Add(joinWithin)
	if !t.homing {
		t.phase = Joining
	}
	t.act(Join{To: to, Child: t.me, Generation: t.drawn})
}

// joiningNow reports whether a join waits for its answer.
func (t *Tree) joiningNow() bool { return t.phase == Joining || t.homing }

func (t *Tree) joined(ev Joined) {
	if !t.joiningNow() || ev.Generation != t.drawn {
		t.act(Leave{Peer: ev.Parent.ID, Generation: ev.Generation, Up: true}) // T2
		return
	}
	if ev.Term < t.term { // T11
		t.act(Leave{Peer: ev.Parent.ID, Generation: ev.Generation, Up: true})
		t.fail(ev.At)
		return
	}
	if t.homing {
		t.act(Leave{Peer: t.parent.ID, Generation: t.generation, Up: true}) // T12
	}
	t.homing = false
	t.phase, t.parent, t.generation, t.pause, t.due = Attached, ev.Parent, ev.Generation, askFirst, 0
	if t.me.Tier == Untiered {
		t.me.Tier = ev.Parent.Tier + 1
	}
	t.dead = t.dead[:0]
	t.learn(ev.Parent, ev.Ancestors, ev.Term)
	t.observe() // also if the list is the old one: the observation of an ancestor that was declared by mistake has ended
	if t.away() {
		t.due = ev.At.Add(homeEach)
	}
}

func (t *Tree) declined(ev Declined) {
	if !t.joiningNow() || ev.Generation != t.drawn {
		return
	}
	if t.sent < redirectsMax && len(ev.Redirect) > 0 {
		t.sent++
		t.redirects = slices.Clone(ev.Redirect)
	}
	t.fail(ev.At)
}

// fail continues after a failed join.
func (t *Tree) fail(now mono.Time) {
	if t.homing {
		t.homing = false
		t.due = now.Add(homeEach)
		return
	}
	if Published && len(t.ancestors) > 0 {
		t.again(now)
		return
	}
	t.tried = append(t.tried, t.candidate.ID)
	if len(t.ancestors) == 0 && len(t.redirects) == 0 {
		t.rest(now)
		return
	}
	t.phase = Probing
	t.consider(now)
}

// ask is T6.
func (t *Tree) ask() {
	t.phase, t.due = Asking, 0
	t.dead, t.tried, t.answered = t.dead[:0], t.tried[:0], t.answered[:0]
	t.act(AskOracle{})
}

// rest waits before the next request to the oracle. The wait grows each time, and is random, so
// that agents do not ask all at once.
func (t *Tree) rest(now mono.Time) {
	t.phase = Asking
	t.due = now.Add(t.pause/2 + mono.Duration(t.random.Int64N(int64(t.pause))))
	t.pause = min(2*t.pause, askLast)
}

func (t *Tree) oracle(ev Oracle) {
	switch {
	case t.phase != Asking || t.due != 0:
	case ev.Root == nil || ev.Root.Name == t.me.Name:
		t.rest(ev.At)
	default:
		t.ancestors = nil // none of them accepted this agent
		t.join(*ev.Root, ev.At)
	}
}

// away reports whether the parent is not the configured parent (T12).
func (t *Tree) away() bool { return t.cfg.Home != nil && t.parent.Name != t.cfg.Home.Name }

func (t *Tree) homeSeen(ev HomeSeen) {
	if t.phase != Attached || t.homing || !t.away() || ev.Home.Name != t.cfg.Home.Name {
		return
	}
	if ev.Home.Tier == Untiered || ev.Home.Tier >= t.me.Tier {
		return // the configured parent could not accept this agent
	}
	t.homing = true
	t.join(ev.Home, ev.At)
}
