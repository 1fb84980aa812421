package heartbeat

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// Watch is the observation of one process. A Watch has a connection and goroutines only during the
// introduction: until the first beat arrives as a datagram, or for ever if none does.
type Watch struct {
	pulse       *Pulse
	told        func(beat.Event)
	observation *beat.Monitor
	name, addr  string
	incarnation uint64

	work  *work // under the lock of the Pulse: the present introduction; nil: none
	index int32 // the same: its place among all; -1: the observation has ended
}

// gone is the index of a Watch that has ended.
const gone = -1

// Peer returns the name and incarnation of the process.
func (w *Watch) Peer() (name string, incarnation uint64) { return w.name, w.incarnation }

// work is an introduction that is under way, or waits for its turn.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc
	arrive chan struct{} // closed when beats arrive as datagrams
	past   bool          // under the lock of the Pulse: arrive is closed
}

// Times of a Watch.
const (
	answerWithin = 2 * time.Second // a question to the process
	redialFirst  = 50 * time.Millisecond
	redialLast   = time.Second
)

// Watch observes a process from now on. The callback must not block. Its last call may occur during
// End.
func (p *Pulse) Watch(ref *pb.Ref, q adaptive.QoS, told func(beat.Event)) (*Watch, error) {
	w := &Watch{pulse: p, told: told, name: ref.Name, addr: ref.Addr, incarnation: ref.Incarnation}
	o, err := p.node.Monitor(q, w.hear)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if w.observation = o; w.index != gone { // the process may be dead already
		w.index = int32(len(p.all))
		p.all = append(p.all, w)
	}
	p.mu.Unlock()
	w.introduce(o)
	return w, nil
}

// End ends the observation.
func (w *Watch) End() {
	w.forget()
	w.observation.Close()
}

func (w *Watch) forget() {
	p := w.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.index == gone {
		return
	}
	if w.observation != nil { // otherwise the beat endpoint does not have the observation yet
		last := len(p.all) - 1
		p.all[w.index] = p.all[last]
		p.all[w.index].index = w.index
		p.all[last] = nil
		p.all = p.all[:last]
	}
	w.index = gone
	if w.work != nil {
		w.work.cancel()
	}
}

// hear forwards an event. A silent process is probed by another connection than that of its beats.
// If no beat has arrived since the probe, the process may have forgotten this observer, and is
// introduced again.
func (w *Watch) hear(n beat.Event) {
	switch {
	case n.Kind == beat.Reached:
		w.arrived()
		return
	case n.Kind == beat.Dead:
		w.forget()
	case n.Kind == beat.Suspected && n.Silent > 0:
		go w.look(n.Monitor)
		if n.Unheard {
			w.introduce(n.Monitor)
		}
	}
	w.told(n)
}

func (w *Watch) arrived() {
	w.pulse.mu.Lock()
	defer w.pulse.mu.Unlock()
	if w.work != nil && !w.work.past {
		w.work.past = true
		close(w.work.arrive)
	}
}

// look probes a suspect.
func (w *Watch) look(o *beat.Monitor) {
	ctx, cancel := context.WithTimeout(w.pulse.ended, answerWithin)
	defer cancel()
	conn, err := w.pulse.id.Dial(w.addr)
	if err != nil {
		return
	}
	defer link.HangUp(conn)
	reply, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	switch {
	case err != nil && w.refuses(), err == nil && !w.isIt(reply.Me):
		o.Refused()
	case err == nil:
		o.Answered(0)
	}
}

func (w *Watch) refuses() bool {
	ctx, cancel := context.WithTimeout(w.pulse.ended, answerWithin)
	defer cancel()
	return link.Look(ctx, w.addr) == link.Refuses
}

func (w *Watch) isIt(ref *pb.Ref) bool {
	return ref.GetName() == w.name && ref.GetIncarnation() == w.incarnation
}

// introduce makes the process send beats, unless an introduction is under way or planned. introduce
// does not block.
func (w *Watch) introduce(o *beat.Monitor) {
	p := w.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.work != nil || w.index == gone {
		return
	}
	w.work = &work{arrive: make(chan struct{}), cancel: func() {}}
	p.waiting = append(p.waiting, waiting{w, o})
	p.startNext()
}

// waiting is an introduction that has not begun.
type waiting struct {
	watch       *Watch
	observation *beat.Monitor
}

