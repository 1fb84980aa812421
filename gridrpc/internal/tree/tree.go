package tree

import (
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Config configures an agent. Zero fields mean defaults.
type Config struct {
	Me       Ref    // Tier is Untiered, unless configured; 0 at the root
	Root     bool   // this agent is the root
	Term     uint64 // of the root: greater than that of any root before
	Home     *Ref   // the configured parent, of any incarnation; nil: the root
	Known    int    // number of known ancestors (f); default 16
	Observed int    // number of observed ancestors (m); default (f-1)/4, rounded up
	Children int    // at most; default 256
	Seed     uint64 // of the jitter
}

func (c Config) withDefaults() Config {
	if c.Known == 0 {
		c.Known = 16
	}
	if c.Observed == 0 {
		c.Observed = max(1, (c.Known+2)/4)
	}
	if c.Children == 0 {
		c.Children = 256
	}
	if c.Root {
		c.Me.Tier = 0
	} else {
		c.Term = 0
	}
	return c
}

// Times of the rules.
const (
	waitFirst  = 50 * mono.Millisecond // for a nearer ancestor's answer (T4)
	waitLast   = mono.Second           // for any answer
	joinWithin = 2 * mono.Second       // T5
	askFirst   = 50 * mono.Millisecond // T6
	askLast    = mono.Second
	homeEach   = 10 * mono.Second // T12

	redirectsMax = 3
)

// Phase is the state of an agent.
type Phase uint8

// The phases.
const (
	Idle     Phase = iota // not started, or the root
	Attached              // has a parent
	Probing               // waits for answers of ancestors
	Joining               // has asked to become a child
	Asking                // waits for the oracle, or for the next request to the oracle
)

// String returns the phase in a word.
func (p Phase) String() string {
	return [...]string{"idle", "attached", "probing", "joining", "asking"}[p]
}

// Tree is the place of one agent in the tree.
type Tree struct {
	cfg        Config
	me         Ref
	phase      Phase
	parent     Ref
	generation uint64 // of the link to the parent
	drawn      uint64 // the latest generation
	term       uint64 // of the latest root above, or of this root
	ancestors  []Ref  // nearest first: the parent, its parent, ...
	children   []link

	dead      []ID  // ancestors that were declared dead
	answered  []ID  // ancestors that have answered in this search
	tried     []ID  // ancestors that did not accept this agent in this search
	redirects []Ref // to be tried before all others
	sent      int   // number of redirections of this search
	candidate Ref   // the receiver of the present join
	homing    bool  // the join is to the configured parent, beside the present link
	since     mono.Time
	due       mono.Time // of the next Tick; 0: never
	pause     mono.Duration
	random    *rand.Rand
	out       []Action
}

// link is a child.
type link struct {
	ref        Ref
	generation uint64
}

// New returns an agent that has not started.
func New(c Config) *Tree {
	c = c.withDefaults()
	return &Tree{cfg: c, me: c.Me, term: c.Term, pause: askFirst, random: rand.New(rand.NewPCG(c.Seed, c.Me.Incarnation))}
}

// Phase returns the state of the agent.
func (t *Tree) Phase() Phase { return t.phase }

// Me returns the agent itself, with its tier.
func (t *Tree) Me() Ref { return t.me }

// Parent returns the parent and the generation of its link; ok is false without a parent.
func (t *Tree) Parent() (parent Ref, generation uint64, ok bool) {
	return t.parent, t.generation, t.phase == Attached || t.homing
}

// Term returns the greatest term of a root that this agent has been below.
func (t *Tree) Term() uint64 { return t.term }

// Ancestors returns the known ancestors, nearest first.
func (t *Tree) Ancestors() []Ref { return t.ancestors }

// Children returns the children in the order of their acceptance.
func (t *Tree) Children() []Ref {
	var list []Ref
	for _, c := range t.children {
		list = append(list, c.ref)
	}
	return list
}

// Deadline returns the time of the next required Tick, if any.
func (t *Tree) Deadline() (mono.Time, bool) { return t.due, t.due != 0 }

// Step applies an event. The actions are valid until the next Step.
func (t *Tree) Step(ev Event) []Action {
	t.out = t.out[:0]
	switch ev := ev.(type) {
	case Start:
		t.start(ev.At)
	case Joined:
		t.joined(ev)
	case Declined:
		t.declined(ev)
	case JoinAsked:
		t.asked(ev)
	case Listed:
		t.listed(ev)
	case Closed:
		t.closed(ev)
	case Declared:
		t.declared(ev)
	case Answered:
		t.heard(ev)
	case Oracle:
		t.oracle(ev)
	case Deposed:
		t.deposed(ev)
	case HomeSeen:
		t.homeSeen(ev)
	case Tick:
		t.tick(ev.Now)
	}
	return t.out
}

func (t *Tree) act(a Action) { t.out = append(t.out, a) }

func (t *Tree) start(now mono.Time) {
	switch {
	case t.cfg.Root:
	case t.cfg.Home != nil:
		t.join(*t.cfg.Home, now)
	default:
		t.ask()
	}
}

// learn is T3: a list replaces the earlier one, and all children get the list if it differs. The
// term may be the only difference: a list that was cut does not show the root.
func (t *Tree) learn(parent Ref, beyond []Ref, term uint64) {
	list := append([]Ref{parent}, beyond...)
	list = list[:min(len(list), t.cfg.Known)]
	if slices.Equal(list, t.ancestors) && term == t.term {
		return
	}
	t.ancestors, t.term = list, term
	t.observe()
	for _, c := range t.children {
		t.act(List{Child: c.ref.ID, Generation: c.generation, Ancestors: slices.Clone(list), Term: term})
	}
}

// observe is T10.
func (t *Tree) observe() {
	t.act(Observe{Whom: slices.Clone(t.ancestors[:min(len(t.ancestors), t.cfg.Observed)])})
}

// deposed is T11, at a root. The agent is no longer the root, and has no tier until its process
// restarts.
func (t *Tree) deposed(ev Deposed) {
	if !t.cfg.Root || ev.Term <= t.term {
		return
	}
	t.term, t.me.Tier = ev.Term, Untiered
	t.drop(func(link) bool { return true }, true)
}

func (t *Tree) listed(ev Listed) {
	if !t.linked() || ev.From != t.parent.ID || ev.Generation != t.generation {
		t.act(Leave{Peer: ev.From, Generation: ev.Generation, Up: true}) // T2
		return
	}
	t.learn(t.parent, ev.Ancestors, ev.Term)
}

// linked reports whether there is a link to a parent.
func (t *Tree) linked() bool { return t.phase == Attached || t.homing }

// declared handles evidence of a death, wrong or right.
func (t *Tree) declared(ev Declared) {
	if t.knows(ev.Who) && !slices.Contains(t.dead, ev.Who) {
		t.dead = append(t.dead, ev.Who)
	}
	t.drop(func(c link) bool { return c.ref.ID == ev.Who }, true)
	switch {
	case t.linked() && t.parent.ID == ev.Who:
		t.act(Leave{Peer: ev.Who, Generation: t.generation, Up: true}) // T9
		t.search(ev.At)
	case t.phase == Joining && t.candidate.ID == ev.Who && Published:
		t.next(ev.At)
	case t.phase == Joining && t.candidate.ID == ev.Who:
		t.fail(ev.At)
	case t.phase == Probing:
		t.consider(ev.At)
	}
}

// knows reports whether a process is an ancestor. Other dead processes are not recorded: a root
// whose children come and leave would keep them for ever.
func (t *Tree) knows(id ID) bool {
	return slices.ContainsFunc(t.ancestors, func(a Ref) bool { return a.ID == id })
}

func (t *Tree) closed(ev Closed) {
	if !ev.Up {
		t.drop(func(c link) bool { return c.ref.ID == ev.Peer && c.generation == ev.Generation }, false)
		return
	}
	switch {
	case t.linked() && ev.Peer == t.parent.ID && ev.Generation == t.generation:
		t.search(ev.At)
	case t.joiningNow() && ev.Generation == t.drawn:
		t.fail(ev.At)
	}
}

// drop removes children (T8). With leave, the children get a Leave.
func (t *Tree) drop(which func(link) bool, leave bool) {
	t.children = slices.DeleteFunc(t.children, func(c link) bool {
		gone := which(c)
		if gone && leave {
			t.act(Leave{Peer: c.ref.ID, Generation: c.generation})
		}
		return gone
	})
}

// asked handles the request of a child: T1, T2, T5, T8.
func (t *Tree) asked(ev JoinAsked) {
	refuse := func(redirect []Ref) {
		t.act(Refuse{Child: ev.Child.ID, Generation: ev.Generation, Redirect: redirect})
	}
	tiered := t.me.Tier != Untiered && (ev.Child.Tier == Untiered || ev.Child.Tier > t.me.Tier)
	i := slices.IndexFunc(t.children, func(c link) bool { return c.ref.Name == ev.Child.Name })
	switch {
	case !tiered || ev.Child.Name == t.me.Name:
		refuse(nil)
		return
	case i >= 0 && (ev.Child.Incarnation < t.children[i].ref.Incarnation || ev.Child.ID == t.children[i].ref.ID && ev.Generation <= t.children[i].generation):
		refuse(nil) // a late message
		return
	case i < 0 && len(t.children) >= t.cfg.Children:
		refuse(t.above(ev.Child.Tier))
		return
	}
	t.drop(func(c link) bool { return c.ref.Name == ev.Child.Name }, true)
	if ev.Child.Tier == Untiered {
		ev.Child.Tier = t.me.Tier + 1
	}
	t.children = append(t.children, link{ev.Child, ev.Generation})
	t.act(Accept{Child: ev.Child.ID, Generation: ev.Generation, Parent: t.me, Ancestors: slices.Clone(t.ancestors), Term: t.term})
}

// above returns children that could accept an agent of that tier.
func (t *Tree) above(tier int) []Ref {
	var list []Ref
	for _, c := range t.children {
		if tier == Untiered || c.ref.Tier < tier {
			list = append(list, c.ref)
		}
	}
	return list
}

func (t *Tree) tick(now mono.Time) {
	if t.due == 0 || now < t.due {
		return
	}
	t.due = 0
	switch {
	case t.phase == Joining && Published:
		t.next(now)
	case t.joiningNow(): // the join timed out
		t.act(Leave{Peer: t.candidate.ID, Generation: t.drawn, Up: true})
		t.fail(now)
	case t.phase == Probing:
		t.consider(now)
	case t.phase == Asking:
		t.ask()
	case t.phase == Attached && t.away():
		t.due = now.Add(homeEach)
		t.act(LookHome{Home: *t.cfg.Home})
	}
}
