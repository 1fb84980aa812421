package era

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// The claims of the paper, one test each. Theorems 1 to 4 are also checked after every
// step of every random and exhaustive schedule (cluster_test.go).

func proposeAll(t *testing.T, c *cluster) {
	t.Helper()
	for r := range c.n() {
		if c.dead.Has(r) {
			continue
		}
		v := Value{Flag: ^uint64(1 << r), Lo: Claim{Rank: r}, Hi: Claim{Rank: r}, Acked: c.told[r].Clone()}
		if err := c.propose(r, v); err != nil {
			t.Fatal(err)
		}
	}
}

// settleAll delivers everything and lets everybody learn of every death.
func settleAll(t *testing.T, c *cluster) {
	t.Helper()
	for {
		if err := c.drain(holdNothing); err != nil {
			t.Fatal(err)
		}
		news := notices(c)
		if len(news) == 0 {
			break
		}
		if err := news[0].do(c); err != nil {
			t.Fatalf("%s: %v", news[0].name, err)
		}
	}
	if err := c.checkEnd(); err != nil {
		t.Fatal(err)
	}
}

// TestTheorem1Irrevocability: "Once a living process decides a value, it remains decided on that
// value": after any later event there is no second Decide.
func TestTheorem1Irrevocability(t *testing.T) {
	c := newCluster(Config{N: 7})
	proposeAll(t, c)
	settleAll(t, c)
	want, ok := c.members[1].Decision(1)
	if !ok {
		t.Fatal("1 remembers nothing")
	}
	other := Value{From: rankset.Of(0, 3), Dead: rankset.Of(6), Returned: 1}
	for _, ev := range []Event{
		Receive{From: 0, Seq: 1, Msg: AppendMessage(nil, Down{other})},
		Receive{From: 3, Seq: 1, Msg: AppendMessage(nil, Up{other})},
		Receive{From: 3, Seq: 1, Msg: AppendMessage(nil, ResultRequest{})},
		Failed{Rank: 0}, Failed{Rank: 3}, Failed{Rank: 4},
	} {
		for _, act := range c.members[1].Step(ev) {
			if d, ok := act.(Decide); ok {
				t.Errorf("%#v: decides again, %v", ev, d.Value)
			}
		}
		if got, ok := c.members[1].Decision(1); !ok || !got.Equal(want) {
			t.Errorf("%#v: remembers %v, %v, want %v", ev, got, ok, want)
		}
	}
}

// TestLemma1ReliableDetection, items 3 and 4: only the detector makes a process dead here, and the
// process stays dead: its messages are dropped.
func TestLemma1ReliableDetection(t *testing.T) {
	c := newCluster(Config{N: 3})
	proposeAll(t, c)
	if err := c.notice(0, 1); err != nil {
		t.Fatal(err)
	}
	before := c.members[0].Describe()
	if err := c.deliver(1, 0); err != nil {
		t.Fatal(err)
	}
	if got := c.members[0].Describe(); got != before {
		t.Errorf("an UP of a closed member changed\n%s\nto\n%s", before, got)
	}
	request := Receive{From: 2, Seq: 1, Msg: AppendMessage(nil, ResultRequest{})}
	c.members[1].Step(request)
	if c.members[1].closed.Has(0) {
		t.Error("a RESULTREQUEST from 2 made 1 believe that 0 is dead (A1)")
	}
}

