package gridrpc

import (
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

type callerStream = grpc.BidiStreamingClient[pb.CallFrame, pb.CallFrame]

// lookWithin bounds the check of the address of a broken stream.
const lookWithin = time.Second

// connect sends an attempt to its server: by the trunk if it is small and new, otherwise by a
// stream and a goroutine of its own.
func (f *flight) connect(attempt uint32, from session.Manifest, attach bool) {
	l := f.attempts[attempt]
	ref := f.refs[l.server]
	m := &pb.Submit{
		Call: f.id[:], Attempt: attempt, Incarnation: l.server.Incarnation, Service: f.service,
		Codec: string(f.set.codec), Size: uint64(len(f.in)), Attach: attach, Keep: int64(f.set.keep),
	}
	if known := f.saved[from]; known != nil {
		m.Manifest = &pb.Checkpointed{Attempt: from.Attempt, Seq: from.Number, Key: known.Key}
	}
	if end, ok := f.ctx.Deadline(); ok {
		m.DeadlineIn = int64(max(1, time.Until(end)))
	}
	if attach || l.tried || len(f.in) > link.LaneMax {
		go f.carry(l, ref.Addr, m)
		return
	}
	l.tried = true
	m.Argument = f.in
	f.client.submit(ref.Addr, &clientLane{flight: f, line: l, submit: m})
}

// carry serves the stream of an attempt until the attempt has ended or the stream is broken.
func (f *flight) carry(l *line, addr string, m *pb.Submit) {
	err := f.speak(l, addr, m)
	if err == nil || l.ctx.Err() != nil || l.isAbandoned() {
		l.cancel()
		return
	}
	f.broke(l, m.Attempt, f.client.whyLost(addr, err))
}

// broke reports a broken stream to the rule, or a lost server if the reason is known.
func (f *flight) broke(l *line, attempt uint32, why string) {
	if why != "" {
		f.lost(l, why)
		return
	}
	f.post(session.Broken{At: f.now(), Attempt: attempt}, func() {
		f.tell(Event{What: StreamBroke, Attempt: int(attempt), Server: l.server.Name})
	})
}

func (f *flight) lost(l *line, why string) {
	f.post(session.Declared{At: f.now(), Server: l.server}, func() { f.lose(l.server, why) })
}

// lose reports the loss of a server once, although several goroutines may find it.
func (f *flight) lose(server session.Server, why string) {
	if !f.dead[server] {
		f.dead[server] = true
		f.tellOf(server, Lost, why)
	}
}

// tellOf reports an event of a server for its latest attempt.
func (f *flight) tellOf(server session.Server, what EventKind, text string) {
	for n := f.rule.Attempt(); n > 0; n-- {
		if l := f.attempts[n]; l != nil && l.server == server {
			f.tell(Event{What: what, Attempt: int(n), Server: server.Name, Text: text})
			return
		}
	}
}

// speak submits the attempt, and handles the frames of the server. It returns the error of the
// stream.
func (f *flight) speak(l *line, addr string, m *pb.Submit) error {
	conn, err := f.client.conn(addr, link.Worker)
	if err != nil {
		return err
	}
	stream, err := pb.NewServerClient(conn).Calls(l.ctx)
	if err != nil {
		return err
	}
	go f.submit(l, stream, m)
	for {
		frame, err := stream.Recv()
		if err != nil {
			return err
		}
		if r := frame.GetResult(); r != nil {
			data := link.Bytes{Size: r.Size}
			if err := data.Receive(stream); err != nil {
				return err
			}
			f.succeed(l, m.Attempt, data.Have)
			break
		}
		if f.hear(l, m.Attempt, frame) {
			break
		}
	}
	_ = l.goodbye(stream)
	return nil
}

// succeed gives a result to the rule.
func (f *flight) succeed(l *line, attempt uint32, data []byte) {
	f.post(session.Result{At: f.now(), Attempt: attempt}, func() {
		f.tellBegan(l, attempt)
		f.results[attempt] = outcome{data: data}
	})
}

// tellBegan reports the acceptance of an attempt if only its outcome shows it.
func (f *flight) tellBegan(l *line, attempt uint32) {
	if !l.began {
		l.began = true
		f.tell(Event{What: Began, Attempt: int(attempt), Server: l.server.Name})
	}
}

// submit sends the submission and its argument. Reading the answer returns the errors.
func (f *flight) submit(l *line, stream callerStream, m *pb.Submit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abandoned && !l.adopted {
		l.cancel()
		return
	}
	l.stream = stream
	if err := stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Submit{Submit: m}}); err != nil {
		return
	}
	for _, p := range link.Pieces(f.in) {
		if err := stream.Send(p); err != nil {
			return
		}
	}
	if l.abandoned {
		l.sayCancel()
	}
}