// An introduction takes a connection and about ten goroutines. Only a few of many introductions are
// under way at a time. Otherwise the memory of a client would stay that of the largest number,
// because the descriptor of a goroutine is never freed. One that takes long does not count.
const (
	introductions = 4
	introduceFor  = 50 * time.Millisecond
)

// startNext begins introductions as long as there is room. The caller holds mu.
func (p *Pulse) startNext() {
	for p.begun < introductions && len(p.waiting) > 0 {
		next := p.waiting[0]
		if p.waiting = p.waiting[1:]; len(p.waiting) == 0 {
			p.waiting = nil
		}
		if next.watch.index == gone {
			continue
		}
		p.begun++
		go next.watch.run(next.observation, sync.OnceFunc(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.begun--
			p.startNext()
		}))
	}
}

// run executes an introduction. At the end, or if the introduction takes long, run makes room for
// the next one.
func (w *Watch) run(o *beat.Monitor, room func()) {
	defer room()
	defer time.AfterFunc(introduceFor, room).Stop()
	w.pulse.mu.Lock()
	now := w.work
	now.ctx, now.cancel = context.WithCancel(w.pulse.ended)
	if w.index == gone {
		now.cancel()
	}
	w.pulse.mu.Unlock()
	w.persist(o, now)
	now.cancel()
	w.pulse.mu.Lock()
	w.work = nil
	w.pulse.mu.Unlock()
}

// persist connects until beats arrive as datagrams, or the process is dead.
func (w *Watch) persist(o *beat.Monitor, now *work) {
	for pause := redialFirst; now.ctx.Err() == nil; pause = min(2*pause, redialLast) {
		connected, err := w.connect(o, now)
		switch {
		case err == nil, now.ctx.Err() != nil:
			return
		case errors.Is(err, errStranger), w.refuses():
			o.Refused()
			return
		case connected:
			o.Broken()
			pause = redialFirst
			w.again(now)
		}
		select {
		case <-now.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// again makes the next connection wait for datagrams of its own.
func (w *Watch) again(now *work) {
	w.pulse.mu.Lock()
	defer w.pulse.mu.Unlock()
	if now.past {
		now.arrive, now.past = make(chan struct{}), false
	}
}

// connect serves one connection until the connection breaks, and reports whether there was one. A
// nil error means that beats arrive as datagrams and that the connection was closed in order.
func (w *Watch) connect(o *beat.Monitor, now *work) (connected bool, err error) {
	conn, err := w.pulse.id.Dial(w.addr)
	if err != nil {
		return false, err
	}
	defer link.HangUp(conn)
	ctx, cancel := context.WithCancel(now.ctx)
	defer cancel()
	stream, err := pb.NewNodeClient(conn).Beats(ctx)
	if err != nil {
		return false, err
	}
	number := o.NextStream()
	begun := time.Now()
	if err := stream.Send(&pb.Beating{Kind: &pb.Beating_Observe{Observe: &pb.Observe{Stream: number}}}); err != nil {
		return false, err
	}
	m, err := stream.Recv()
	if err != nil {
		return false, err
	}
	hello := m.GetObserving()
	if hello == nil || len(hello.Key) == 0 || !w.isIt(hello.Me) {
		return false, errStranger
	}
	if pausepoint.Enabled {
		pausepoint.At("grid.introduced")
	}
	addr, _ := netip.ParseAddrPort(hello.Addr) // an invalid one has no datagrams
	if err := o.Connected(beat.Connection{
		Stream: number, Addr: addr, Key: hello.Key, Link: sender(ctx, stream, now.arrive), RTT: time.Since(begun),
	}); err != nil {
		return false, err
	}
	err = hearFrom(stream, func(sealed []byte) { o.Receive(number, sealed) })
	select {
	case <-now.arrive:
		if errors.Is(err, io.EOF) {
			o.Detach(number)
			return true, nil
		}
	default:
	}
	return true, err
}

// sender returns a function that passes a message to a connection and never waits. Once datagrams
// arrive the connection is closed in order.
func sender(ctx context.Context, stream grpc.BidiStreamingClient[pb.Beating, pb.Beating], arrive <-chan struct{}) func(sealed []byte) {
	out := make(chan []byte, queued)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-arrive:
				_ = stream.CloseSend() // an error means that the stream is broken, which does no harm here
				return
			case sealed := <-out:
				if stream.Send(&pb.Beating{Kind: &pb.Beating_Sealed{Sealed: sealed}}) != nil {
					return
				}
			}
		}
	}()
	return func(sealed []byte) {
		select {
		case out <- sealed:
		default:
		}
	}
}
