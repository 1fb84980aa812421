// Command wait is a server with a body that waits for a number of seconds, in place of work on more
// servers than processors.
package main

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/gridrpc/server"
)

func main() {
	server.Main(func(s *server.Server) error {
		s.Places, s.Queue = 1, 1 // as in the simulation beside it
		return server.Register(s, "wait", wait, server.Work(func(seconds *float64) float64 { return *seconds }))
	})
}

func wait(ctx context.Context, _ *server.Call, seconds *float64) (*float64, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(*seconds * float64(time.Second))):
		return seconds, nil
	}
}
