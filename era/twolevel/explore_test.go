package twolevel

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var long = flag.Bool("long", false, "also the exhaustive searches that take minutes")

// A search visits every state that a cluster can reach, each once: every order of contributions,
// deliveries, polls and readings of lists, with deaths at every write to memory, between any two
// messages of a member, and between any two steps.
type search struct {
	sizes      []int  // of the nodes
	parent     string // of the nodes; "": binary
	agreements uint64 // that each member proposes
	deaths     int    // processes that die, at most
	losses     int    // nodes that are lost, at most
	cutoff     bool   // members of a lost node run on, and their messages arrive
	first      bool   // only the first node is lost, and only others die
	begun      bool   // all have proposed when the search begins
	absent     []int  // members that never take part, which each other member learns by itself
	overtake   bool   // a frame may be received before the list is read
	leaves     bool   // a death may be one of a process that had left
	noAck      bool   // nobody acknowledges anything
	elsewhere  bool   // a member may know of a death before its node's list has the entry

	vary *rand.Rand // contributions are drawn; nil: they are the same in all searches

	seen map[[16]byte]struct{}
	ends int
}

// move is one thing that can happen next.
type move struct {
	who  int // the member that makes the Steps; -1: none, a fault
	name string
	do   func(c *cluster) error
}

var parents = map[string]func(int) int{
	"":      nil,
	"chain": func(pos int) int { return pos - 1 },
	"star":  func(pos int) int { return min(pos, 1) - 1 },
	"side":  func(pos int) int { return []int{-1, 0, 0, 2}[pos] }, // 3 is below 2, which is no heir of 0
}

// run visits all states. An error lists the path to the violation.
func (s *search) run() error {
	s.seen = map[[16]byte]struct{}{}
	c := newCluster(consecutive(s.sizes...), parents[s.parent])
	c.overtake = s.overtake
	for _, x := range s.absent {
		c.absent, c.left = with(c.absent, x), with(c.left, x)
		c.die(x)
	}
	for r := range c.n() {
		if !s.begun {
			break
		}
		if c.dead.Has(r) {
			continue
		}
		if err := s.proposals(c, r)[0].do(c); err != nil {
			return err
		}
	}
	return s.visit(c, faults{}, nil)
}

// faults counts the faults so far.
type faults struct{ deaths, losses int }

func (s *search) visit(c *cluster, f faults, path []string) error {
	key := c.fingerprint()
	key[0] ^= byte(f.losses) // deaths follow from losses and the dead members
	if _, known := s.seen[key]; known {
		return nil
	}
	s.seen[key] = struct{}{}
	musts, mays := s.moves(c)
	if len(musts) == 0 {
		s.ends++
		if err := c.checkEnd(); err != nil {
			return at(path, err)
		}
	}
	for _, m := range append(musts, mays...) {
		if err := s.try(c, f, path, m); err != nil {
			return err
		}
		if f.deaths < s.deaths && !(s.first && c.of[m.who] == 0) {
			if err := s.tryCut(c, f, path, m); err != nil {
				return err
			}
		}
	}
	return s.visitFaults(c, f, path)
}

func (s *search) try(c *cluster, f faults, path []string, m move) error {
	next := c.clone()
	here := append(path[:len(path):len(path)], m.name)
	if err := m.do(next); err != nil {
		return at(here, err)
	}
	return s.visit(next, f, here)
}

// tryCut lets the mover die before each of its writes to memory but the first: that is a
// death before the move.
func (s *search) tryCut(c *cluster, f faults, path []string, m move) error {
	f.deaths++
	for writes := 1; ; writes++ {
		next := c.clone()
		here := append(path[:len(path):len(path)], fmt.Sprintf("%s and dies after %d writes", m.name, writes))
		died, err := next.cut(m.who, writes, func() error { return m.do(next) })
		if err != nil {
			return at(here, err)
		}
		if !died {
			return nil
		}
		if err := s.visit(next, f, here); err != nil {
			return err
		}
	}
}

