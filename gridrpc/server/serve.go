package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/codec"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// calls serves the requests of clients.
type calls struct {
	pb.UnimplementedServerServer
	server *Server
}

type callStream = grpc.BidiStreamingServer[pb.CallFrame, pb.CallFrame]

// Times that a server waits.
const (
	reattachWithin = 10 * time.Second // for a client whose stream broke
	rememberFor    = time.Duration(session.ForgetAfter)
)

// Calls serves one stream: one attempt of a call.
func (c calls) Calls(stream callStream) error {
	if err := link.Demand(stream.Context(), link.Client, link.Worker); err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	submit := first.GetSubmit()
	if why, text := c.server.examine(submit); why != 0 {
		return refuse(stream, why, text)
	}
	a, err := c.server.take(stream, submit)
	if a == nil {
		return err
	}
	defer c.server.unattended(a)
	defer c.server.cleanUp(a)
	return converse(stream, a)
}

func refuse(stream callStream, why pb.Refusal_Why, text string) error {
	return stream.Send(refusal(why, text))
}

func refusal(why pb.Refusal_Why, text string) *pb.CallFrame {
	return &pb.CallFrame{Kind: &pb.CallFrame_Refusal{Refusal: &pb.Refusal{Why: why, Text: text}}}
}

// examine returns the reason for which a submission is invalid, or 0.
func (s *Server) examine(m *pb.Submit) (pb.Refusal_Why, string) {
	switch {
	case m == nil:
		return pb.Refusal_MALFORMED, "the first frame must be a Submit"
	case len(m.Call) != len(session.CallID{}):
		return pb.Refusal_MALFORMED, fmt.Sprintf("an identifier of %d bytes, not of %d", len(m.Call), len(session.CallID{}))
	case m.Attempt == 0:
		return pb.Refusal_MALFORMED, "attempts count from 1"
	case m.Size > codec.Max:
		return pb.Refusal_MALFORMED, fmt.Sprintf("an argument of %d bytes, at most %d", m.Size, codec.Max)
	case m.Keep < 0 || m.Keep > int64(link.KeepMax):
		return pb.Refusal_MALFORMED, fmt.Sprintf("to be kept for %v, at most %v", time.Duration(m.Keep), link.KeepMax)
	case s.services[m.Service] == nil:
		return pb.Refusal_UNKNOWN, "no service " + m.Service
	}
	return 0, ""
}

// take begins an attempt, or finds the attempt that runs already. The attempt is nil if the server
// has refused the submission.
func (s *Server) take(stream callStream, m *pb.Submit) (*attempt, error) {
	a, begins, no := s.admit(m)
	switch {
	case no != nil:
		return nil, stream.Send(no)
	case begins:
		return s.begin(stream, m, a)
	}
	if err := s.fetch(stream.Context(), a); err != nil {
		s.unattended(a)
		return nil, s.unfetched(stream, a, err)
	}
	return a, stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Accepted{Accepted: &pb.Accepted{Attached: true}}})
}

// admit passes a submission to the desk. Either its attempt begins or exists already, and has one
// stream more in both cases; or the submission is refused.
func (s *Server) admit(m *pb.Submit) (a *attempt, begins bool, no *pb.CallFrame) {
	id := session.CallID(m.Call)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Keep > 0 && s.attempts[id] == nil && len(s.keptNow()) >= keptMax {
		return nil, false, refusal(pb.Refusal_FULL, fmt.Sprintf("%d calls are kept already", keptMax))
	}
	verdict := s.desk.Submit(id, m.Attempt, m.Incarnation, m.Attach)
	if pausepoint.Enabled {
		pausepoint.At("grid.submit")
	}
	a = s.attempts[id]
	switch {
	case verdict == session.Run:
		if a != nil {
			a.end(false) // an older attempt, which hangs
		}
		a = &attempt{
			call: id, number: m.Attempt, service: m.Service, codec: gridrpc.Codec(m.Codec), keep: time.Duration(m.Keep), streams: 1,
		}
		a.limit(s.ctx, time.Duration(m.DeadlineIn))
		s.attempts[id] = a
		if a.keep > 0 {
			s.keeps[id] = a
		}
		return a, true, nil
	case verdict == session.Rejoin && a != nil:
		a.mu.Lock()
		a.streams++
		a.mu.Unlock()
		return a, false, nil
	case verdict == session.TooMany:
		return nil, false, refusal(pb.Refusal_FULL, "no place")
	case verdict == session.Draining:
		return nil, false, refusal(pb.Refusal_DRAINING, "about to leave")
	case verdict == session.NotMe:
		return nil, false, refusal(pb.Refusal_OTHER, "another incarnation")
	case verdict == session.Forgotten, verdict == session.Rejoin:
		return nil, false, refusal(pb.Refusal_STALE, "not known any more")
	}
	return nil, false, refusal(pb.Refusal_STALE, "a later attempt was here")
}

