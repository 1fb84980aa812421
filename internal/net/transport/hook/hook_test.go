package hook_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/hook"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/net/transport/transporttest"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// world wraps every rank of an inproc world with a plan of its own.
type world struct {
	*inproc.World
	plan func() *hook.Plan
	set  func(p *hook.Plan, procs int) // called after New
}

func (w world) Port(rank int) transport.End {
	inner := w.World.Port(rank)
	plan := w.plan()
	tr := hook.New(inner, plan)
	if w.set != nil {
		w.set(plan, inner.Node.Procs())
	}
	return tr
}

func TestEmptyPlanConforms(t *testing.T) {
	for name, plan := range map[string]func() *hook.Plan{
		"no plan":    func() *hook.Plan { return nil },
		"empty":      func() *hook.Plan { return &hook.Plan{} },
		"with trace": func() *hook.Plan { return &hook.Plan{Trace: func(hook.Event) {}} },
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(_ *testing.T, n int) transporttest.World {
				return world{World: inproc.New(n), plan: plan}
			})
		})
	}
}

// TestDelaysConform: delayed frames arrive whole and in order, and no wake-up is lost.
func TestDelaysConform(t *testing.T) {
	delayed := func(p *hook.Plan, procs int) {
		for q := range procs {
			p.Delay(hook.Towards, q, uint64(q%4))
			p.Delay(hook.From, q, uint64(q%3))
		}
	}
	transporttest.RunLate(t, func(_ *testing.T, n int) transporttest.World {
		return world{World: inproc.New(n), plan: func() *hook.Plan { return &hook.Plan{} }, set: delayed}
	})
}

// pair holds two ranks, the first behind a hook.
type pair struct {
	t    *testing.T
	plan *hook.Plan
	a, b side
}

// A side holds the node and the link of a process.
type side struct {
	transport.Link
	*node.Node
}

func sideOf(e transport.End) side { return side{e.Link, e.Node} }

func newPair(t *testing.T, plan *hook.Plan) *pair {
	w := inproc.New(2)
	return &pair{t: t, plan: plan, a: sideOf(hook.New(w.Port(0), plan)), b: sideOf(w.Port(1))}
}

func header(tag, size int) *transport.Header {
	return &transport.Header{Kind: transport.Eager, Tag: int32(tag), Size: size}
}

// sendData sends a frame with its tag as contents.
func sendData(tr side, tag int) bool {
	return tr.TrySend(1-tr.Me(), header(tag, 4), fmt.Appendf(nil, "%04d", tag))
}

func sendText(tr side, tag int) bool {
	text := fmt.Appendf(nil, "%04d", tag)
	return tr.TryControl(1-tr.Me(), text, 0) == len(text)
}

// dataTag takes the next data frame and returns its tag, or -1.
func dataTag(tr side) int {
	f, ok := tr.Peek(1 - tr.Me())
	if !ok {
		return -1
	}
	defer tr.Advance(1 - tr.Me())
	return number(f.Payload)
}

func textTag(tr side) int {
	frame, ok := tr.NextControl(1 - tr.Me())
	if !ok {
		return -1
	}
	return number(frame)
}

func number(text []byte) int {
	n := -1
	fmt.Sscanf(string(text), "%04d", &n)
	return n
}

// all takes frames until there is none.
func all(next func() int) []int {
	var tags []int
	for tag := next(); tag >= 0; tag = next() {
		tags = append(tags, tag)
	}
	return tags
}

func numbers(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

func (p *pair) want(what string, got, want any) {
	p.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// count returns the sum of one fate over both classes.
func (p *pair) count(d hook.Dir, f hook.Fate) uint64 {
	return p.plan.Count(d, 1, transport.Data, f).Frames + p.plan.Count(d, 1, transport.Control, f).Frames
}

// TestDelayTowards sends two frames per class and counts the calls until the peer has the first.
// The second one waits for the end of its own delay.
func TestDelayTowards(t *testing.T) {
	const calls = 7
	for _, c := range []struct {
		name string
		send func(side, int) bool
		next func(side) int
	}{{"data", sendData, dataTag}, {"control", sendText, textTag}} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, &hook.Plan{})
			p.plan.Delay(hook.Towards, 1, calls)
			p.want("sent", c.send(p.a, 1), true)
			p.want("sent", c.send(p.a, 2), true)
			for i := 2; i < calls; i++ {
				p.a.Peek(1)
				p.want(fmt.Sprint("arrived after ", i, " calls"), c.next(p.b), -1)
				p.want("pending while held", p.a.Pending(-1), true)
			}
			p.a.Peek(1)
			p.want("arrived in time", all(func() int { return c.next(p.b) }), []int{1})
			p.plan.Delay(hook.Towards, 1, 0)
			p.want("sent", c.send(p.a, 3), true)
			p.want("arrived in order", all(func() int { return c.next(p.b) }), []int{2, 3})
			p.want("pending", p.a.Pending(-1), false)
			p.want("held", p.count(hook.Towards, hook.Held), 2)
			p.want("passed", p.count(hook.Towards, hook.Passed), 3)
		})
	}
}

