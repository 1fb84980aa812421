package gridrpc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// flight hosts the rule of one call. One goroutine steps the rule. Others carry its streams and
// requests, and return events. The goroutines of a trunk serve other calls, too, so they never wait
// for this one.
type flight struct {
	client  *Client
	service string
	id      session.CallID
	in      []byte
	set     settings
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}

	mu     sync.Mutex
	events []event
	wake   chan struct{} // has one element when there are events

	rule     *session.Session
	origin   time.Time
	refs     map[session.Server]*pb.Ref
	attempts map[uint32]*line
	saved    map[session.Manifest]*pb.Checkpointed
	near     []string // services of a similar name
	dead     map[session.Server]bool
	asked    error     // why no master could be asked
	waits    EventKind // the reason of a wait that was reported to the caller: Unoffered, or Unheard; "": no wait
	answered mono.Time // when a master named the servers; of the client's clock
	begun    mono.Time // when the latest attempt was submitted
	observe  *time.Timer
	toGuard  []*pb.Ref // servers that are to be observed when that is due
	results  map[uint32]outcome
	over     bool
	leaving  sync.WaitGroup // cancellations on their way

	result []byte // once done is closed
	err    error
}

// event is an event for the rule, and a function that the rule does not need to know.
type event struct {
	rule  session.Event
	apply func() // first
}

// outcome is the end of an attempt.
type outcome struct {
	data   []byte
	failed *pb.Failed
}

// line is the stream of an attempt, or several in turn.
type line struct {
	server session.Server
	ctx    context.Context
	cancel context.CancelFunc

	tried bool // by the trunk; as the next one, of the flight's goroutine
	began bool // reported to the caller

	mu        sync.Mutex // held while the stream is written to
	stream    callerStream
	trunk     *clientTrunk // that has the attempt; nil: none, or not any more
	lane      uint64       // in it
	adopted   bool         // its server has the attempt since before there was a stream
	abandoned bool
	over      bool // and the call has ended
}