// begin reads the argument and starts the body.
func (s *Server) begin(stream callStream, m *pb.Submit, a *attempt) (*attempt, error) {
	in := link.Bytes{Size: m.Size}
	if err := in.Receive(stream); err != nil {
		a.cancel()
		s.withdraw(a)
		return nil, err
	}
	go s.run(a.ctx, s.newCall(m, a), s.services[m.Service], gridrpc.Codec(m.Codec), in.Have)
	return a, stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Accepted{Accepted: &pb.Accepted{}}})
}

// withdraw undoes a submission whose argument has not come. Streams that have attached to it
// break, and their clients submit again.
func (s *Server) withdraw(a *attempt) {
	a.update(func() { a.withdrawn = true })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempts[a.call] == a {
		s.desk.Withdraw(a.call)
		delete(s.attempts, a.call)
		return
	}
	s.desk.Leave() // a later attempt has come meanwhile
}

// run is a body from its beginning to its end.
func (s *Server) run(ctx context.Context, c *Call, v *service, codec gridrpc.Codec, in []byte) {
	defer c.attempt.cancel()
	s.changed()
	var out []byte
	err := c.restore(ctx)
	if err == nil {
		out, err = v.run(ctx, c, codec, in)
	}
	c.close()
	s.mu.Lock()
	s.desk.Leave() // before the outcome is sent: its client may send the next call here
	s.mu.Unlock()
	c.attempt.finish(out, failure(err))
	s.hold(c.attempt)
	s.cleanUp(c.attempt)
	s.changed()
}

// cleanUp deletes the checkpoints of a call that has ended.
func (s *Server) cleanUp(a *attempt) {
	if a.isOver() && (a.number > 1 || a.made()) {
		s.removeCheckpoints(a.call.Text())
	}
}

// textMax bounds the texts of a body that are sent to its client, in bytes.
const textMax = 64 << 10

// readable returns as much of a text as can be sent: one that is not, in a trunk, would be the end
// of all other calls.
func readable(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), textMax)], "\uFFFD")
}

func failure(err error) *pb.Failed {
	if err == nil {
		return nil
	}
	f := &pb.Failed{Text: err.Error(), Codec: errors.Is(err, gridrpc.ErrCodec) || errors.Is(err, gridrpc.ErrTooLarge)}
	if e, ok := errors.AsType[*gridrpc.Error](err); ok {
		f.Text, f.Stack = e.Text, e.Stack
	}
	f.Text, f.Stack = readable(f.Text), readable(f.Stack)
	return f
}

// converse sends the state of an attempt to its client, until the client has received the outcome.
func converse(stream callStream, a *attempt) error {
	heard := make(chan error, 1)
	go func() {
		for {
			f, err := stream.Recv()
			if err == nil && f.GetCancel() != nil {
				a.end(f.GetCancel().Over)
			}
			if err != nil {
				heard <- err
				return
			}
		}
	}()
	more := make(chan struct{}, 1)
	f := &follower{poke: func() {
		select {
		case more <- struct{}{}:
		default:
		}
	}}
	a.follow(f)
	defer a.unfollow(f)
	var t sent
	for {
		frames, result, done := a.news(&t)
		for _, f := range append(frames, link.Pieces(result)...) {
			if err := stream.Send(f); err != nil {
				return err
			}
		}
		if a.isWithdrawn() {
			return status.Error(codes.Unavailable, "the argument of this attempt has not come")
		}
		if done {
			more = nil // only the end of the client's stream is left
		}
		select {
		case <-more:
		case err := <-heard:
			if errors.Is(err, io.EOF) { // the client has the outcome, or needs none
				a.wasHeard()
				return nil
			}
			return err
		}
	}
}

// unattended ends a stream. A call without a stream is cancelled after a while. A call whose
// client has received the outcome is forgotten.
func (s *Server) unattended(a *attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams--
	if a.streams > 0 {
		return
	}
	if a.keep > 0 { // letGo will do the rest
		if a.shelved {
			a.result = nil
		}
		return
	}
	wait := reattachWithin
	if a.heard {
		wait = 0
		a.cancel()
	}
	time.AfterFunc(wait, func() { s.giveUp(a) })
}

// forget deletes a first attempt that has ended and whose outcome was received through the trunk
// of its submission. Its client has submitted the call nowhere else, so no message of the call is
// on its way to this server. Other attempts are remembered for a while (S1). forget reports
// whether the attempt was deleted.
func (s *Server) forget(a *attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.number != 1 || !a.done || !a.heard || a.shelved || a.streams != 1 || s.attempts[a.call] != a {
		return false
	}
	a.streams = 0
	a.cancel()
	delete(s.attempts, a.call)
	s.desk.Forget(a.call)
	return true
}

func (s *Server) giveUp(a *attempt) {
	a.mu.Lock()
	attended := a.streams > 0
	a.mu.Unlock()
	if attended {
		return
	}
	a.cancel()
	s.unshelve(a)
	time.AfterFunc(rememberFor, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.attempts[a.call] == a {
			delete(s.attempts, a.call)
			s.desk.Forget(a.call)
		}
	})
}
