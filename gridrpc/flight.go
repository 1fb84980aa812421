package gridrpc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/mono"
)

// flight hosts the rule of one call: one goroutine steps it, others carry its streams and
// questions and give back events.
type flight struct {
	client  *Client
	service string
	id      session.CallID
	in      []byte
	set     settings
	ctx     context.Context
	cancel  context.CancelFunc
	events  chan event
	done    chan struct{}

	rule     *session.Session
	origin   time.Time
	refs     map[session.Server]*pb.Ref
	attempts map[uint32]*line
	keys     map[session.Manifest]string // of checkpoints, in the store
	near     []string                    // services of a similar name
	dead     map[session.Server]bool
	asked    error // why no master could be asked
	results  map[uint32]outcome
	over     bool
	leaving  sync.WaitGroup // cancellations on their way

	result []byte // once done is closed
	err    error
}

// event is what a goroutine of a flight gives to its rule, and what the rule need not know.
type event struct {
	rule  session.Event
	apply func() // first
}

// outcome is how an attempt ended.
type outcome struct {
	data   []byte
	failed *pb.Failed
}

// line is the stream of an attempt, or several in turn.
type line struct {
	server session.Server
	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex // held while the stream is written to
	stream    callerStream
	adopted   bool // its server has the attempt since before there was a stream
	abandoned bool
	over      bool // and the call has ended
}

func (c *Client) newFlight(ctx context.Context, name string, id session.CallID, set settings) *flight {
	f := &flight{
		client: c, service: name, id: id, set: set,
		events: make(chan event), done: make(chan struct{}),
		rule: session.New(set.rule), origin: time.Now(),
		refs: map[session.Server]*pb.Ref{}, attempts: map[uint32]*line{},
		keys: map[session.Manifest]string{}, results: map[uint32]outcome{},
		dead: map[session.Server]bool{},
	}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

func (f *flight) now() mono.Time { return mono.Time(time.Since(f.origin)) }

// fly steps the rule, from its first event until the call has ended.
func (f *flight) fly(first session.Event) {
	defer f.leaving.Wait() // Close waits for this goroutine
	defer close(f.done)
	defer f.cancel()
	defer f.client.guards.remove(f)
	f.carryOut(f.rule.Step(first))
	closed := f.client.ctx.Done()
	for !f.over {
		var due <-chan time.Time
		if at, ok := f.rule.Deadline(); ok {
			due = time.After(time.Duration(at.Sub(f.now())))
		}
		select {
		case ev := <-f.events:
			if ev.apply != nil {
				ev.apply()
			}
			if ev.rule != nil {
				f.carryOut(f.rule.Step(ev.rule))
			}
		case <-due:
			f.carryOut(f.rule.Step(session.Tick{Now: f.now()}))
		case <-f.ctx.Done():
			f.carryOut(f.rule.Step(session.Cancelled{At: f.now()}))
		case <-closed:
			f.carryOut(f.rule.Step(f.closing()))
		}
	}
}

// closing is what the end of the client means for its call.
func (f *flight) closing() session.Event {
	if f.set.keep > 0 {
		return session.Left{At: f.now()}
	}
	return session.Cancelled{At: f.now()}
}

// post gives an event to the rule, from another goroutine.
func (f *flight) post(ev session.Event, apply func()) {
	select {
	case f.events <- event{ev, apply}:
	case <-f.done:
	}
}

func (f *flight) carryOut(actions []session.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case session.Ask:
			go f.ask(f.request(a))
		case session.Submit:
			f.tell(Event{What: Submitted, Attempt: int(a.Attempt), Server: a.Server.Name, Text: f.resumes(a.Manifest)})
			ctx, cancel := context.WithCancel(context.WithoutCancel(f.ctx))
			f.attempts[a.Attempt] = &line{server: a.Server, ctx: ctx, cancel: cancel}
			f.connect(a.Attempt, a.Manifest, false)
			f.guardSoon(f.refs[a.Server])
		case session.Attach:
			f.connect(a.Attempt, session.Manifest{}, a.Accepted)
		case session.Abandon:
			l := f.attempts[a.Attempt]
			f.leaving.Go(func() { l.abandon(a.Over) })
		case session.End:
			f.end(a)
		}
	}
}

// guardSoon has the server of an attempt observed, if the call lasts.
func (f *flight) guardSoon(ref *pb.Ref) {
	go func() {
		select {
		case <-f.done:
		case <-time.After(guardAfter):
			f.post(nil, func() { f.client.guards.add(f, ref) })
		}
	}()
}

func (f *flight) resumes(m session.Manifest) string {
	if key := f.keys[m]; key != "" {
		return "from checkpoint " + key
	}
	return ""
}

func (f *flight) tell(e Event) { f.set.tell(e) }

func (f *flight) request(a session.Ask) *pb.ScheduleRequest {
	m := &pb.ScheduleRequest{Service: f.service, Work: f.set.work, Bytes: f.set.bytes, Fresh: a.Fresh}
	for _, s := range a.Exclude {
		m.Exclude = append(m.Exclude, &pb.Ref{Name: s.Name, Incarnation: s.Incarnation})
	}
	return m
}

// ask brings the answer of a master.
func (f *flight) ask(m *pb.ScheduleRequest) {
	reply, err := f.client.schedule(f.ctx, m)
	if err != nil {
		f.post(session.Unreachable{At: f.now()}, func() { f.asked = err })
		return
	}
	ev := session.Candidates{At: f.now(), Unknown: reply.Unknown, Quiet: mono.Duration(reply.Quiet * float64(mono.Second))}
	for _, e := range reply.Candidates {
		ev.Servers = append(ev.Servers, serverOf(e.Server))
	}
	f.post(ev, func() {
		f.near = reply.Near
		for _, e := range reply.Candidates {
			f.refs[serverOf(e.Server)] = e.Server
		}
	})
}

func serverOf(r *pb.Ref) session.Server {
	return session.Server{Name: r.GetName(), Incarnation: r.GetIncarnation()}
}

// end keeps the outcome.
func (f *flight) end(a session.End) {
	server := ""
	if l := f.attempts[a.Attempt]; l != nil {
		server = l.server.Name
	}
	switch a.Outcome {
	case session.Succeeded:
		f.result = f.results[a.Attempt].data
	case session.BodyFailed:
		failed := f.results[a.Attempt].failed
		kind := ErrService
		if failed.Codec {
			kind = ErrCodec
		}
		f.err = f.fail(kind, server)
		e, _ := errors.AsType[*Error](f.err)
		e.Text, e.Stack = strings.TrimPrefix(failed.Text, kind.Error()+": "), failed.Stack
	case session.NoService:
		f.err = f.fail(ErrNoService, "")
		if e, ok := errors.AsType[*Error](f.err); ok && len(f.near) > 0 {
			e.Text = "known are " + strings.Join(f.near, ", ")
		}
	case session.NoMaster:
		f.err = f.fail(f.asked, "")
	case session.ServerLost:
		f.err = f.fail(ErrServerLost, server)
	case session.Poisoned:
		f.err = f.fail(ErrPoison, server)
	case session.TriesOver:
		f.err = f.fail(ErrServerLost, server)
	case session.Gone:
		f.err = f.fail(ErrGone, server)
	case session.GivenUp, session.LeftBehind:
		f.err = f.fail(context.Cause(f.ctx), server)
		if f.ctx.Err() == nil {
			f.err = f.fail(context.Canceled, server)
		}
	}
	f.over = true
}

func (f *flight) fail(err error, server string) error {
	return &Error{Op: "call", Service: f.service, Server: server, Attempt: int(f.rule.Attempt()), Err: err}
}