// goodbye ends a stream after its outcome, and waits for a while until the server has read the end.
func (l *line) goodbye(stream callerStream) error {
	defer time.AfterFunc(abandonWithin, l.cancel).Stop()
	l.mu.Lock()
	err := stream.CloseSend()
	l.mu.Unlock()
	if err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// abandonWithin bounds a cancellation. A server that does not receive it cancels the body after a
// while without a client.
const abandonWithin = time.Second

// abandon cancels the attempt at its server, and returns when the server has acknowledged it, or
// after abandonWithin.
func (l *line) abandon(over bool) {
	defer time.AfterFunc(abandonWithin, l.cancel).Stop()
	l.mu.Lock()
	l.abandoned, l.over = true, over
	trunk, lane := l.trunk, l.lane
	switch {
	case trunk != nil:
		if !trunk.abandon(lane, over) {
			l.cancel()
		}
	case l.stream != nil:
		l.sayCancel()
	case !l.adopted:
		l.cancel()
	}
	l.mu.Unlock()
	<-l.ctx.Done()
	if trunk != nil {
		trunk.drop(lane)
	}
}

// leaveTrunk records that the trunk does not have the attempt any more, and reports whether it is
// abandoned. The server has the attempt if its outcome is there.
func (l *line) leaveTrunk(there bool) (abandoned bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trunk, l.adopted = nil, l.adopted || there
	return l.abandoned
}

// sayCancel writes the cancellation. The caller holds mu.
func (l *line) sayCancel() {
	if l.stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{Over: l.over}}}) == nil {
		_ = l.stream.CloseSend()
	}
}

func (l *line) isAbandoned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.abandoned
}

// hear gives a frame to the rule, and reports whether it was the last one.
func (f *flight) hear(l *line, attempt uint32, frame *pb.CallFrame) (last bool) {
	tell := func(e Event) func() {
		e.Attempt, e.Server = int(attempt), l.server.Name
		return func() { f.tell(e) }
	}
	switch k := frame.Kind.(type) {
	case *pb.CallFrame_Accepted:
		f.post(session.Accepted{At: f.now(), Attempt: attempt}, func() {
			l.began = true
			tell(Event{What: Began})()
		})
	case *pb.CallFrame_Progress:
		p := k.Progress
		f.post(session.Progressed{At: f.now(), Attempt: attempt}, tell(Event{What: Progressed, Text: p.Text, Done: p.Done, Total: p.Total}))
	case *pb.CallFrame_Checkpointed:
		m := session.Manifest{Attempt: attempt, Number: k.Checkpointed.Seq}
		f.post(session.Checkpointed{At: f.now(), Manifest: m}, func() {
			f.saved[m] = k.Checkpointed
			tell(Event{What: Checkpointed, Text: k.Checkpointed.Key})()
		})
	case *pb.CallFrame_Failed:
		f.post(session.Failed{At: f.now(), Attempt: attempt}, func() {
			f.tellBegan(l, attempt)
			f.results[attempt] = outcome{failed: k.Failed}
		})
		return true
	case *pb.CallFrame_Refusal:
		f.refused(l, attempt, k.Refusal)
		return true
	}
	return false
}

// refused reports a refusal to the rule. Another incarnation at the same address means that the
// requested one is dead.
func (f *flight) refused(l *line, attempt uint32, r *pb.Refusal) {
	if r.Why == pb.Refusal_OTHER {
		f.lost(l, "it was started anew")
		return
	}
	f.post(session.Refused{At: f.now(), Attempt: attempt}, func() {
		f.tell(Event{What: Refused, Attempt: int(attempt), Server: l.server.Name, Text: r.Text})
	})
}
