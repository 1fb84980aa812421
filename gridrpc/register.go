package gridrpc

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// body is a service without its types.
type body func(ctx context.Context, c *Call, codec Codec, in []byte) (out []byte, err error)

// service is one registered function.
type service struct {
	name   string
	run    body
	work   func(in any) float64
	metric func() float64 // nil: none
	rates  rates
}

// ServiceOption changes how a service is offered.
type ServiceOption func(*service)

// Work says how much work a request is, in any unit that is the same at all servers: with it
// a server tells how fast it is, and clients are sent to who is ready first. The default is 1
// for each request.
func Work[Req any](f func(*Req) float64) ServiceOption {
	return func(s *service) { s.work = func(in any) float64 { return f(in.(*Req)) } }
}

// Metric has calls of a service go to the server with the lowest value of f, among servers with a
// free place; where values are equal, to the one that is ready first, as without a metric. A
// server reports its value when a call begins or ends, and every two seconds. f may be called by
// several goroutines and must not block. A value that is not a number, or beyond 1e17, counts as
// 1e17. A client that calls again within 100 ms may do so at the same server.
func Metric(f func() float64) ServiceOption {
	return func(s *service) { s.metric = f }
}

// metricMax bounds what a server reports.
const metricMax = 1e17

// measured returns the metric of a service now; 0 without one.
func (v *service) measured() float64 {
	if v.metric == nil {
		return 0
	}
	value := v.metric()
	if math.IsNaN(value) {
		return metricMax
	}
	return max(-metricMax, min(metricMax, value))
}

// Register offers a function as a service. The function may be called several times at once.
// Its error goes to the caller as text, and so does a panic; ctx is done when the caller has
// given up, or is gone.
func Register[Req, Rep any](s *Server, name string, f func(ctx context.Context, c *Call, in *Req) (*Rep, error), options ...ServiceOption) error {
	if !discovery.NameForm.MatchString(name) {
		return &Error{Op: "register", Service: name, Err: fmt.Errorf("a name is %s", discovery.NameForm)}
	}
	if s.services[name] != nil {
		return &Error{Op: "register", Service: name, Err: fmt.Errorf("is registered already")}
	}
	v := &service{name: name, work: func(any) float64 { return 1 }}
	for _, o := range options {
		o(v)
	}
	v.run = func(ctx context.Context, c *Call, codec Codec, data []byte) (_ []byte, err error) {
		defer func() { // also of Work, and of methods that decode
			if p := recover(); p != nil {
				err = &Error{Op: "run", Service: name, Err: ErrService, Text: fmt.Sprintf("panic: %v", p), Stack: string(debug.Stack())}
			}
		}()
		in := new(Req)
		if err := decode(codec, data, in); err != nil {
			return nil, err
		}
		end, err := s.measure(ctx, v, v.work(in))
		if err != nil {
			return nil, err
		}
		defer func() { end(err == nil) }()
		out, err := f(ctx, c, in)
		if err != nil {
			return nil, err
		}
		if out == nil {
			return nil, fmt.Errorf("%w: the service returned no result and no error", ErrService)
		}
		return encode(codec, out)
	}
	s.services[name] = v
	return nil
}
