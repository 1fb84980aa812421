// Command serve is the server of the measurements beside it.
package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/gridrpc/server"

	_ "github.com/goulfm/goulfm/gridrpc/store/jetstream"
)

// places is above the number of callers, so that no call is refused.
const places = 256

func main() {
	server.Main(func(s *server.Server) error {
		s.Places, s.Queue = places, places
		return errors.Join(server.Register(s, "echo", echo), server.Register(s, "stay", stay))
	})
}

func echo(_ context.Context, _ *server.Call, in *[]byte) (*[]byte, error) { return in, nil }

// stay never ends in the first attempt, and reports progress.
func stay(ctx context.Context, c *server.Call, in *int) (*int, error) {
	c.Progress(0, 1, "here")
	if c.Attempt > 1 {
		return &c.Attempt, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}
