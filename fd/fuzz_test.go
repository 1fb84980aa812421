package fd

import (
	"testing"

	"github.com/goulfm/goulfm/internal/mono"
	"github.com/goulfm/goulfm/internal/rankset"
	"github.com/goulfm/goulfm/internal/wire"
)

// FuzzReceive feeds any bytes as messages: no panic, and bytes that are no message
// change nothing but the sign of life.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{})
	f.Add(digestMessage(kindHeartbeat, 0))
	f.Add(digestMessage(kindNewObserver, 1))
	f.Add(digestMessage(kindProbe, 1))
	f.Add(noticeMessage(wire.AppendSet(nil, rankset.Of(1, 6))))
	f.Add(noticeMessage(wire.AppendSet(nil, rankset.Of(999))))
	f.Add(noticeMessage([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}))
	f.Add(fenceMessage())
	f.Fuzz(func(t *testing.T, msg []byte) {
		for _, mode := range []Mode{Exact, Ring} {
			d := New(Config{N: 1000, Me: 3, Mode: mode})
			before := d.Describe()
			anomaly := false
			for _, a := range d.Step(Receive{From: 4, Msg: msg}) {
				_, isAnomaly := a.(Anomaly)
				anomaly = anomaly || isAnomaly
				if s, ok := a.(Send); ok {
					if _, err := parseMessage(s.Msg); err != nil {
						t.Fatalf("sends %x: %v", s.Msg, err)
					}
				}
			}
			if anomaly && d.Describe() != before {
				t.Fatalf("an anomaly changed %s to %s", before, d.Describe())
			}
		}
	})
}

// FuzzEvents plays any sequence of events at one process: it is what no run of a whole
// world may contain, but a detector must stand. Each step keeps what the
// documentation of the actions says.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{0, 10, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 0, 200})
	f.Add([]byte{0, 80, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 7, 1, 0, 90, 8, 1, 9, 2})
	f.Add([]byte{7, 1, 6, 1, 0, 50, 5, 1, 0, 50, 0, 50, 0, 50, 1, 1, 10, 3, 3, 1})
	f.Fuzz(func(t *testing.T, program []byte) { playEvents(t, program) })
}

// TestRandomEvents is FuzzEvents on programs drawn at random.
func TestRandomEvents(t *testing.T) {
	rng := seeded(1)
	for range 30 * *seeds {
		program := make([]byte, 2*rng.IntN(40))
		for i := range program {
			program[i] = byte(rng.IntN(256))
		}
		playEvents(t, program)
	}
}

func playEvents(t *testing.T, program []byte) {
	t.Helper()
	const n, me = 5, 2
	for _, cfg := range []Config{{Mode: Exact}, {Mode: Ring}, {Mode: Ring, Fence: true}} {
		cfg.N, cfg.Me = n, me
		c := actionChecker{d: New(cfg), me: me}
		now := mono.Time(0)
		for i := 0; i+1 < len(program); i += 2 {
			op, arg := program[i]%11, program[i+1]
			if op == 0 {
				now = now.Add(mono.Duration(arg) * 5 * ms)
			}
			if ev := fuzzEvent(op, arg, n, me, now); ev != nil {
				c.step(t, ev)
			}
		}
	}
}

func fuzzEvent(op, arg byte, n, me int, now mono.Time) Event {
	rank := int(arg) % n
	if op == 0 {
		return Tick{Now: now}
	}
	if op == 1 {
		return Agreed{Dead: rankset.FromWords([]uint64{uint64(arg) % (1 << n)})}
	}
	if op == 2 {
		return Left{Rank: rank}
	}
	if rank == me {
		return nil
	}
	switch op {
	case 3:
		return Exited{Rank: rank}
	case 4:
		return Broken{Rank: rank}
	case 5:
		return Watch{Rank: rank}
	case 6:
		return Receive{From: rank, Msg: fenceMessage()}
	case 7:
		return Receive{From: rank, Msg: noticeMessage(wire.AppendSet(nil, rankset.Of(int(arg/8)%n)))}
	default: // 8, 9, 10 are the kinds that carry a digest
		return Receive{From: rank, Msg: digestMessage(op-8+kindHeartbeat, uint64(arg/64))}
	}
}

// An actionChecker checks what a detector wants against what it promised.
type actionChecker struct {
	d        *Detector
	me       int
	declared rankset.Set
	told     rankset.Set // got a fence notice
	fenced   bool
}

func (c *actionChecker) step(t *testing.T, ev Event) {
	t.Helper()
	actions := c.d.Step(ev)
	if c.fenced && len(actions) > 0 {
		t.Fatalf("%v after the fence", actions)
	}
	sends := map[int]int{}
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			sends[a.To]++
			c.send(t, a)
		case Declare:
			if len(sends) > 0 || a.Rank == c.me || !c.declared.Add(a.Rank) {
				t.Fatalf("%#v among %v", a, actions)
			}
		case Fenced:
			c.fenced = true
			if len(actions) > 1 {
				t.Fatalf("more than the fence: %v", actions)
			}
		}
	}
	for to, count := range sends {
		if count > 4 {
			t.Fatalf("%d sends to %d on %#v", count, to, ev)
		}
	}
	c.state(t, ev)
}

func (c *actionChecker) send(t *testing.T, s Send) {
	t.Helper()
	isFence := s.Msg[0] == kindFence
	if s.To == c.me || isFence != c.declared.Has(s.To) || isFence && !c.told.Add(s.To) {
		t.Fatalf("%s sent to %d, dead are %v", describeMessage(s.Msg, c.d.cfg.N), s.To, c.declared)
	}
}

// carried is what the flood must hold: the dead, and above them those who left.
func (c *actionChecker) carried() rankset.Set {
	items := c.declared.Clone()
	for item := range c.d.flood.Items().All() {
		if item >= c.d.cfg.N {
			items.Add(item)
		}
	}
	return items
}

func (c *actionChecker) state(t *testing.T, ev Event) {
	t.Helper()
	if !c.fenced && (!c.d.Dead().Equal(c.declared) || c.d.Digest() != c.carried().Hash()) {
		t.Fatalf("declared %v: %s", c.declared, c.d.Describe())
	}
	at, ok := c.d.Deadline()
	if tick, isTick := ev.(Tick); isTick && ok && at <= tick.Now {
		t.Fatalf("after the Tick of %v the deadline is %v", tick.Now, at)
	}
	if ok && (c.fenced || c.d.Alone() || c.d.cfg.Mode == Exact) {
		t.Fatalf("a deadline: %s", c.d.Describe())
	}
	if c.d.Alone() != (c.d.Emitter() < 0) || c.d.Alone() != (c.d.Observer() < 0) {
		t.Fatalf("emitter %d, observer %d: %s", c.d.Emitter(), c.d.Observer(), c.d.Describe())
	}
}
