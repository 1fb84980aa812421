// Command square is the server of gridrpc/README.md: it squares a number.
package main

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/server"
)

func square(_ context.Context, _ *server.Call, in *float64) (*float64, error) {
	out := *in * *in
	return &out, nil
}

func main() {
	server.Main(func(s *server.Server) error { return server.Register(s, "square", square) })
}