// TestLemma4RootWaitsForAll: "A root process can only decide after it contributed", and after all
// living members did: with one member missing no member decides.
func TestLemma4RootWaitsForAll(t *testing.T) {
	for late := range 7 {
		c := newCluster(Config{N: 7})
		for r := range 7 {
			if r != late {
				if err := c.propose(r, Value{Lo: Claim{Rank: r}, Hi: Claim{Rank: r}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.drain(holdNothing); err != nil {
			t.Fatal(err)
		}
		for r := range 7 {
			if len(c.results[r]) > 0 {
				t.Errorf("%d decided without %d", r, late)
			}
		}
		if err := c.propose(late, Value{Lo: Claim{Rank: late}, Hi: Claim{Rank: late}}); err != nil {
			t.Fatal(err)
		}
		settleAll(t, c)
	}
}

// TestTheorem2Agreement: the proof's case "processes that may have decided before are dead".
// The root has decided; it and any other die, at any point of any order of deliveries and
// notices, in the middle of sending. The search fails without A4 and without A19.
func TestTheorem2Agreement(t *testing.T) {
	n := 4
	if *deep {
		n = 5
	}
	c := newCluster(Config{N: n})
	proposeAll(t, c)
	if err := c.drain(func(from, to int) bool { return from == 0 }); err != nil {
		t.Fatal(err)
	}
	if len(c.results[0]) != 1 || len(c.results[1]) != 0 {
		t.Fatal("want a decision at the root alone")
	}
	s := &search{
		steps:  func(c *cluster) []step { return slices.Concat(deliveries(c), notices(c)) },
		faults: func(c *cluster) []step { return deaths(c, 2) },
	}
	if err := s.run(c); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d ends", len(s.seen), s.ends)
}

// TestTheorem3Termination: any two members die together after any number of deliveries;
// everybody else decides, without the watchdog.
func TestTheorem3Termination(t *testing.T) {
	for x := range 7 {
		for y := range x {
			for after := range 13 {
				c := newCluster(Config{N: 7})
				proposeAll(t, c)
				for range after {
					if d := deliveries(c); len(d) > 0 {
						if err := d[0].do(c); err != nil {
							t.Fatal(err)
						}
					}
				}
				c.die(x)
				c.die(y)
				settleAll(t, c)
			}
		}
	}
}

// TestTheorem4Participation: "When a process decides upon a value, it contributed to this
// value", for every number of deaths before the agreement.
func TestTheorem4Participation(t *testing.T) {
	for dead := range 8 {
		c := newCluster(Config{N: 8, Dead: rankset.Range(0, dead)})
		proposeAll(t, c)
		settleAll(t, c)
		for r := dead; r < 8; r++ {
			if v := c.results[r][0]; !v.From.Equal(rankset.Range(dead, 8)) || v.Failed() {
				t.Errorf("%d dead: %d decides %v", dead, r, v)
			}
		}
	}
}

// TestEarlyReturning (section 1): a process returns as soon as the decision is fixed, not
// when everybody has it.
func TestEarlyReturning(t *testing.T) {
	c := newCluster(Config{N: 7})
	proposeAll(t, c)
	if err := c.drain(func(from, to int) bool { return from == 0 }); err != nil {
		t.Fatal(err)
	}
	for r := range 7 {
		if (len(c.results[r]) == 1) != (r == 0) {
			t.Errorf("%d has %d decisions while nothing of 0 has arrived", r, len(c.results[r]))
		}
	}
}

// TestMessageCount: without failures every edge of the tree carries one UP and one DOWN:
// 2(n-1) messages, in any shape (sections 2 and 3).
func TestMessageCount(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for _, shape := range []func(int) int{nil, chain, star} {
			c := newCluster(Config{N: n, Parent: shape})
			for range 3 {
				proposeAll(t, c)
				settleAll(t, c)
			}
			if c.sent != 3*2*(n-1) {
				t.Fatalf("n=%d: %d messages in three agreements, want %d", n, c.sent, 3*2*(n-1))
			}
		}
	}
}

// TestLogarithmicDepth: in rounds in which all messages in flight arrive together, a
// binary tree takes twice its depth, floor(log2 n) (abstract, section 4).
func TestLogarithmicDepth(t *testing.T) {
	for n := 1; n <= 130; n++ {
		c := newCluster(Config{N: n})
		proposeAll(t, c)
		if got, want := rounds(t, c), 2*(bits.Len(uint(n))-1); got != want {
			t.Errorf("n=%d: %d rounds, want %d", n, got, want)
		}
	}
}

func rounds(t *testing.T, c *cluster) int {
	for round := 0; ; round++ {
		now := deliveries(c)
		if len(now) == 0 {
			return round
		}
		for _, d := range now {
			if err := d.do(c); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTreeRebalancing (section 3): the tree degenerates while members die, to a star under
// the new root at worst, and is balanced again Window agreements after the deaths were
// agreed (A12).
func TestTreeRebalancing(t *testing.T) {
	const n, dead = 64, 32
	c := newCluster(Config{N: n, Dead: rankset.Range(0, dead)})
	proposeAll(t, c)
	if got := rounds(t, c); got != 2 {
		t.Errorf("the lower half is dead: %d rounds, want the 2 of a star", got)
	}
	for range Window {
		proposeAll(t, c)
		settleAll(t, c)
	}
	tr := c.members[dead].tree
	if got := slices.Collect(tr.children(dead, c.members[dead].closed)); !slices.Equal(got, []int{dead + 1, dead + 2}) {
		t.Errorf("children of the root after rebalancing: %v", got)
	}
	proposeAll(t, c)
	if got, want := rounds(t, c), 2*(bits.Len(uint(n-dead))-1); got != want {
		t.Errorf("%d rounds after rebalancing, want %d", got, want)
	}
}

// TestGarbageCollection (section 3, rule 8; A14): a decision known to every living member is forgotten.
// 10,000 agreements, one at a time and with the window full.
func TestGarbageCollection(t *testing.T) {
	for _, ahead := range []int{1, Window, 2*Window + 3} {
		t.Run(fmt.Sprint("open=", ahead), func(t *testing.T) {
			c := newCluster(Config{N: 3})
			most := 0
			for done := 0; done < 10000; done += ahead {
				for range ahead {
					proposeAll(t, c)
				}
				if err := c.drain(holdNothing); err != nil {
					t.Fatal(err)
				}
				for _, s := range c.members {
					most = max(most, s.remembered())
					if len(s.records) > 3*Window {
						t.Fatalf("%d records", len(s.records))
					}
				}
				for r := range c.n() {
					if want := c.members[r].Next() - 1; uint64(len(c.results[r])) != want {
						t.Fatalf("%d decided %d of %d", r, len(c.results[r]), want)
					}
				}
			}
			if most > Window+1 {
				t.Errorf("a member remembers up to %d decisions, want at most %d", most, Window+1)
			}
			if ahead == 1 && most != 1 {
				t.Errorf("one at a time, a member remembers %d decisions", most)
			}
		})
	}
}

func (s *Series) remembered() int {
	n := 0
	for seq := s.low; seq <= s.entered; seq++ {
		if _, ok := s.Decision(seq); ok {
			n++
		}
	}
	return n
}