// TestDelayFrom: each frame stays hidden for the given number of calls, and each Take in between
// names its peer.
func TestDelayFrom(t *testing.T) {
	const calls = 6
	for _, c := range []struct {
		name  string
		class transport.Class
		send  func(side, int) bool
		next  func(side) int
	}{{"data", transport.Data, sendData, dataTag}, {"control", transport.Control, sendText, textTag}} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, &hook.Plan{})
			p.plan.Delay(hook.From, 1, calls)
			c.send(p.b, 1)
			c.send(p.b, 2)
			for tag := 1; tag <= 2; tag++ {
				for i := range calls / 2 {
					p.want(fmt.Sprint("frame ", tag, " seen at call ", 2*i), c.next(p.a), -1)
					p.want("pending while hidden", p.a.Pending(-1), true)
					p.want("named by Take", p.a.Take(c.class, []int{9}), []int{9, 1})
				}
				p.want("seen in time", c.next(p.a), tag)
			}
			p.want("a third", c.next(p.a), -1)
			p.want("pending", p.a.Pending(-1), false)
			p.want("named by Take", p.a.Take(c.class, nil), []int{})
			p.want("held", p.count(hook.From, hook.Held), 2)
			p.want("passed", p.count(hook.From, hook.Passed), 2)
		})
	}
}

// TestHeldIsBounded: the hook holds a bounded number of frames.
func TestHeldIsBounded(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Delay(hook.Towards, 1, 1<<40)
	for _, send := range []func(side, int) bool{sendData, sendText} {
		n := 0
		for ; n < 1000 && send(p.a, n); n++ {
		}
		p.want("accepted", n, 64)
	}
	p.a.CloseData(1)
	p.want("pending with control held", p.a.Pending(-1), true)
	p.a.CloseControl(1)
	p.want("pending after the close", p.a.Pending(-1), false)
	p.want("sent to the closed", sendData(p.a, 0), true)
	p.want("arrived of what was held", fmt.Sprint(all(func() int { return dataTag(p.b) }), all(func() int { return textTag(p.b) })), "[] []")
}

// TestHeldFindsNoRoom: if there is no room for a held frame when it is due, the hook sends it once
// there is room, before later frames.
func TestHeldFindsNoRoom(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	n := 0
	for ; sendData(p.a, n); n++ {
	}
	p.plan.Delay(hook.Towards, 1, 2)
	for range 10 {
		p.want("held", sendData(p.a, n), true)
		n++
	}
	p.plan.Delay(hook.Towards, 1, 0)
	p.want("behind the held", sendData(p.a, n), true)
	n++
	var got []int
	for len(got) < n {
		tag := dataTag(p.b)
		if tag >= 0 {
			got = append(got, tag)
		}
		p.b.Sweep(0)
		p.a.Peek(1)
		if tag < 0 && !p.a.Pending(-1) {
			break
		}
	}
	p.want("arrived", got, numbers(0, n))
}

// TestHeldAsksForRoom: the sender believes that its frame is sent and does not wait for room, so
// the hook asks the peer to sweep.
func TestHeldAsksForRoom(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	for n := 0; sendData(p.a, n); n++ {
	}
	p.b.Take(transport.Data, nil)
	p.plan.Delay(hook.Towards, 1, 1)
	p.want("held", sendData(p.a, 0), true)
	p.want("asked before it was due", p.b.Pending(-1), false)
	p.a.Peek(1)
	p.want("asked", p.b.Pending(-1), true)
	p.want("taken", dataTag(p.b), 0)
	p.b.Sweep(0)
	p.a.Take(transport.Data, nil) // the sweep left a bit
	p.a.Take(transport.Control, nil)
	p.a.Peek(1)
	p.want("pending after there was room", p.a.Pending(-1), false)
}

// TestHiddenIsForgotten: the close drops hidden frames.
func TestHiddenIsForgotten(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Delay(hook.From, 1, 3)
	sendData(p.b, 1)
	sendText(p.b, 1)
	p.want("hidden", fmt.Sprint(dataTag(p.a), textTag(p.a)), "-1 -1")
	p.a.Take(transport.Data, nil)
	p.a.Take(transport.Control, nil)
	p.a.CloseControl(1)
	p.want("pending with data hidden", p.a.Pending(-1), true)
	p.a.CloseData(1)
	p.want("pending after the close", p.a.Pending(-1), false)
	for range 10 {
		p.want("seen after the close", fmt.Sprint(dataTag(p.a), textTag(p.a)), "-1 -1")
	}
}

