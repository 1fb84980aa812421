package era

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

func contribution(me int) Propose {
	return Propose{Value: Value{Flag: 1, Lo: Claim{Rank: me}, Hi: Claim{Rank: me}}}
}

func up(from int, seq uint64, v Value) Receive {
	v.From.Add(from)
	v.Lo.Rank, v.Hi.Rank = from, from
	v.Returned = max(v.Returned, 1, seq-min(seq, Window)+1) // a member that entered seq had all up to seq-Window
	return Receive{From: from, Seq: seq, Msg: AppendMessage(nil, Up{v})}
}

// TestAckedAsAtEntry: a contribution that the window holds back keeps the acknowledged
// set that it was proposed with (A5), and reports the deaths known when it is sent.
func TestAckedAsAtEntry(t *testing.T) {
	s := NewSeries(Config{N: 4, Me: 0, Dead: rankset.Of(3)})
	acked := rankset.Of(3)
	for range Window + 1 {
		p := contribution(0)
		p.Value.Acked = acked
		s.Step(p)
	}
	acked.Add(2) // the caller still uses its set
	s.Step(Failed{Rank: 2})
	p := contribution(0)
	p.Value.Acked = acked
	s.Step(p)
	for seq := uint64(1); seq <= Window+2; seq++ {
		for _, act := range slices.Clone(s.Step(up(1, seq, Value{Dead: rankset.Of(2, 3), Acked: rankset.Of(2, 3)}))) {
			d, ok := act.(Decide)
			if !ok {
				continue
			}
			if wantFailed := d.Seq <= Window+1; d.Value.Failed() != wantFailed || !d.Value.Dead.Has(2) {
				t.Errorf("agreement %d: %v, failed %v", d.Seq, d.Value, d.Value.Failed())
			}
		}
	}
	if s.Open() != 0 {
		t.Errorf("%d are open", s.Open())
	}
}

func TestAnomalies(t *testing.T) {
	request := AppendMessage(nil, ResultRequest{})
	down := func(v Value) []byte { return AppendMessage(nil, Down{v}) }
	one := Value{From: rankset.Of(0), Returned: 1}
	for _, c := range []struct {
		name string
		ev   Receive
		text string // "" for none
	}{
		{"malformed", Receive{0, 3, []byte{tagUp, 1}}, "malformed"},
		{"agreement 0", Receive{0, 0, request}, "no agreement 0"},
		{"late question about a collected decision", Receive{0, 1, request}, ""},
		{"late contribution to a collected decision", Receive{0, 1, AppendMessage(nil, Up{one})}, ""},
		{"late copy of a collected decision", Receive{0, 1, down(one)}, ""},
		{"agreement 0 decided", Receive{0, 0, down(one)}, "no agreement 0"},
		{"last one inside the window", Receive{0, 2 + Window, request}, ""},
		{"beyond the window", Receive{0, 3 + Window, request}, "beyond the window"},
		{"from nobody", Receive{-1, 2, request}, "no peer"},
		{"from beyond the group", Receive{3, 2, request}, "no peer"},
		{"from myself", Receive{1, 2, request}, "no peer"},
		{"UP without its sender", Receive{2, 3, AppendMessage(nil, Up{one})}, "impossible"},
		{"returned what is not decided", Receive{0, 3, down(Value{From: rankset.Of(0), Returned: 4})}, "impossible"},
		{"returned nothing at all", Receive{0, 3, down(Value{From: rankset.Of(0)})}, "impossible"},
		{"returned what all had when they entered", Receive{0, 2 + Window, down(Value{From: rankset.Of(0), Returned: 2})}, "impossible"},
		{"another decision", Receive{0, 2, down(one)}, "was decided as"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster(Config{N: 3})
			for range 2 {
				proposeAll(t, cl)
				settleAll(t, cl)
			}
			s := cl.members[1]
			before := s.Describe()
			acts := s.Step(c.ev)
			if c.text == "" {
				if len(acts) > 0 && c.ev.Seq == 1 || strings.Contains(fmt.Sprint(acts), "window") {
					t.Errorf("got %v, want nothing", acts)
				}
				return
			}
			if len(acts) != 1 {
				t.Fatalf("got %v, want one anomaly", acts)
			}
			if a, ok := acts[0].(Anomaly); !ok || a.From != c.ev.From || !strings.Contains(a.Text, c.text) {
				t.Errorf("got %#v, want %q", acts[0], c.text)
			}
			if got := s.Describe(); got != before {
				t.Errorf("it changed\n%s\nto\n%s", before, got)
			}
		})
	}
}

