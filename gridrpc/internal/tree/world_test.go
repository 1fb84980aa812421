package tree

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/mono"
)

// world is a tree of agents in virtual time: messages between two agents come in order, after
// random times; agents die, are started anew, and are suspected wrongly.
type world struct {
	t      *testing.T
	random *rand.Rand
	now    mono.Time
	queue  queue
	order  int
	agents []*node // by number; the first root is 0
	root   int     // the present one
	term   uint64  // of it
	was    []Ref   // answers that were right once
	room   int     // for children, at each agent; 0: for all
	last   map[[2]int]mono.Time
	story  []string
	joins  int
	asks   int
	lists  int
}

// node is the present incarnation of an agent.
type node struct {
	number int
	rule   *Tree
	me     ID
	alive  bool
	slurs  map[ID]bool // whom it was told wrongly to be dead
	wake   mono.Time
	master bool   // it is the root, or was
	term   uint64 // the greatest that it has known
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

// delay is short mostly; a message that was lost once comes later.
func (w *world) delay() mono.Duration {
	if w.random.IntN(30) == 0 {
		return mono.Duration(w.random.Int64N(int64(400 * mono.Millisecond)))
	}
	return mono.Duration(1 + w.random.Int64N(int64(20*mono.Millisecond)))
}

// send delivers in order between two agents.
func (w *world) send(from, to int, do func()) {
	at := max(w.now.Add(w.delay()), w.last[[2]int{from, to}]+1)
	w.last[[2]int{from, to}] = at
	w.at(at, do)
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
	n := &node{number: i, rule: New(cfg), me: me, alive: true, slurs: map[ID]bool{}, master: cfg.Root}
	w.agents[i] = n
	if cfg.Root {
		w.was = append(w.was, n.rule.Me())
	}
	w.step(n, Start{At: w.now})
}

// replaceRoot has another master be the root. The one before may be dead, which ends its links, or
// go on as one for a while, until it hears that it is deposed.
func (w *world) replaceRoot(known int) {
	old := w.agents[w.root]
	switch w.random.IntN(3) {
	case 0: // it is started anew, at the same address
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
	w.after(mono.Duration(w.random.Int64N(int64(3*mono.Second))), func() { w.step(old, Deposed{Term: term}) })
}

func (w *world) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%-9v %s", mono.Duration(w.now), fmt.Sprintf(format, args...)))
}

func (w *world) require(ok bool, format string, args ...any) {
	if !ok {
		for _, line := range w.story {
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
	lost := n.rule.Ancestors()
	for _, a := range n.rule.Step(ev) {
		w.note("    %T%+v", a, a)
		w.do(n, a, lost)
	}
	if at, ok := n.rule.Deadline(); ok && at != n.wake {
		n.wake = at
		w.at(at, func() {
			if d, ok := n.rule.Deadline(); ok && d <= w.now {
				n.wake = 0
				w.step(n, Tick{Now: w.now})
			}
		})
	}
	w.require(n.rule.Term() >= n.term, "a%d has gone back from a root of term %d to one of term %d", n.number, n.term, n.rule.Term())
	n.term = n.rule.Term()
	w.noCycle()
}

// reach delivers something to whatever incarnation of an agent is there; gone if none is.
func (w *world) reach(from *node, name string, there func(*node), gone func()) {
	to := numberOf(name)
	w.send(from.number, to, func() {
		if n := w.agents[to]; n.alive {
			there(n)
		} else if gone != nil {
			w.send(to, from.number, gone)
		}
	})
}

func (w *world) do(n *node, a Action, known []Ref) {
	me := n.rule.Me()
	switch a := a.(type) {
	case Probe:
		w.reach(n, a.To.Name, func(o *node) {
			w.send(o.number, n.number, func() { w.step(n, Answered{At: w.now, Asked: a.To.ID, Is: o.me}) })
		}, func() { w.step(n, Declared{At: w.now, Who: a.To.ID}) })
	case Join:
		w.joins++
		declined := func() { w.step(n, Declined{At: w.now, Generation: a.Generation}) }
		w.reach(n, a.To.Name, func(o *node) {
			if a.To.Incarnation != 0 && a.To.Incarnation != o.me.Incarnation {
				w.send(o.number, n.number, declined)
				return
			}
			w.step(o, JoinAsked{Child: a.Child, Generation: a.Generation})
		}, declined)
	case Accept:
		w.reach(n, a.Child.Name, func(o *node) {
			if o.me == a.Child {
				w.step(o, Joined{At: w.now, Parent: a.Parent, Generation: a.Generation, Ancestors: a.Ancestors, Term: a.Term})
			} else {
				w.send(o.number, n.number, func() { w.step(n, Closed{At: w.now, Peer: a.Child, Generation: a.Generation}) })
			}
		}, func() { w.step(n, Closed{At: w.now, Peer: a.Child, Generation: a.Generation}) })
	case Refuse:
		w.reach(n, a.Child.Name, func(o *node) {
			if o.me == a.Child {
				w.step(o, Declined{At: w.now, Generation: a.Generation, Redirect: a.Redirect})
			}
		}, nil)
	case List:
		w.lists++
		w.reach(n, a.Child.Name, func(o *node) {
			if o.me == a.Child {
				w.step(o, Listed{At: w.now, From: me.ID, Generation: a.Generation, Ancestors: a.Ancestors, Term: a.Term})
			}
		}, nil)
	case Leave:
		w.reach(n, a.Peer.Name, func(o *node) {
			if o.me == a.Peer {
				w.step(o, Closed{At: w.now, Peer: me.ID, Generation: a.Generation, Up: !a.Up})
			}
		}, nil)
	case AskOracle:
		w.asks++
		w.checkAsk(n, known)
		w.after(w.delay(), func() { root := w.oracle(); w.step(n, Oracle{At: w.now, Root: &root}) })
	case LookHome:
		w.reach(n, a.Home.Name, func(o *node) {
			home := o.rule.Me()
			w.send(o.number, n.number, func() { w.step(n, HomeSeen{At: w.now, Home: home}) })
		}, nil)
	}
}

// oracle says who is the root; now and then it says what was right once, or never.
func (w *world) oracle() Ref {
	switch n := w.agents[w.random.IntN(len(w.agents))]; {
	case n != nil && w.random.IntN(4) == 0:
		return n.rule.Me()
	case w.random.IntN(4) == 0:
		return w.was[w.random.IntN(len(w.was))]
	}
	return w.was[len(w.was)-1]
}

// checkAsk is G4: nobody asks the oracle while a known ancestor lives that it was not told
// wrongly to be dead, and to which it could go.
func (w *world) checkAsk(n *node, known []Ref) {
	if w.room > 0 {
		return // they may be full
	}
	for _, a := range known {
		o := w.agents[numberOf(a.Name)]
		w.require(!o.alive || o.me != a.ID || n.slurs[a.ID] || w.isFormer(o), "a%d asks the oracle, and %v lives", n.number, a)
	}
}

// isFormer says whether an agent was the root once, and may have heard of it.
func (w *world) isFormer(n *node) bool { return n.master && n.number != w.root }

// noCycle is G1, for the links as children see them.
func (w *world) noCycle() {
	for _, n := range w.agents {
		steps := 0
		for at := n; at != nil && at.alive; steps++ {
			w.require(steps <= len(w.agents), "a cycle above a%d", n.number)
			p, _, ok := at.rule.Parent()
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

// kill ends an incarnation; those that it has links with notice.
func (w *world) kill(i int) {
	dead := w.agents[i]
	dead.alive = false
	w.note("a%d dies", i)
	for _, n := range w.agents {
		if n == dead || !n.alive {
			continue
		}
		w.send(i, n.number, func() { w.step(n, Declared{At: w.now, Who: dead.me}) })
	}
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
			for _, c := range n.rule.Children() {
				tables[c.ID]++
			}
		}
	}
	for _, n := range w.agents {
		if w.isFormer(n) { // G9
			w.require(!n.alive || len(n.rule.Children()) == 0, "a%d is deposed, and has children", n.number)
		}
		if !n.alive || n.master {
			continue
		}
		w.require(n.rule.Term() == w.term, "a%d knows term %d of %d", n.number, n.rule.Term(), w.term)
		w.require(n.rule.Phase() == Attached, "a%d is %v", n.number, n.rule.Phase())
		w.require(tables[n.me] == 1, "a%d is in %d tables", n.number, tables[n.me])
		var want []Ref
		for at := n; at.number != w.root && len(want) < known; {
			p, _, _ := at.rule.Parent()
			at = w.agents[numberOf(p.Name)]
			w.require(at.alive && at.me == p.ID, "the parent %v of a%d is dead", p, n.number)
			want = append(want, at.rule.Me())
		}
		w.require(fmt.Sprint(want) == fmt.Sprint(n.rule.Ancestors()), "a%d knows %v, want %v", n.number, n.rule.Ancestors(), want)
	}
}

// schedule plays one random life of a tree.
func schedule(t *testing.T, seed uint64) {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), last: map[[2]int]mono.Time{}}
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
		p, _, _ := w.agents[i].rule.Parent()
		homes[i] = numberOf(p.Name)
	}
	if w.room == 0 {
		w.settled(known)
	}
	for range 1 + w.random.IntN(size) {
		w.fault(homes, known)
		gap := 100 * mono.Millisecond
		if w.random.IntN(2) == 0 {
			gap = 5 * mono.Millisecond // the next one comes while messages of this one are under way
		}
		w.run(w.now.Add(mono.Duration(w.random.Int64N(int64(gap)))))
	}
	w.run(w.now.Add(120 * mono.Second))
	if w.room > 0 {
		return // who finds no room goes on looking; a cycle there must not be either
	}
	w.settled(known)
	for i, n := range w.agents[:size] {
		if home := w.agents[homes[i]]; i > 0 && n.alive && home.alive && !w.isFormer(home) && home.rule.Me().Tier < n.rule.Me().Tier {
			p, _, _ := n.rule.Parent()
			w.require(p.ID == home.me, "a%d is not at home", i)
		}
	}
	joins, asks, lists := w.joins, w.asks, w.lists
	w.run(w.now.Add(120 * mono.Second))
	w.require(joins == w.joins && asks == w.asks && lists == w.lists, "a settled tree still moves") // G7
}

// fault does something bad to an agent, or to the root.
func (w *world) fault(homes []int, known int) {
	if w.random.IntN(12) == 0 {
		w.replaceRoot(known)
		return
	}
	i := 1 + w.random.IntN(len(homes)-1)
	n := w.agents[i]
	switch what := w.random.IntN(4); {
	case !n.alive && what == 0 && w.random.IntN(3) == 0:
		w.startBelowEachOther(i, homes, known)
	case !n.alive && what == 0:
		if w.random.IntN(2) == 0 { // below any other one, also a former descendant
			homes[i] = (i + 1 + w.random.IntN(len(homes)-1)) % len(homes)
		}
		w.start(i, homes[i], known)
	case !n.alive:
	case what == 0:
		if p, _, ok := n.rule.Parent(); ok {
			n.slurs[p.ID] = true
			w.step(n, Declared{At: w.now, Who: p.ID})
		}
	default:
		w.kill(i)
	}
}

// startBelowEachOther starts a dead agent anew, and another one with it, each configured to be a
// child of the other: a mistake that people make.
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

// TestRandomLives: whatever dies, is started anew or is suspected wrongly, in the end the
// tree is whole (G1 to G4, G7).
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