// TestStall: there is no room for either class until Release, which wakes a waiting sender.
func TestStall(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Stall(1)
	p.want("sent while stalled", fmt.Sprint(sendData(p.a, 1), sendText(p.a, 1)), "false false")
	waiting, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		p.a.WantRoom(1, true)
		close(waiting)
		for sent := false; !sent; {
			p.a.Sleep(park.Caller, func() bool { sent = sent || sendData(p.a, 2); return sent }, -1)
		}
		p.a.WantRoom(1, false)
	}()
	<-waiting
	p.want("arrived while stalled", dataTag(p.b), -1)
	p.plan.Release(1)
	waitFor(t, done, "Release did not wake the sender")
	p.want("arrived", all(func() int { return dataTag(p.b) }), []int{2})
	p.want("passed", p.count(hook.Towards, hook.Passed), 1)
	if p.count(hook.Towards, hook.Refused) < 2 {
		t.Error("frames that were refused are not counted")
	}
}

// TestStallKeepsHeld: frames that were held when the stall began stay held until it ends.
func TestStallKeepsHeld(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Delay(hook.Towards, 1, 1)
	sendData(p.a, 1)
	p.plan.Stall(1)
	for range 10 {
		p.a.Peek(1)
	}
	p.want("arrived while stalled", dataTag(p.b), -1)
	p.plan.Release(1)
	p.a.Peek(1)
	p.want("arrived", dataTag(p.b), 1)
}

// TestStalledThenClosed: sending to a closed process succeeds under every plan.
func TestStalledThenClosed(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Stall(1)
	p.a.CloseControl(1)
	p.want("data of the stalled, control of the closed", fmt.Sprint(sendData(p.a, 1), sendText(p.a, 1)), "false true")
	p.a.CloseData(1)
	p.want("data of the closed", sendData(p.a, 1), true)
	p.want("dropped", p.count(hook.Towards, hook.Dropped), 2)
}

// TestHeldWakesBackground: a caller may send and then compute for hours, so the background loop
// must make the calls that move its held frame.
func TestHeldWakesBackground(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Delay(hook.Towards, 1, 3)
	up, done := make(chan struct{}), make(chan struct{})
	raised := sync.OnceFunc(func() { close(up) })
	go func() {
		defer close(done)
		for !p.a.Pending(-1) {
			p.a.Sleep(park.Background, func() bool { raised(); return p.a.Pending(-1) }, -1)
		}
	}()
	<-up
	sendData(p.a, 1)
	waitFor(t, done, "the background loop sleeps on")
}

func waitFor(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	over := time.NewTimer(time.Minute)
	defer over.Stop()
	select {
	case <-done:
	case <-over.C:
		t.Fatal(what)
	}
}

// TestCutTowards drops frames of both classes, including held ones, but completes the control frame
// that is partly sent: the peer reads whole frames before and after the cut.
func TestCutTowards(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	long := bytes.Repeat([]byte("long"), 2000)
	sent := p.a.TryControl(1, long, 0)
	if sent == len(long) {
		t.Fatal("the frame was meant to be too long for the ring")
	}
	p.plan.Delay(hook.Towards, 1, 1)
	sendData(p.a, 1)
	p.plan.Delay(hook.Towards, 1, 0)
	p.plan.Cut(hook.Towards, 1)
	p.want("sent while cut", sendData(p.a, 2), true)
	var got []byte
	for got == nil {
		sent = p.a.TryControl(1, long, sent)
		frame, ok := p.b.NextControl(0)
		if ok {
			got = slices.Clone(frame)
		}
		if sent == len(long) && !ok {
			t.Fatalf("the half-sent frame was not ended: %v", p.b.Broken(0))
		}
	}
	p.want("the half-sent frame is whole", bytes.Equal(got, long), true)
	p.want("sent while cut", sendText(p.a, 3), true)
	p.plan.Mend(hook.Towards, 1)
	p.want("sent", fmt.Sprint(sendData(p.a, 4), sendText(p.a, 5)), "true true")
	p.want("data", all(func() int { return dataTag(p.b) }), []int{4})
	p.want("control", all(func() int { return textTag(p.b) }), []int{5})
	p.want("broken", p.b.Broken(0), nil)
	p.want("dropped", p.count(hook.Towards, hook.Dropped), 3)
}