// TestStrayDown: a DOWN from anybody but the parent of the last UP is a hint, no decision
// (rule 5), and the member asks whether its parent lives.
func TestStrayDown(t *testing.T) {
	s := NewSeries(Config{N: 7, Me: 3})
	s.Step(contribution(3))
	v := Value{From: rankset.Range(0, 7), Returned: 1}
	acts := s.Step(Receive{From: 0, Seq: 1, Msg: AppendMessage(nil, Down{v})})
	if len(acts) != 1 || acts[0] != (Probe{Rank: 1}) {
		t.Errorf("a DOWN from the grandparent: %v, want a probe of 1", acts)
	}
	acts = s.Step(Receive{From: 1, Seq: 1, Msg: AppendMessage(nil, Down{v})})
	if len(acts) != 1 || fmt.Sprintf("%T", acts[0]) != "era.Decide" {
		t.Errorf("a DOWN from the parent: %v, want a decision", acts)
	}
}

// TestDeclaredDeadMyself: a decision that lists this member as dead is a decision all the
// same, the owner fences; and the machine stays sound if it is used further (A24).
func TestDeclaredDeadMyself(t *testing.T) {
	s := NewSeries(Config{N: 3, Me: 1, Dead: rankset.Of(1)})
	s.Step(contribution(1))
	s.Step(contribution(1))
	// The others continued without this member: agreement 1 is over, though not here.
	v := Value{From: rankset.Of(0, 2), Lo: Claim{0, 0}, Hi: Claim{0, 2}, Dead: rankset.Of(1), Returned: 2}
	acts := s.Step(Receive{From: 0, Seq: 2, Msg: AppendMessage(nil, Down{v})})
	if d, ok := acts[0].(Decide); len(acts) != 1 || !ok || d.Seq != 2 || !d.Value.Dead.Has(1) {
		t.Fatalf("got %v", acts)
	}
	if s.Open() != 1 || !slices.Equal(s.WaitsFor(1), []int{0}) {
		t.Errorf("agreement 1 is lost:\n%s", s.Describe())
	}
	if acts := s.Step(Failed{Rank: 1}); len(acts) != 0 {
		t.Errorf("the news of my own death: %v", acts)
	}
	s.Step(Failed{Rank: 0})
	s.Step(Failed{Rank: 2})
	for range 2 * Window {
		s.Step(contribution(1))
	}
	if s.Open() != 0 || s.Next() != 2*Window+3 {
		t.Errorf("alone: %d open, next %d\n%s", s.Open(), s.Next(), s.Describe())
	}
	if v, ok := s.Decision(s.Next() - 1); !ok || !v.Dead.Equal(rankset.Of(0, 2)) {
		t.Errorf("alone it decides %v", v)
	}
}

// TestDeadline: none with the watchdog off or nothing open, and never a Tick that does
// nothing but ask for another at the same time.
func TestDeadline(t *testing.T) {
	off := NewSeries(Config{N: 2, Me: 1})
	off.Step(contribution(1))
	if at, ok := off.Deadline(); ok {
		t.Errorf("watchdog off: Tick wanted at %d", at)
	}
	const period = mono.Second
	s := NewSeries(Config{N: 2, Me: 1, Watchdog: period})
	if _, ok := s.Deadline(); ok {
		t.Error("nothing open, Tick wanted")
	}
	s.Step(contribution(1))
	now := mono.Time(5 * period)
	sends := 0
	for range 5 {
		if at, ok := s.Deadline(); !ok || at > now {
			t.Fatalf("Tick wanted at %d, %v, now %d", at, ok, now)
		}
		for _, act := range s.Step(Tick{now}) {
			if _, ok := act.(Send); ok {
				sends++
			}
		}
		at, ok := s.Deadline()
		if !ok || at != now.Add(period) {
			t.Fatalf("after the Tick at %d the next is wanted at %d, %v", now, at, ok)
		}
		now = at
	}
	if sends != 4 {
		t.Errorf("%d messages in 5 ticks, want one from the second on", sends)
	}
}

// TestWatchdogCountsFromProgress: an agreement with progress since the last check is not reminded.
func TestWatchdogCountsFromProgress(t *testing.T) {
	now := mono.Time(0)
	tick := func(s *Series) int {
		now = now.Add(mono.Second)
		return len(s.Step(Tick{now}))
	}
	for _, c := range []struct {
		name     string
		me       int
		progress Event
	}{
		{"one of two children has contributed", 0, up(1, 1, Value{})},
		{"the last child has contributed, UP is sent", 1, up(3, 1, Value{})},
		{"the parent has died, UP is sent to another", 3, Failed{Rank: 1}},
	} {
		s := NewSeries(Config{N: 4, Me: c.me, Watchdog: mono.Second})
		s.Step(contribution(c.me))
		first := tick(s)
		s.Step(c.progress)
		second, third := tick(s), tick(s)
		if first != 0 || second != 0 || third == 0 {
			t.Errorf("%s: %d, %d, %d actions at the ticks, want none, none, some", c.name, first, second, third)
		}
	}
}

