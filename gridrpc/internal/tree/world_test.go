package tree

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// world is a tree of agents in virtual time, which run Links over simulated streams. Agents die,
// are stopped, restart, are cut off, and are suspected wrongly.
type world struct {
	t       *testing.T
	random  *rand.Rand
	now     mono.Time
	queue   queue
	order   int
	agents  []*node // by number; the first root is 0
	root    int     // the present one
	term    uint64  // of the present root
	was     []Ref   // answers that were right once
	room    int     // for children, at each agent; 0: unlimited
	streams []*stream
	peace   mono.Time // until then an agent may not reach a live ancestor: links were cut, or processes stopped
	calm    bool      // messages are quick, and the oracle is right
	trace   []string
	joins   int
	asks    int
	lists   int
}

// node is the present incarnation of an agent.
type node struct {
	number   int
	rule     *Links
	me       ID
	alive    bool
	stopped  bool
	silentAt mono.Time   // the start of its stop
	inbox    []func()    // messages that arrived meanwhile
	observed []Ref       // its ancestors
	slurs    map[ID]bool // live processes that were declared dead to this node
	wake     mono.Time
	master   bool   // the root, or an earlier root
	term     uint64 // the greatest known term
}

type happening struct {
	at    mono.Time
	order int
	do    func()
}

type queue []happening

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(happening)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (w *world) at(t mono.Time, do func()) {
	w.order++
	heap.Push(&w.queue, happening{t, w.order, do})
}

func (w *world) after(d mono.Duration, do func()) { w.at(w.now.Add(d), do) }

// delay is usually short; a message that was lost once arrives later.
func (w *world) delay() mono.Duration {
	if !w.calm && w.random.IntN(30) == 0 {
		return mono.Duration(w.random.Int64N(int64(400 * mono.Millisecond)))
	}
	return mono.Duration(1 + w.random.Int64N(int64(20*mono.Millisecond)))
}

func numberOf(name string) (n int) {
	_, _ = fmt.Sscanf(name, "a%d", &n)
	return n
}

// start makes an incarnation of agent i, whose configured parent is home, or none.
func (w *world) start(i, home, known int) {
	inc := uint64(1)
	if old := w.agents[i]; old != nil {
		inc = old.me.Incarnation + 1
	}
	me := ID{fmt.Sprint("a", i), inc}
	cfg := Config{Me: Ref{ID: me, Tier: Untiered, Addr: me.Name}, Root: i == w.root, Known: known, Children: w.room, Seed: w.random.Uint64()}
	if home >= 0 {
		cfg.Home = &Ref{ID: ID{Name: fmt.Sprint("a", home)}, Addr: fmt.Sprint("a", home), Tier: Untiered}
	}
	if cfg.Root {
		w.term++
		cfg.Term = w.term
	}
	n := &node{number: i, rule: NewLinks(cfg), me: me, alive: true, slurs: map[ID]bool{}, master: cfg.Root}
	w.agents[i] = n
	if cfg.Root {
		w.was = append(w.was, n.rule.Tree().Me())
	}
	w.step(n, Start{At: w.now})
}

// replaceRoot makes another master the root. The earlier root may be dead, which ends its links, or
// may continue as a root until a Deposed.
func (w *world) replaceRoot(known int) {
	old := w.agents[w.root]
	switch w.random.IntN(3) {
	case 0: // the root restarts at the same address
		w.kill(w.root)
		w.start(w.root, -1, known)
		return
	case 1:
		w.kill(w.root)
	}
	w.root = len(w.agents)
	w.agents = append(w.agents, nil)
	w.start(w.root, -1, known)
	term := w.term
	w.after(mono.Duration(w.random.Int64N(int64(3*mono.Second))), func() {
		w.deliver(old, func() { w.step(old, Deposed{Term: term}) })
	})
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%-9v %s", mono.Duration(w.now), fmt.Sprintf(format, args...)))
}

func (w *world) require(ok bool, format string, args ...any) {
	if !ok {
		for _, line := range w.trace {
			w.t.Log(line)
		}
		require.FailNow(w.t, fmt.Sprintf(format, args...))
	}
}