// TestCutFrom drops frames that are there and frames that arrive, including hidden ones.
func TestCutFrom(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Delay(hook.From, 1, 5)
	for tag := range 3 {
		sendData(p.b, tag)
		sendText(p.b, tag)
	}
	p.want("hidden", fmt.Sprint(dataTag(p.a), textTag(p.a)), "-1 -1")
	p.plan.Delay(hook.From, 1, 0)
	p.plan.Cut(hook.From, 1)
	p.want("seen while cut", fmt.Sprint(dataTag(p.a), textTag(p.a)), "-1 -1")
	sendData(p.b, 3)
	p.want("seen while cut", dataTag(p.a), -1)
	p.plan.Mend(hook.From, 1)
	sendData(p.b, 4)
	sendText(p.b, 4)
	p.want("data", all(func() int { return dataTag(p.a) }), []int{4})
	p.want("control", all(func() int { return textTag(p.a) }), []int{4})
	p.want("dropped", p.count(hook.From, hook.Dropped), 7)
	p.a.Take(transport.Data, nil)
	p.a.Take(transport.Control, nil)
	p.want("pending", p.a.Pending(-1), false)
}

// TestCutOneDirection: a cut leaves the other direction intact.
func TestCutOneDirection(t *testing.T) {
	p := newPair(t, &hook.Plan{})
	p.plan.Cut(hook.Towards, 1)
	sendData(p.b, 1)
	p.want("from the peer", dataTag(p.a), 1)
	p.plan.Mend(hook.Towards, 1)
	p.plan.Cut(hook.From, 1)
	sendData(p.a, 2)
	p.want("towards the peer", dataTag(p.b), 2)
}

// TestKillAt ends a process before each of its frames in turn: earlier frames passed, and this
// frame was neither sent nor taken.
func TestKillAt(t *testing.T) {
	const frames = 12
	for k := uint64(1); k <= frames+1; k++ {
		killed := false
		plan := &hook.Plan{KillAt: k, Kill: func() { killed = true; runtime.Goexit() }}
		p := newPair(t, plan)
		end := make(chan struct{})
		for tag := range 3 {
			sendData(p.b, tag)
			sendText(p.b, tag)
		}
		go func() {
			defer close(end)
			for tag := range 3 { // 4 frames in each round: 2 sent, 2 taken
				sendData(p.a, tag)
				dataTag(p.a)
				sendText(p.a, tag)
				textTag(p.a)
			}
		}()
		<-end
		p.want(fmt.Sprint("k = ", k, ": killed"), killed, k <= frames)
		p.want(fmt.Sprint("k = ", k, ": moved"), plan.Moved(), min(k-1, frames))
		sent := all(func() int { return dataTag(p.b) })
		texts := all(func() int { return textTag(p.b) })
		p.want(fmt.Sprint("k = ", k, ": data"), sent, numbers(0, int(min(k+2, 14)/4)))
		p.want(fmt.Sprint("k = ", k, ": control"), texts, numbers(0, int(min(k, 12)/4)))
	}
}

// TestCountsAndTrace compares the counters with the trace and both with the actual traffic.
func TestCountsAndTrace(t *testing.T) {
	var trace []hook.Event
	plan := &hook.Plan{Trace: func(ev hook.Event) { trace = append(trace, ev) }}
	p := newPair(t, plan)
	for i := range 5 {
		p.a.TrySend(1, header(i, 100*i), make([]byte, 100*i))
		p.a.TryControl(1, make([]byte, 10), 0)
		p.b.TrySend(0, header(i, 1), []byte("x"))
		p.a.Peek(1)
		p.a.Advance(1)
	}
	p.b.TryControl(0, make([]byte, 70), 0)
	p.a.NextControl(1)
	for _, c := range []struct {
		dir   hook.Dir
		class transport.Class
		want  hook.Count
	}{
		{hook.Towards, transport.Data, hook.Count{Frames: 5, Bytes: 1000}},
		{hook.Towards, transport.Control, hook.Count{Frames: 5, Bytes: 50}},
		{hook.From, transport.Data, hook.Count{Frames: 5, Bytes: 5}},
		{hook.From, transport.Control, hook.Count{Frames: 1, Bytes: 70}},
	} {
		p.want(fmt.Sprint("count ", c.dir, c.class), plan.Count(c.dir, 1, c.class, hook.Passed), c.want)
		var traced hook.Count
		for _, ev := range trace {
			if ev.Peer == 1 && ev.Dir == c.dir && ev.Class == c.class && ev.Fate == hook.Passed {
				traced.Frames++
				traced.Bytes += uint64(ev.Bytes)
			}
		}
		p.want(fmt.Sprint("traced ", c.dir, c.class), traced, c.want)
	}
	p.want("events", len(trace), 16)
	p.want("the fifth frame", trace[12].Header, *header(4, 400))
	p.want("moved", plan.Moved(), 16)
	p.want("of another peer", plan.Count(hook.Towards, 0, transport.Data, hook.Passed), hook.Count{})
}

func TestPlanServesOneTransport(t *testing.T) {
	for name, plan := range map[string]*hook.Plan{"second transport": newPair(t, &hook.Plan{}).plan, "no Kill": {KillAt: 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: New accepted the plan", name)
				}
			}()
			hook.New(inproc.New(1).Port(0), plan)
		}()
	}
}
