package gridrpc

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// settings configures a call.
type settings struct {
	rule    session.Config
	codec   Codec
	work    float64
	bytes   float64
	keep    time.Duration
	adopted bool // the call of another client
	tell    func(Event)
}

// CallOption configures calls.
type CallOption func(*settings)

// Tries bounds the attempts of a call that were not refused. The default is 16.
func Tries(n int) CallOption { return func(s *settings) { s.rule.Tries = n } }

// Patience sets how long a call waits for a service that no server offers, and for masters that do
// not answer. The default is 30 s.
func Patience(d time.Duration) CallOption {
	return func(s *settings) { s.rule.Patience = max(1, mono.Duration(d)) }
}

// Stall sets the time after which a body that reports no progress and makes no checkpoint counts as
// lost. By default there is no limit.
func Stall(d time.Duration) CallOption {
	return func(s *settings) { s.rule.Stall = mono.Duration(d) }
}

// AtMostOnce never lets a body run twice: the loss of its server is ErrServerLost.
func AtMostOnce() CallOption { return func(s *settings) { s.rule.AtMostOnce = true } }

// Keep lets a call continue after the end of its client, once a server has accepted it (Began); a
// call that no server has accepted ends with its client. The server stores the outcome for d after
// the end of the body, at most 7 days, and Attach finds it from any client. Results above 64 KiB
// are in the store of the platform, if there is one; results in memory end with the server. A done
// context and Session.Cancel still end the call; Close does not.
func Keep(d time.Duration) CallOption { return func(s *settings) { s.keep = d } }

// InCodec sets the encoding of argument and result. The default is Gob.
func InCodec(c Codec) CallOption { return func(s *settings) { s.codec = c } }

// Amount sets the work of a call, in the unit of the service's Work. The default is 1.
func Amount(work float64) CallOption { return func(s *settings) { s.work = work } }

// Watch sets a function that is called with the events of a call, in order. f must not block.
func Watch(f func(Event)) CallOption { return func(s *settings) { s.tell = f } }

// Func is a service for its callers.
type Func[Req, Rep any] struct {
	client  *Client
	name    string
	options []CallOption
}

// Service returns a service by its name and sends no message. The options apply to all its calls.
func Service[Req, Rep any](c *Client, name string, o ...CallOption) Func[Req, Rep] {
	return Func[Req, Rep]{client: c, name: name, options: o}
}

// Call calls the service with *in and waits for the result. Its error is an *Error: one of the
// classes of this package, or the error of ctx, which also ends the call.
func (f Func[Req, Rep]) Call(ctx context.Context, in *Req, o ...CallOption) (*Rep, error) {
	s, err := f.Go(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, func(result []byte) []byte { return result }) // there is no other Wait
}

// Go begins a call with *in, which Go encodes before it returns. The end of ctx cancels the call,
// also after Go has returned. Errors of Go: ErrCodec, ErrTooLarge, and a time of Keep out of range;
// Session.Wait returns all others.
func (f Func[Req, Rep]) Go(ctx context.Context, in *Req, o ...CallOption) (*Session[Rep], error) {
	set := settings{codec: Gob, work: 1, tell: func(Event) {}}
	for _, o := range append(f.options[:len(f.options):len(f.options)], o...) {
		o(&set)
	}
	if set.keep < 0 || set.keep > link.KeepMax {
		return nil, &Error{Op: "call", Service: f.name, Err: fmt.Errorf("to be kept for %v: want 0 to %v", set.keep, link.KeepMax)}
	}
	data, err := codec.Encode(string(set.codec), in)
	if err != nil {
		return nil, &Error{Op: "call", Service: f.name, Err: err}
	}
	set.bytes = float64(len(data))
	fl := f.client.newFlight(ctx, f.name, newCallID(), set)
	fl.in = data
	f.client.spawn(func() { fl.fly(session.Begin{At: fl.now()}) })
	return &Session[Rep]{codec: set.codec, flight: fl}, nil
}

// Session is a call that has begun.
type Session[Rep any] struct {
	codec  Codec
	flight *flight
}

// ID names the call, for Attach.
func (s *Session[Rep]) ID() string { return s.flight.id.Text() }

// Cancel ends the call, at its server, too; Wait then returns context.Canceled.
func (s *Session[Rep]) Cancel() { s.flight.cancel() }

// Wait returns the outcome, or an error of ctx, after which the call continues. Each Wait returns a
// value of its own.
func (s *Session[Rep]) Wait(ctx context.Context) (*Rep, error) { return s.wait(ctx, bytes.Clone) }

// wait is Wait, and decodes the value from the bytes that memory returns for the result.
func (s *Session[Rep]) wait(ctx context.Context, memory func([]byte) []byte) (*Rep, error) {
	select {
	case <-s.flight.done:
	case <-ctx.Done():
		return nil, s.flight.fail(ctx.Err(), "")
	}
	if s.flight.err != nil {
		return nil, s.flight.err
	}
	out := new(Rep)
	if err := codec.Decode(string(s.codec), memory(s.flight.result), out); err != nil {
		return nil, s.flight.fail(err, "")
	}
	return out, nil
}

// Test reports whether the call has ended, and returns its outcome if so. Test does not wait.
func (s *Session[Rep]) Test() (out *Rep, done bool, err error) {
	select {
	case <-s.flight.done:
		out, err = s.Wait(context.Background())
		return out, true, err
	default:
		return nil, false, nil
	}
}

func newCallID() (id session.CallID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}
