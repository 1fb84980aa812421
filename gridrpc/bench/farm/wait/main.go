// Command wait is a server whose body waits for as many seconds as it is asked to: a stand-in for
// work, where there are more servers than processors.
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