func (w *world) step(n *node, ev Event) {
	if !n.alive {
		return
	}
	w.note("a%d %T%+v", n.number, ev, ev)
	lost := n.rule.Tree().Ancestors()
	for _, a := range n.rule.Step(ev) {
		w.note("    %T%+v", a, a)
		w.do(n, a, lost)
	}
	if at, ok := n.rule.Deadline(); ok && at != n.wake {
		n.wake = at
		w.at(at, func() { w.unless(n.stopped, func() { w.tick(n) }) })
	}
	w.require(n.rule.Tree().Term() >= n.term, "a%d has gone back from a root of term %d to one of term %d", n.number, n.term, n.rule.Tree().Term())
	n.term = n.rule.Tree().Term()
	w.noCycle()
}

// ask gets an answer from the process at an agent's address, or a refusal by its machine without
// one.
func (w *world) ask(from *node, name string, answer func(*node) Event, refused Event) {
	w.after(w.delay(), func() {
		to := w.agents[numberOf(name)]
		if !to.alive {
			if refused != nil {
				w.after(w.delay(), func() { w.deliver(from, func() { w.step(from, timed(refused, w.now)) }) })
			}
			return
		}
		w.deliver(to, func() {
			ev := answer(to)
			w.after(w.delay(), func() { w.deliver(from, func() { w.step(from, timed(ev, w.now)) }) })
		})
	})
}

func (w *world) do(n *node, a Action, known []Ref) {
	switch a := a.(type) {
	case Probe:
		w.ask(n, a.To.Name, func(o *node) Event { return Answered{Asked: a.To.ID, Is: o.me} }, Declared{Who: a.To.ID})
	case Join:
		w.joins++
		w.dial(n, a)
	case Accept:
		w.toChild(n, a.Child, a.Generation, false, Joined{Parent: a.Parent, Generation: a.Generation, Ancestors: a.Ancestors, Term: a.Term})
		w.observe(n, a.Child)
	case Refuse:
		w.toChild(n, a.Child, a.Generation, true, Declined{Generation: a.Generation, Redirect: a.Redirect})
	case List:
		w.lists++
		w.toChild(n, a.Child, a.Generation, false, Listed{Generation: a.Generation, Ancestors: a.Ancestors, Term: a.Term})
	case Leave:
		if a.Up {
			w.leaveUp(n, a.Generation)
		} else {
			w.toChild(n, a.Peer, a.Generation, true, nil)
		}
	case AskOracle:
		w.asks++
		w.checkAsk(n, known)
		w.askOracle(n)
	case LookHome:
		w.ask(n, a.Home.Name, func(o *node) Event { return HomeSeen{Home: o.rule.Tree().Me()} }, nil)
	case Observe:
		n.observed = a.Whom
		for _, r := range a.Whom {
			w.observe(n, r.ID)
		}
	}
}

// askOracle answers at once in a wild world. In a calm one the root itself must answer within two
// seconds.
func (w *world) askOracle(n *node) {
	if !w.calm {
		w.after(w.delay(), func() { root := w.oracle(); w.deliver(n, func() { w.step(n, Oracle{At: w.now, Root: &root}) }) })
		return
	}
	answered := false
	answer := func(root *Ref) func() {
		return func() {
			w.unless(answered, func() { answered = true; w.step(n, Oracle{At: w.now, Root: root}) })
		}
	}
	root := w.agents[w.root]
	w.after(w.delay(), func() {
		w.deliver(root, func() { me := root.rule.Tree().Me(); w.after(w.delay(), func() { w.deliver(n, answer(&me)) }) })
	})
	w.after(2*mono.Second, func() { w.deliver(n, answer(nil)) })
}

// oracle returns the root, and sometimes an outdated or a wrong one.
func (w *world) oracle() Ref {
	switch n := w.agents[w.random.IntN(len(w.agents))]; {
	case n != nil && w.random.IntN(4) == 0:
		return n.rule.Tree().Me()
	case w.random.IntN(4) == 0:
		return w.was[w.random.IntN(len(w.was))]
	}
	return w.was[len(w.was)-1]
}

