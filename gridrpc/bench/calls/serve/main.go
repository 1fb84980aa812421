// Command serve is the server of the measurements beside it.
package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/gridrpc"
)

// places is more than there are callers: nobody is refused.
const places = 256

func main() {
	gridrpc.Main(func(s *gridrpc.Server) error {
		s.Places, s.Queue = places, places
		return errors.Join(gridrpc.Register(s, "echo", echo), gridrpc.Register(s, "stay", stay))
	})
}

func echo(_ context.Context, _ *gridrpc.Call, in *[]byte) (*[]byte, error) { return in, nil }

// stay never ends in the first attempt, and tells that it runs.
func stay(ctx context.Context, c *gridrpc.Call, in *int) (*int, error) {
	c.Progress(0, 1, "here")
	if c.Attempt > 1 {
		return &c.Attempt, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}
