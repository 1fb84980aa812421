package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func (p *pair) clone() *pair {
	q := &pair{now: p.now, vanish: p.vanish, violation: p.violation}
	for me, e := range p.ends {
		copied, s := *e, *e.s
		s.out.spans, s.actions = slices.Clone(s.out.spans), nil
		copied.s = &s
		q.ends[me] = &copied
	}
	for _, l := range p.links {
		copied := *l
		for me := range copied.queue {
			copied.queue[me] = slices.Clone(l.queue[me])
		}
		q.links = append(q.links, &copied)
	}
	return q
}

// key returns, as text, all state on which the future depends.
func (p *pair) key() string {
	var b strings.Builder
	for _, e := range p.ends {
		s := *e.s
		s.actions = nil
		fmt.Fprintf(&b, "%+v %d %d %d %d %v\n", s, e.cursor, e.received, e.taken, e.accepted, e.closed)
	}
	for _, l := range p.links {
		fmt.Fprintf(&b, "%+v\n", *l)
	}
	return b.String()
}

// A budget bounds the number of faults and of clock steps in an exploration.
type budget struct {
	ticks, cuts, refusals int
}

// explore visits every state that p can reach, and calls visit once for each.
func explore(p *pair, left budget, seen map[string]bool, visit func(p *pair)) {
	key := p.key() + fmt.Sprint(left)
	if seen[key] {
		return
	}
	seen[key] = true
	visit(p)
	for i, l := range p.links {
		exploreLink(p, i, l, left, seen, visit)
	}
	for me, e := range p.ends {
		if n := e.waiting(); n > 0 {
			q := p.clone()
			q.take(me, n, true)
			explore(q, left, seen, visit)
		}
	}
	if left.ticks == 0 {
		return
	}
	if at, ok := p.nextDeadline(); ok {
		q := p.clone()
		q.now = max(q.now, at)
		q.tick(0)
		q.tick(1)
		left.ticks--
		explore(q, left, seen, visit)
	}
}

func exploreLink(p *pair, i int, l *link, left budget, seen map[string]bool, visit func(p *pair)) {
	try := func(left budget, move func(q *pair, l *link)) {
		q := p.clone()
		move(q, q.links[i])
		q.sweepLinks()
		explore(q, left, seen, visit)
	}
	if !l.up {
		if l.closed[l.dialer] {
			return
		}
		try(left, func(q *pair, l *link) { q.connect(l) })
		if left.refusals > 0 {
			less := left
			less.refusals--
			try(less, func(q *pair, l *link) { q.refuse(l) })
		}
		return
	}
	for me := range l.queue {
		if len(l.queue[me]) > 0 && !l.closed[me] {
			try(left, func(q *pair, l *link) { q.deliver(l, me, 0) })
		}
	}
	if left.cuts > 0 {
		less := left
		less.cuts--
		for me := range l.queue {
			if !l.closed[me] {
				try(less, func(q *pair, l *link) { q.breakAt(l, me) })
			}
		}
		try(less, func(q *pair, l *link) { q.cut(l, 0, 0) })
	}
}

// TestSimultaneousOpenExhaustively visits every order in which two dials, hellos, answers and ends
// can meet, with one broken link, one refused dial and some clock steps in between. From every
// reachable state the pair meets once no more faults occur, even if from then on only one of the
// two can dial.
func TestSimultaneousOpenExhaustively(t *testing.T) {
	start := newPair(64, 0)
	start.step(0, Want{})
	start.step(1, Want{})
	seen, states := map[string]bool{}, 0
	explore(start, budget{ticks: longtest.N(1, 2), cuts: 1, refusals: 1}, seen, func(p *pair) {
		states++
		require.NoError(t, p.violation)
		for i, roads := range []road{{true, true}, {true, false}, {false, true}, {true, false}, {false, true}} {
			q := p.clone()
			q.vanish = i > 2
			q.runQuietly(q.now.Add(AttemptFor+BusyFor+2*RedialLast), roads)
			require.NoError(t, q.violation)
			require.True(t, q.meet(), "roads %v, from\n%s", roads, p.key())
		}
	})
	t.Logf("%d states", states)
}

// TestGoodbyeExhaustively visits every order in which two ends with a few bytes in flight can
// close, while a link breaks. From every state both ends reach closed, with everything
// acknowledged.
func TestGoodbyeExhaustively(t *testing.T) {
	for name, closers := range map[string][]int{"one": {0}, "both": {0, 1}} {
		start := newPair(64, 0)
		start.step(0, Want{})
		start.runQuietly(0, road{true, true})
		start.step(0, Append{Copied: 3})
		start.step(1, Append{Copied: 2})
		for _, me := range closers {
			start.step(me, Close{})
		}
		seen, states := map[string]bool{}, 0
		explore(start, budget{ticks: 1, cuts: longtest.N(1, 2)}, seen, func(p *pair) {
			states++
			require.NoError(t, p.violation, name)
			q := p.clone()
			q.runQuietly(q.now.Add(AttemptFor+BusyFor), road{true, true})
			require.NoError(t, q.violation, name)
			for me, e := range q.ends {
				require.True(t, e.closed, "%s: end %d: %s, from\n%s", name, me, e.s.Describe(), p.key())
				require.Zero(t, e.lost, name)
				require.Equal(t, e.s.out.queued, q.ends[1-me].taken, name)
			}
		})
		t.Logf("%s: %d states", name, states)
	}
}