// checkAsk is G4: no agent asks the oracle while a known ancestor is alive that accepts the agent
// and was not wrongly declared dead to the agent.
func (w *world) checkAsk(n *node, known []Ref) {
	if w.room > 0 || w.now < w.peace {
		return // they may be full, or slow
	}
	for _, a := range known {
		o := w.agents[numberOf(a.Name)]
		w.require(!o.alive || o.me != a.ID || n.slurs[a.ID] || w.isFormer(o), "a%d asks the oracle, and %v lives", n.number, a)
	}
}

// isFormer reports whether an agent was the root once.
func (w *world) isFormer(n *node) bool { return n.master && n.number != w.root }

// noCycle is G1, for the links as children see them.
func (w *world) noCycle() {
	for _, n := range w.agents {
		steps := 0
		for at := n; at != nil && at.alive; steps++ {
			w.require(steps <= len(w.agents), "a cycle above a%d", n.number)
			p, _, ok := at.rule.Tree().Parent()
			if !ok {
				break
			}
			at = w.agents[numberOf(p.Name)]
			if at.me != p.ID {
				break
			}
		}
	}
}

// kill ends an incarnation. Its machine closes the streams, or is lost, too. In the second case
// only observers find the death, later.
func (w *world) kill(i int) {
	dead := w.agents[i]
	dead.alive, dead.inbox = false, nil
	w.note("a%d dies", i)
	if w.random.IntN(3) > 0 {
		w.cut(func(s *stream) bool { return s.of(dead) })
		w.declare(dead)
		return
	}
	w.peace = max(w.peace, w.now.Add(detection+5*mono.Second))
	w.after(detection, func() { w.declare(dead) })
}

func (w *world) run(until mono.Time) {
	for len(w.queue) > 0 && w.queue[0].at <= until {
		h := heap.Pop(&w.queue).(happening)
		w.now = max(w.now, h.at)
		h.do()
	}
	w.now = until
}

// settled are G2 and G3: each agent is attached, in exactly one table, and knows its ancestors.
func (w *world) settled(known int) {
	tables := map[ID]int{}
	for _, n := range w.agents {
		if n.alive {
			for _, c := range n.rule.Tree().Children() {
				tables[c.ID]++
			}
		}
	}
	for _, n := range w.agents {
		if w.isFormer(n) { // G9
			w.require(!n.alive || len(n.rule.Tree().Children()) == 0, "a%d is deposed, and has children", n.number)
		}
		if !n.alive || n.master {
			continue
		}
		w.require(n.rule.Tree().Term() == w.term, "a%d knows term %d of %d", n.number, n.rule.Tree().Term(), w.term)
		w.require(n.rule.Tree().Phase() == Attached, "a%d is %v", n.number, n.rule.Tree().Phase())
		w.require(tables[n.me] == 1, "a%d is in %d tables", n.number, tables[n.me])
		var want []Ref
		for at := n; at.number != w.root && len(want) < known; {
			p, _, _ := at.rule.Tree().Parent()
			at = w.agents[numberOf(p.Name)]
			w.require(at.alive && at.me == p.ID, "the parent %v of a%d is dead", p, n.number)
			want = append(want, at.rule.Tree().Me())
		}
		w.require(fmt.Sprint(want) == fmt.Sprint(n.rule.Tree().Ancestors()), "a%d knows %v, want %v", n.number, n.rule.Tree().Ancestors(), want)
	}
}