// TestWatchdogRepairsLoss: with messages thrown away at random, against the promise of the
// transport, rule 9 gets everybody to the decision.
func TestWatchdogRepairsLoss(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		c := newCluster(Config{N: 2 + rng.IntN(7), Watchdog: mono.Second})
		victim := rng.IntN(c.n())
		proposeAll(t, c)
		now := mono.Time(0)
		for step := range 4000 {
			if ds := deliveries(c); len(ds) > 0 {
				if d := rng.IntN(len(ds)); rng.IntN(4) > 0 {
					if err := ds[d].do(c); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				} else {
					loseOne(c, rng)
				}
				continue
			}
			if step > 20 && !c.dead.Has(victim) {
				c.die(victim)
			}
			if news := notices(c); len(news) > 0 {
				if err := news[0].do(c); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				continue
			}
			now = now.Add(mono.Second)
			for r, s := range c.members {
				if _, ok := s.Deadline(); ok && !c.dead.Has(r) {
					if err := c.step(r, Tick{now}); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
		}
		if err := c.checkEnd(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func loseOne(c *cluster, rng *rand.Rand) {
	start := rng.IntN(len(c.queues))
	for i := range c.queues {
		if q := &c.queues[(start+i)%len(c.queues)]; len(*q) > 0 {
			*q = (*q)[1:]
			return
		}
	}
}

// TestWaitsFor names the members that hold an agreement up (A22).
func TestWaitsFor(t *testing.T) {
	c := newCluster(Config{N: 7})
	for _, r := range []int{0, 2, 3, 4, 5} {
		if err := c.propose(r, contribution(r).Value); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.drain(holdNothing); err != nil {
		t.Fatal(err)
	}
	for r, want := range [][]int{{1, 2}, nil, {6}, {1}, {1}, {2}, nil} {
		if got := c.members[r].WaitsFor(1); !slices.Equal(got, want) {
			t.Errorf("%d waits for %v, want %v", r, got, want)
		}
	}
	s := NewSeries(Config{N: 3, Me: 0})
	for range Window + 2 {
		s.Step(contribution(0))
	}
	s.Step(up(1, 1, Value{}))
	if got := s.WaitsFor(Window + 2); !slices.Equal(got, []int{2}) {
		t.Errorf("an agreement behind the window waits for %v, want what the first waits for: {2}", got)
	}
	if got := s.WaitsFor(Window + 3); got != nil {
		t.Errorf("an agreement not proposed waits for %v", got)
	}
}

// TestMessagesAreOwned: no two Sends share bytes, and none shares them with the Series.
func TestMessagesAreOwned(t *testing.T) {
	s := NewSeries(Config{N: 3, Me: 0})
	s.Step(contribution(0))
	s.Step(up(1, 1, Value{}))
	acts := slices.Clone(s.Step(up(2, 1, Value{})))
	if len(acts) != 3 {
		t.Fatalf("got %v", acts)
	}
	clear(acts[0].(Send).Msg)
	if m, err := DecodeMessage(acts[1].(Send).Msg, 3); err != nil {
		t.Errorf("the second message went with the first: %v, %v", m, err)
	}
	clear(acts[1].(Send).Msg)
	d := acts[2].(Decide)
	d.Value.From.Remove(2)
	if v, ok := s.Decision(1); !ok || !v.From.Equal(rankset.Range(0, 3)) {
		t.Errorf("the decision went with the messages: %v", v)
	}
}

// TestOutboxBound: one Step sends a peer at most one message per agreement, of those
// that were open (Window) and those that it enters (Window).
func TestOutboxBound(t *testing.T) {
	for seed := range uint64(200) {
		d := newDriver(seed, Config{}).long()
		d.onStep = func(acts []Action) {
			perPeer := map[int]int{}
			for _, act := range acts {
				if s, ok := act.(Send); ok {
					perPeer[s.To]++
				}
			}
			for to, count := range perPeer {
				if count > 2*Window {
					t.Errorf("seed %d: %d messages to %d in one step", seed, count, to)
				}
			}
		}
		if err := d.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// FuzzReceive: a Series survives any bytes from any sender, and its memory is bounded.
func FuzzReceive(f *testing.F) {
	v := Value{From: rankset.Of(1), Lo: Claim{0, 1}, Hi: Claim{0, 1}, Returned: 1}
	f.Add(AppendMessage(nil, Up{v}), AppendMessage(nil, Down{v}), uint64(1), 1, 2)
	f.Add(AppendMessage(nil, ResultRequest{}), []byte{}, uint64(Window+1), 0, 4)
	f.Fuzz(func(t *testing.T, first, second []byte, seq uint64, a, b int) {
		s := NewSeries(Config{N: 5, Me: 2, Watchdog: 1})
		for range 3 {
			s.Step(contribution(2))
		}
		for i := range uint64(3 * Window) {
			s.Step(Receive{From: a, Seq: seq + i, Msg: first})
			s.Step(Receive{From: b, Seq: i, Msg: second})
			s.Step(contribution(2))
			s.Step(Tick{mono.Time(i)})
		}
		s.Step(Failed{Rank: 0})
		s.Step(Failed{Rank: 1})
		if s.Describe() == "" || len(s.records) > 3*Window {
			t.Fatalf("%d records", len(s.records))
		}
	})
}