func (c *Client) newFlight(ctx context.Context, name string, id session.CallID, set settings) *flight {
	f := &flight{
		client: c, service: name, id: id, set: set,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		rule: session.New(set.rule), origin: time.Now(),
		refs: map[session.Server]*pb.Ref{}, attempts: map[uint32]*line{},
		saved: map[session.Manifest]*pb.Checkpointed{}, results: map[uint32]outcome{},
		dead: map[session.Server]bool{},
	}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

func (f *flight) now() mono.Time { return mono.Time(time.Since(f.origin)) }

// fly steps the rule from its first event until the call has ended.
func (f *flight) fly(first session.Event) {
	defer f.leaving.Wait() // Close waits for this goroutine
	defer close(f.done)
	defer f.cancel()
	defer f.client.guards.remove(f)
	f.observe = time.NewTimer(guardAfter)
	defer f.observe.Stop()
	f.carryOut(f.rule.Step(first))
	closed := f.client.ctx.Done()
	for !f.over {
		var due <-chan time.Time
		if at, ok := f.rule.Deadline(); ok {
			due = time.After(time.Duration(at.Sub(f.now())))
		}
		select {
		case <-f.wake:
			f.happen(f.take())
		case <-f.observe.C:
			for _, ref := range f.toGuard {
				f.client.guards.add(f, ref)
			}
			f.toGuard = nil
		case <-due:
			f.carryOut(f.rule.Step(session.Tick{Now: f.now()}))
		case <-f.ctx.Done():
			f.carryOut(f.rule.Step(session.Cancelled{At: f.now()}))
		case <-closed:
			f.carryOut(f.rule.Step(f.closing()))
		}
	}
}

// closing returns the event of the rule for the end of the client.
func (f *flight) closing() session.Event {
	if f.set.keep > 0 {
		return session.Left{At: f.now()}
	}
	return session.Cancelled{At: f.now()}
}

// happen gives events to the rule.
func (f *flight) happen(list []event) {
	for _, ev := range list {
		if f.over {
			return
		}
		if ev.apply != nil {
			ev.apply()
		}
		if ev.rule != nil {
			f.carryOut(f.rule.Step(ev.rule))
		}
	}
}

// post gives an event to the rule, from any goroutine and without waiting. If the caller is slow,
// only the latest progress is kept.
func (f *flight) post(ev session.Event, apply func()) {
	f.mu.Lock()
	if p, ok := ev.(session.Progressed); ok && len(f.events) > 0 {
		n := len(f.events) - 1
		if last, ok := f.events[n].rule.(session.Progressed); ok && last.Attempt == p.Attempt {
			f.events = f.events[:n]
		}
	}
	f.events = append(f.events, event{ev, apply})
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take returns the events that have arrived.
func (f *flight) take() []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.events
	f.events = nil
	return list
}

func (f *flight) carryOut(actions []session.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case session.Ask:
			if !f.sit(a) {
				go f.ask(f.request(a))
			}
		case session.Submit:
			f.tell(Event{What: Submitted, Attempt: int(a.Attempt), Server: a.Server.Name, Text: f.resumes(a.Manifest)})
			ctx, cancel := context.WithCancel(context.WithoutCancel(f.ctx))
			f.attempts[a.Attempt] = &line{server: a.Server, ctx: ctx, cancel: cancel}
			f.begun = f.now()
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

// guardSoon starts the observation of the server of an attempt, if the call lasts.
func (f *flight) guardSoon(ref *pb.Ref) {
	f.toGuard = append(f.toGuard, ref)
	f.observe.Reset(guardAfter)
}

// sit answers a request for servers by the place that a call of this client has just freed, if
// there is one (S10).
func (f *flight) sit(a session.Ask) bool {
	if a.Fresh || len(a.Exclude) > 0 || f.rule.Attempt() > 0 {
		return false
	}
	seat, ok := f.client.sit(f.service, f.set.work)
	if !ok {
		return false
	}
	f.answered = seat.Asked
	f.refs[seat.Server] = &pb.Ref{Name: seat.Server.Name, Incarnation: seat.Server.Incarnation, Addr: seat.Addr}
	f.post(session.Candidates{At: f.now(), Held: true, Servers: []session.Server{seat.Server}}, nil)
	return true
}

// rise frees the place of the latest attempt for the next call.
func (f *flight) rise(attempt uint32) {
	l := f.attempts[attempt]
	if l == nil || attempt != f.rule.Attempt() || f.dead[l.server] || f.set.adopted {
		return
	}
	ref := f.refs[l.server]
	f.client.rise(session.Seat{Service: f.service, Work: f.set.work, Server: l.server, Addr: ref.Addr, Asked: f.answered}, f.now().Sub(f.begun))
}

func (f *flight) resumes(m session.Manifest) string {
	if known := f.saved[m]; known != nil {
		return "from checkpoint " + known.Key
	}
	return ""
}

func (f *flight) tell(e Event) { f.set.tell(e) }

func (f *flight) request(a session.Ask) *pb.ScheduleRequest {
	m := &pb.ScheduleRequest{Service: f.service, Work: f.set.work, Bytes: f.set.bytes, Fresh: a.Fresh}
	if known := f.saved[a.Manifest]; known != nil {
		m.Saved, m.Holders = float64(known.Size), known.Hosts
	}
	for _, s := range a.Exclude {
		m.Exclude = append(m.Exclude, &pb.Ref{Name: s.Name, Incarnation: s.Incarnation})
	}
	return m
}

// ask gives the answer of a master to the rule.
func (f *flight) ask(m *pb.ScheduleRequest) {
	reply, err := f.client.schedule(f.ctx, m)
	if err != nil {
		f.post(session.Unreachable{At: f.now()}, func() {
			f.asked = err
			f.waitFor(Event{What: Unheard, Text: strings.TrimPrefix(err.Error(), ErrNoMaster.Error()+": ")})
		})
		return
	}
	ev := session.Candidates{At: f.now(), Unknown: reply.Unknown, Quiet: mono.Duration(reply.Quiet * float64(mono.Second))}
	for _, e := range reply.Candidates {
		ev.Servers = append(ev.Servers, serverOf(e.Server))
	}
	f.post(ev, func() {
		f.near, f.answered = reply.Near, f.client.now()
		if reply.Unknown {
			f.waitFor(Event{What: Unoffered, Near: reply.Near})
		} else {
			f.waits = ""
		}
		for _, e := range reply.Candidates {
			f.refs[serverOf(e.Server)] = e.Server
		}
	})
}

// waitFor reports the reason of a wait once to the caller.
func (f *flight) waitFor(e Event) {
	if e.What != f.waits && f.ctx.Err() == nil {
		f.tell(e)
	}
	f.waits = e.What
}

func serverOf(r *pb.Ref) session.Server {
	return session.Server{Name: r.GetName(), Incarnation: r.GetIncarnation()}
}

// end stores the outcome.
func (f *flight) end(a session.End) {
	server := ""
	if l := f.attempts[a.Attempt]; l != nil {
		server = l.server.Name
	}
	switch a.Outcome {
	case session.Succeeded:
		f.rise(a.Attempt)
		f.result = f.results[a.Attempt].data
	case session.BodyFailed:
		f.rise(a.Attempt)
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