// schedule plays one random life of a tree.
func schedule(t *testing.T, seed uint64) {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1))}
	if w.random.IntN(5) == 0 {
		w.room = 1 + w.random.IntN(3)
	}
	size := 5 + w.random.IntN(16)
	known := []int{1, 2, 4, 16}[w.random.IntN(4)]
	w.agents = make([]*node, size)
	for i := range size {
		home := -1
		if i > 0 {
			home = w.random.IntN(i)
			if w.random.IntN(3) == 0 {
				home = i - 1 // long chains
			}
		}
		w.start(i, home, known)
		w.run(w.now.Add(3 * mono.Second))
	}
	homes := make([]int, size)
	for i := 1; i < size; i++ {
		p, _, _ := w.agents[i].rule.Tree().Parent()
		homes[i] = numberOf(p.Name)
	}
	if w.room == 0 {
		w.settled(known)
	}
	for range 1 + w.random.IntN(size) {
		w.fault(homes, known)
		gap := 100 * mono.Millisecond
		if w.random.IntN(2) == 0 {
			gap = 5 * mono.Millisecond // the next fault comes while messages after this fault are under way
		}
		w.run(w.now.Add(mono.Duration(w.random.Int64N(int64(gap)))))
	}
	w.run(w.now.Add(120 * mono.Second))
	if w.room > 0 {
		return // an agent without a place continues its search; there must be no cycle either
	}
	w.settled(known)
	for i, n := range w.agents[:size] {
		if home := w.agents[homes[i]]; i > 0 && n.alive && home.alive && !w.isFormer(home) && home.rule.Tree().Me().Tier < n.rule.Tree().Me().Tier {
			p, _, _ := n.rule.Tree().Parent()
			w.require(p.ID == home.me, "a%d is not at home", i)
		}
	}
	joins, asks, lists := w.joins, w.asks, w.lists
	w.run(w.now.Add(120 * mono.Second))
	w.require(joins == w.joins && asks == w.asks && lists == w.lists, "a settled tree still moves") // G7
}

// fault kills, stops or disturbs an agent, or replaces the root.
func (w *world) fault(homes []int, known int) {
	if w.random.IntN(12) == 0 {
		w.replaceRoot(known)
		return
	}
	i := 1 + w.random.IntN(len(homes)-1)
	n := w.agents[i]
	switch what := w.random.IntN(6); {
	case n.alive && what >= 4:
		w.disturb(n, what == 4)
	case !n.alive && what == 0 && w.random.IntN(3) == 0:
		w.startBelowEachOther(i, homes, known)
	case !n.alive && what == 0:
		if w.random.IntN(2) == 0 { // below any other agent, also a former descendant
			homes[i] = (i + 1 + w.random.IntN(len(homes)-1)) % len(homes)
		}
		w.start(i, homes[i], known)
	case !n.alive:
	case what == 0:
		if p, _, ok := n.rule.Tree().Parent(); ok {
			n.slurs[p.ID] = true
			w.deliver(n, func() { w.step(n, Declared{At: w.now, Who: p.ID}) })
		}
	default:
		w.kill(i)
	}
}

// disturb stops an agent for a while, or cuts its links, or all of the world.
func (w *world) disturb(n *node, stop bool) {
	w.peace = max(w.peace, w.now.Add(5*mono.Second))
	switch {
	case stop && !n.stopped:
		last := mono.Duration(w.random.Int64N(int64(6 * mono.Second)))
		w.peace = max(w.peace, w.now.Add(last+5*mono.Second))
		w.halt(n, last)
	case w.random.IntN(8) == 0:
		w.note("all links are cut")
		w.cut(func(*stream) bool { return true })
	default:
		w.note("the links of a%d are cut", n.number)
		w.cut(func(s *stream) bool { return s.of(n) })
	}
}

// startBelowEachOther restarts two agents, each configured as a child of the other: a common
// mistake.
func (w *world) startBelowEachOther(i int, homes []int, known int) {
	for j, n := range w.agents[1:len(homes)] {
		if j+1 != i && !n.alive {
			homes[i], homes[j+1] = j+1, i
			w.start(i, j+1, known)
			w.start(j+1, i, known)
			return
		}
	}
}

// TestRandomLives: after any deaths, restarts and wrong suspicions the tree is whole in the end (G1
// to G4, G7).
func TestRandomLives(t *testing.T) {
	runs := uint64(3000)
	if testing.Short() {
		runs = 400
	}
	for seed := range runs {
		schedule(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