func (s *search) visitFaults(c *cluster, f faults, path []string) error {
	for r := range c.n() {
		if c.dead.Has(r) || f.deaths >= s.deaths || s.first && c.of[r] == 0 {
			continue
		}
		for _, m := range s.stops(c, []int{r}) {
			if err := s.try(c, faults{f.deaths + 1, f.losses}, path, m); err != nil {
				return err
			}
		}
	}
	for node, ranks := range c.cfg.Nodes {
		if f.losses >= s.losses || !c.lives(node) || s.first && node > 0 {
			continue
		}
		lost := s.stops(c, ranks)
		if s.cutoff {
			lost = []move{{-1, fmt.Sprintf("%v are cut off", ranks), func(c *cluster) error {
				c.cutoff = rankset.Of(ranks...)
				c.cutoff.Subtract(c.dead)
				return nil
			}}}
		}
		for _, m := range lost {
			if err := s.try(c, faults{f.deaths, f.losses + 1}, path, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func at(path []string, err error) error {
	if strings.Contains(err.Error(), "\nafter: ") {
		return err
	}
	return fmt.Errorf("%w\nafter: %s", err, strings.Join(path, ", "))
}

// moves returns the moves that must happen some day, and the optional moves.
func (s *search) moves(c *cluster) (musts, mays []move) {
	add := func(r int, moves ...move) {
		if c.cutoff.Has(r) {
			mays = append(mays, moves...)
		} else {
			musts = append(musts, moves...)
		}
	}
	for r := range c.n() {
		if c.dead.Has(r) {
			continue
		}
		add(r, s.proposals(c, r)...)
		add(r, readings(c, r)...)
		add(r, notices(c, r)...)
		if !c.idle(r) {
			add(r, move{r, fmt.Sprintf("%d looks", r), func(c *cluster) error { return c.step(r, Look{}) }})
		}
	}
	for from := range c.n() {
		for to := range c.n() {
			if c.pending(from, to) {
				add(to, move{to, fmt.Sprintf("deliver %d->%d", from, to), func(c *cluster) error { return c.deliver(from, to) }})
			}
		}
	}
	if s.elsewhere {
		mays = append(mays, rumours(c)...)
	}
	return musts, mays
}

// proposals returns the moves "r proposes", with its known deaths acknowledged or not.
func (s *search) proposals(c *cluster, r int) []move {
	if c.members[r].Next() > s.agreements {
		return nil
	}
	v := era.Value{Flag: ^uint64(1 << r), Lo: era.Claim{Rank: r}, Hi: era.Claim{Rank: r}}
	if s.vary != nil {
		v = varied(s.vary, r, v)
	}
	out := []move{proposal(r, v)}
	if !c.known[r].IsEmpty() && !s.noAck {
		v.Acked = c.known[r].Clone()
		out = append(out, proposal(r, v))
	}
	return out
}

func proposal(r int, v era.Value) move {
	return move{r, fmt.Sprintf("%d proposes acked=%v", r, v.Acked), func(c *cluster) error { return c.propose(r, v) }}
}

// readings returns the moves "r reads an entry of its node's list": the next entry, or, after all
// entries, any that its daemon may write now.
func readings(c *cluster, r int) (out []move) {
	node := c.of[r]
	if c.read[r] < len(c.list(r)) {
		x := c.list(r)[c.read[r]]
		return []move{{r, fmt.Sprintf("%d reads of %d", r, x), func(c *cluster) error { return c.readList(r) }}}
	}
	for _, x := range c.unlisted(node) {
		out = append(out, move{r, fmt.Sprintf("%d reads of %d", r, x), func(c *cluster) error {
			c.enlist(node, x)
			return c.readList(r)
		}})
	}
	return out
}

// notices returns the moves "r learns that x never was there".
func notices(c *cluster, r int) (out []move) {
	for x := range c.absent.All() {
		if !c.noticed[r].Has(x) {
			out = append(out, move{r, fmt.Sprintf("%d notices that %d is absent", r, x), func(c *cluster) error { return c.notice(r, x) }})
		}
	}
	return out
}

// rumours returns the moves "r learns by an agreement elsewhere that x is dead", of those x
// that are their nodes.
func rumours(c *cluster) (out []move) {
	for r := range c.n() {
		for x := range c.n() {
			if x != r && c.gone(x) && !c.dead.Has(r) && !c.left.Has(x) && !c.known[r].Has(x) && len(c.cfg.Nodes[c.of[x]]) == 1 {
				out = append(out, move{r, fmt.Sprintf("%d hears elsewhere of %d", r, x), func(c *cluster) error {
					c.enlist(c.of[x], x)
					return c.elsewhere(r, x)
				}})
			}
		}
	}
	return out
}

// stops returns the moves "all of these ranks stop", for every number of messages that had
// left each of them on each of its channels.
func (s *search) stops(c *cluster, ranks []int) (out []move) {
	ranks = slices.DeleteFunc(slices.Clone(ranks), c.dead.Has)
	var channels [][2]int
	for _, from := range ranks {
		for to := range c.n() {
			if len(*c.queue(from, to)) > 0 {
				channels = append(channels, [2]int{from, to})
			}
		}
	}
	for _, kept := range choices(c, channels) {
		stop := func(c *cluster) error {
			for i, ch := range channels {
				c.lose(ch[0], ch[1], kept[i])
			}
			for _, r := range ranks {
				c.die(r)
			}
			return nil
		}
		name := fmt.Sprintf("%v die keeping %v of %v", ranks, kept, channels)
		out = append(out, move{-1, name, stop})
		if s.leaves && len(ranks) == 1 {
			out = append(out, move{-1, name + " after leaving", func(c *cluster) error {
				c.left = with(c.left, ranks[0])
				return stop(c)
			}})
		}
	}
	return out
}

// choices returns every vector of how many messages of each channel survive.
func choices(c *cluster, channels [][2]int) [][]int {
	if len(channels) == 0 {
		return [][]int{nil}
	}
	var out [][]int
	rest := choices(c, channels[1:])
	for keep := range len(*c.queue(channels[0][0], channels[0][1])) + 1 {
		for _, r := range rest {
			out = append(out, append([]int{keep}, r...))
		}
	}
	return out
}

func (s *search) String() string {
	text := strings.ReplaceAll(fmt.Sprint(s.sizes), " ", ",")
	text = fmt.Sprintf("%s,k=%d,f=%d,lost=%d", strings.Trim(text, "[]"), s.agreements, s.deaths, s.losses)
	if s.absent != nil {
		text += fmt.Sprintf(",absent=%d", s.absent[0])
	}
	if s.parent != "" {
		text += "," + s.parent
	}
	for _, o := range []struct {
		on   bool
		name string
	}{{s.cutoff, "cutoff"}, {s.first, "first"}, {s.begun, "begun"}, {s.overtake, "overtake"}, {s.leaves, "leaves"}, {s.noAck, "noack"}, {s.elsewhere, "elsewhere"}} {
		if o.on {
			text += "," + o.name
		}
	}
	return text
}

// TestExhaustive: small worlds completely. checkPart checks A28 in each of them.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		search
		slow bool // seconds
		long bool
	}{
		{search: search{sizes: []int{2, 2}, agreements: 2}},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 1, leaves: true}},
		{search: search{sizes: []int{2, 2}, agreements: 1, losses: 1}},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 2}},
		{search: search{sizes: []int{1, 2, 1}, agreements: 1, deaths: 1}},
		{search: search{sizes: []int{1, 2, 1}, agreements: 1, deaths: 2, noAck: true}},
		{search: search{sizes: []int{1, 1, 2}, agreements: 1, deaths: 2, noAck: true}, slow: true},
		{search: search{sizes: []int{1, 1, 2}, agreements: 1, deaths: 1, losses: 1, cutoff: true, first: true, begun: true, noAck: true, elsewhere: true}, slow: true},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 2, overtake: true, noAck: true}},
		{search: search{sizes: []int{1, 1, 2}, agreements: 1, deaths: 2, overtake: true, begun: true, noAck: true}},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 1, absent: []int{0}, noAck: true}},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 1, absent: []int{2}, noAck: true}},
		{search: search{sizes: []int{1, 2, 1}, agreements: 1, deaths: 2, absent: []int{0}, noAck: true}},
		{search: search{sizes: []int{1, 1, 2}, agreements: 1, deaths: 2, absent: []int{2}, noAck: true}},
		{search: search{sizes: []int{2, 2, 1}, agreements: 1, deaths: 1, begun: true, noAck: true}},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 2, losses: 1}, long: true},
		{search: search{sizes: []int{3, 1}, agreements: 1, deaths: 2, noAck: true}, long: true},
		{search: search{sizes: []int{1, 2, 1}, agreements: 1, deaths: 2, losses: 1, noAck: true}, long: true},
		{search: search{sizes: []int{1, 2, 1}, parent: "chain", agreements: 1, deaths: 2, losses: 1, noAck: true}, long: true},
		{search: search{sizes: []int{2, 2, 1}, agreements: 1, deaths: 1, noAck: true}, long: true},
		{search: search{sizes: []int{1, 1, 2, 1}, parent: "side", agreements: 1, deaths: 2, begun: true, noAck: true}, long: true},
		{search: search{sizes: []int{2, 2, 1}, agreements: 1, deaths: 1, losses: 1, noAck: true}, long: true},
		{search: search{sizes: []int{2, 2, 1}, agreements: 1, deaths: 2, losses: 1, begun: true, noAck: true}, long: true},
		{search: search{sizes: []int{2, 2}, agreements: 2, deaths: 2, noAck: true}, long: true},
		{search: search{sizes: []int{2, 2}, agreements: 1, deaths: 2, losses: 1, leaves: true, overtake: true}, long: true},
		{search: search{sizes: []int{1, 2, 1}, agreements: 1, deaths: 2, losses: 1, cutoff: true, first: true, begun: true, noAck: true, elsewhere: true}, long: true},
		{search: search{sizes: []int{2, 2}, agreements: 2, deaths: 1}, long: true},
		{search: search{sizes: []int{1, 2, 1}, agreements: 2, deaths: 1, noAck: true}, long: true},
		{search: search{sizes: []int{1, 1, 2}, agreements: 1, deaths: 1, losses: 1, cutoff: true, noAck: true, elsewhere: true}, long: true},
	} {
		t.Run(c.String(), func(t *testing.T) {
			// There is one goroutine: the race detector finds nothing that a few searches would
			// not.
			if (c.long || raceEnabled && c.deaths+c.losses > 1) && !*long {
				t.Skip("takes long: -long")
			}
			if (c.slow || len(c.sizes) == 2 && c.deaths == 2) && !*long {
				longtest.Skip(t, "takes as long as all others")
			}
			err := c.run()
			t.Logf("%d states, %d ends", len(c.seen), c.ends)
			require.NoError(t, err)
			assert.Positive(t, c.ends, "no end was reached")
		})
	}
}
