package fd

import (
	"bytes"
	"testing"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// FuzzReceive feeds any bytes as messages: no panic, and bytes that are no message
// change nothing but the sign of life.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{})
	f.Add(digestMessage(kindHeartbeat, 0))
	f.Add(digestMessage(kindNewObserver, 1))
	f.Add(digestMessage(kindProbe, 1))
	f.Add(tellingMessage(kindHeartbeat, 0, adaptive.Beat{Seq: 7, Nominal: 70_000, Period: adaptive.Second, Epoch: 1}))
	f.Add(tellingMessage(kindHeartbeat, 0, adaptive.Echo{Clock: 5000}))
	f.Add(tellingMessage(kindNewObserver, 0, adaptive.Adjust{Period: adaptive.Second, Epoch: 1, Echo: true}))
	f.Add(tellingMessage(kindNewObserver, 0, adaptive.Beat{Period: adaptive.Second}))
	f.Add(append(digestMessage(kindHeartbeat, 0), toldVersion+1))
	f.Add(noticeMessage(wire.AppendSet(nil, rankset.Of(1, 6))))
	f.Add(noticeMessage(wire.AppendSet(nil, rankset.Of(999))))
	f.Add(noticeMessage([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}))
	f.Add(fenceMessage())
	f.Fuzz(func(t *testing.T, msg []byte) {
		for _, cfg := range []Config{{Mode: Exact}, {Mode: Ring}, {Mode: Ring, Adaptive: &adaptive.QoS{}}} {
			cfg.N, cfg.Me = 1000, 3
			d := New(cfg)
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
			tickOn(t, d)
		}
	})
}

// tickOn makes a detector evaluate its stored messages.
func tickOn(t *testing.T, d *Detector) {
	if at, ok := d.Deadline(); ok {
		d.Step(Tick{Now: at})
		if next, _ := d.Deadline(); next <= at {
			t.Fatalf("after the Tick of %v the deadline is %v", at, next)
		}
	}
}

// FuzzMessage: a parsed message is encoded to the same bytes again.
func FuzzMessage(f *testing.F) {
	f.Add(digestMessage(kindHeartbeat, 1))
	f.Add(tellingMessage(kindHeartbeat, 2, adaptive.Beat{Seq: 7, Nominal: 70_000, Period: adaptive.Second, Epoch: 1}))
	f.Add(tellingMessage(kindNewObserver, 3, adaptive.Adjust{Period: adaptive.Second, Epoch: 1, Echo: true}))
	f.Fuzz(func(t *testing.T, msg []byte) {
		m, err := parseMessage(msg)
		if err != nil {
			return
		}
		again := fenceMessage()
		switch {
		case m.told != nil:
			again = tellingMessage(m.kind, m.digest, m.told)
		case m.kind == kindNotice:
			again = noticeMessage(m.flooded)
		case m.kind != kindFence:
			again = digestMessage(m.kind, m.digest)
		}
		if !bytes.Equal(again, msg) {
			t.Fatalf("%x is read as %+v, which is %x", msg, m, again)
		}
	})
}

// FuzzEvents plays any sequence of events at one process, including sequences that no run of a
// whole world contains. A detector must withstand them. Each step fulfils the documentation of the
// actions.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{0, 10, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 0, 200})
	f.Add([]byte{0, 80, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 7, 1, 0, 90, 8, 1, 9, 2})
	f.Add([]byte{7, 1, 6, 1, 0, 50, 5, 1, 0, 50, 0, 50, 0, 50, 1, 1, 10, 3, 3, 1})
	f.Add([]byte("0\xff\xe3\xb9\xdc\nv\x84\x00200A0M0")) // an observer is declared dead, and the next requires its first heartbeat in that Tick
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
	quality := &adaptive.QoS{Detection: 500 * adaptive.Millisecond}
	for _, cfg := range []Config{{Mode: Exact}, {Mode: Ring}, {Mode: Ring, Fence: true}, {Mode: Ring, Adaptive: quality}, {Mode: Ring, Fence: true, Adaptive: quality}} {
		cfg.N, cfg.Me = n, me
		c := actionChecker{d: New(cfg), me: me}
		now := mono.Time(0)
		for i := 0; i+1 < len(program); i += 2 {
			op, arg := program[i]%12, program[i+1]
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
	case 11:
		return Receive{From: rank, Msg: fuzzTelling(arg, now)}
	default: // 8, 9, 10 are the kinds that carry a digest
		return Receive{From: rank, Msg: digestMessage(op-8+kindHeartbeat, uint64(arg/64))}
	}
}

// fuzzTelling is a message of Config.Adaptive.
func fuzzTelling(arg byte, now mono.Time) []byte {
	at := adaptive.Time(now).Add(adaptive.Duration(arg%5)*20*adaptive.Millisecond - 40*adaptive.Millisecond)
	switch arg % 3 {
	case 0:
		return tellingMessage(kindHeartbeat, 0, adaptive.Beat{Seq: uint32(arg / 16), Nominal: at, Period: adaptive.Duration(1+arg) * adaptive.Millisecond, Epoch: uint16(arg % 4)})
	case 1:
		return tellingMessage(kindHeartbeat, 0, adaptive.Echo{Clock: at})
	}
	return tellingMessage(kindNewObserver, 0, adaptive.Adjust{Clock: at, Period: adaptive.Duration(1+arg) * adaptive.Millisecond, Epoch: uint16(arg % 4), Echo: arg%2 == 0})
}

// An actionChecker checks the actions of a detector against their documentation.
type actionChecker struct {
	d        *Detector
	me       int
	declared rankset.Set
	told     rankset.Set // got a fence notice
	fenced   bool
	now      mono.Time // the last Tick's
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

// carried is the required content of the flood: the dead, and above them the left processes.
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
	tick, isTick := ev.(Tick)
	if isTick {
		c.now = max(c.now, tick.Now)
	}
	if ok && c.now > 0 && at <= c.now { // nor does any other event make this process late
		t.Fatalf("after %#v, the last Tick being that of %v, the deadline is %v", ev, c.now, at)
	}
	if ok && (c.fenced || c.d.Alone() || c.d.cfg.Mode == Exact) {
		t.Fatalf("a deadline: %s", c.d.Describe())
	}
	if c.d.Alone() != (c.d.Emitter() < 0) || c.d.Alone() != (c.d.Observer() < 0) {
		t.Fatalf("emitter %d, observer %d: %s", c.d.Emitter(), c.d.Observer(), c.d.Describe())
	}
}
