// Command trial is a server for tests: its bodies tell what they do, and wait where a test
// needs them to.
package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/gridrpc"
)

// Where is what most services answer.
type Where struct {
	Server  string
	Attempt int
	Value   float64
}

func main() {
	gridrpc.Main(func(s *gridrpc.Server) error {
		s.Places, s.Queue = 2, 2
		return errors.Join(
			gridrpc.Register(s, "square", square),
			gridrpc.Register(s, "hold", hold),
			gridrpc.Register(s, "fail", fail),
			gridrpc.Register(s, "panic", crash),
		)
	})
}

func square(_ context.Context, c *gridrpc.Call, in *float64) (*Where, error) {
	return &Where{Server: c.Server(), Attempt: c.Attempt, Value: *in * *in}, nil
}

// hold never ends in attempts below *in, and says that it runs.
func hold(ctx context.Context, c *gridrpc.Call, in *float64) (*Where, error) {
	c.Progress(1, 2, "holding")
	if c.Attempt < int(*in) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &Where{Server: c.Server(), Attempt: c.Attempt, Value: *in}, nil
}

func fail(context.Context, *gridrpc.Call, *float64) (*Where, error) {
	return nil, errors.New("as it was told")
}

func crash(context.Context, *gridrpc.Call, *float64) (*Where, error) { panic("as it was told") }
