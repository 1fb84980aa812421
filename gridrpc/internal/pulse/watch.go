package pulse

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/internal/beat"
)

// Watch is one process that this one observes.
type Watch struct {
	pulse       *Pulse
	ref         *pb.Ref
	told        func(beat.News)
	observation *beat.Observation
	ready       chan bool // closed when observation is set
	ctx         context.Context
	cancel      context.CancelFunc
}

// Times of a Watch.
const (
	answerWithin = 2 * time.Second // a question to the process
	redialFirst  = 50 * time.Millisecond
	redialLast   = time.Second
)

// Watch observes a process from now on. told must not block; it may be told a last time while
// End is called.
func (p *Pulse) Watch(ref *pb.Ref, q adaptive.QoS, told func(beat.News)) (*Watch, error) {
	w := &Watch{pulse: p, ref: ref, told: told, ready: make(chan bool)}
	w.ctx, w.cancel = context.WithCancel(p.ended)
	o, err := p.node.Observe(q, w.hear)
	if err != nil {
		w.cancel()
		return nil, err
	}
	w.observation = o
	close(w.ready)
	p.mu.Lock()
	p.all[w] = true
	p.mu.Unlock()
	go w.stayConnected()
	return w, nil
}

// End ends the observation.
func (w *Watch) End() {
	w.forget()
	w.observation.End()
}

func (w *Watch) forget() {
	w.cancel()
	w.pulse.mu.Lock()
	defer w.pulse.mu.Unlock()
	delete(w.pulse.all, w)
}

// hear passes news on; a silent process is asked by another connection than that of its beats.
func (w *Watch) hear(n beat.News) {
	switch {
	case n.Kind == beat.Dead:
		w.forget()
	case n.Kind == beat.Suspected && n.Silent > 0:
		go w.look()
	}
	w.told(n)
}

// look asks a suspect whether it lives.
func (w *Watch) look() {
	<-w.ready
	ctx, cancel := context.WithTimeout(w.ctx, answerWithin)
	defer cancel()
	conn, err := w.pulse.id.Dial(w.ref.Addr)
	if err != nil {
		return
	}
	defer link.HangUp(conn)
	reply, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	switch {
	case err != nil && w.refuses(), err == nil && !w.isIt(reply.Me):
		w.observation.Refused()
	case err == nil:
		w.observation.Answered(0)
	}
}

func (w *Watch) refuses() bool {
	ctx, cancel := context.WithTimeout(w.ctx, answerWithin)
	defer cancel()
	return link.Look(ctx, w.ref.Addr) == link.Refuses
}

func (w *Watch) isIt(ref *pb.Ref) bool {
	return ref.GetName() == w.ref.Name && ref.GetIncarnation() == w.ref.Incarnation
}

// stayConnected keeps the connection of the beats.
func (w *Watch) stayConnected() {
	for pause := redialFirst; w.ctx.Err() == nil; pause = min(2*pause, redialLast) {
		connected, err := w.connect()
		switch {
		case w.ctx.Err() != nil:
			return
		case errors.Is(err, errStranger), w.refuses():
			w.observation.Refused()
			return
		case connected:
			w.observation.Broken()
			pause = redialFirst
		}
		select {
		case <-w.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// connect carries one connection until it breaks, and says whether there was one.
func (w *Watch) connect() (connected bool, err error) {
	conn, err := w.pulse.id.Dial(w.ref.Addr)
	if err != nil {
		return false, err
	}
	defer link.HangUp(conn)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	stream, err := pb.NewNodeClient(conn).Beats(ctx)
	if err != nil {
		return false, err
	}
	number := w.observation.Next()
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
	addr, _ := netip.ParseAddrPort(hello.Addr) // an invalid one has no datagrams
	w.observation.Connected(beat.Connection{
		Stream: number, Addr: addr, Key: hello.Key, Link: sender(ctx, stream), RTT: time.Since(begun),
	})
	return true, hearFrom(stream, func(sealed []byte) { w.observation.Hear(number, sealed) })
}

// sender returns what hands a message to a connection and never waits.
func sender(ctx context.Context, stream grpc.BidiStreamingClient[pb.Beating, pb.Beating]) func(sealed []byte) {
	out := make(chan []byte, queued)
	go func() {
		for {
			select {
			case <-ctx.Done():
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
