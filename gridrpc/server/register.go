package server

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// body is a service without its types.
type body func(ctx context.Context, c *Call, with gridrpc.Codec, in []byte) (out []byte, err error)

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

// Work sets the function that returns the work of a request, in any unit that is the same at all
// servers. Servers report their speed in this unit, and a call is sent to the server that is ready
// first. The default is 1 for each request.
func Work[Req any](f func(*Req) float64) ServiceOption {
	return func(s *service) { s.work = func(in any) float64 { return f(in.(*Req)) } }
}

// Metric sends calls of a service to the server with the lowest value of f, among servers with a
// free place; among equal values, to the server that is ready first, as without a metric. A
// server reports its value when a call begins or ends, and every two seconds. f may be called by
// several goroutines and must not block. A value that is not a number, or beyond 1e17, counts as
// 1e17. A client that calls again within 100 ms may do so at the same server.
func Metric(f func() float64) ServiceOption {
	return func(s *service) { s.metric = f }
}

// metricMax bounds the reported value.
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

// Register offers a function as a service. The function may be called several times at once. The
// caller receives its error, or its panic, as text. ctx is done when the caller has cancelled the
// call, or has ended.
func Register[Req, Rep any](s *Server, name string, f func(ctx context.Context, c *Call, in *Req) (*Rep, error), options ...ServiceOption) error {
	if !discovery.NameForm.MatchString(name) {
		return &gridrpc.Error{Op: "register", Service: name, Err: fmt.Errorf("a name is %s", discovery.NameForm)}
	}
	if s.services[name] != nil {
		return &gridrpc.Error{Op: "register", Service: name, Err: fmt.Errorf("is registered already")}
	}
	v := &service{name: name, work: func(any) float64 { return 1 }}
	for _, o := range options {
		o(v)
	}
	v.run = func(ctx context.Context, c *Call, with gridrpc.Codec, data []byte) (_ []byte, err error) {
		defer func() { // also of Work, and of methods that decode
			if p := recover(); p != nil {
				err = &gridrpc.Error{Op: "run", Service: name, Err: gridrpc.ErrService, Text: fmt.Sprintf("panic: %v", p), Stack: string(debug.Stack())}
			}
		}()
		in := new(Req)
		if err := codec.Decode(string(with), data, in); err != nil {
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
			return nil, fmt.Errorf("%w: the service returned no result and no error", gridrpc.ErrService)
		}
		return codec.Encode(string(with), out)
	}
	s.services[name] = v
	return nil
}
