// Command square is the server of gridrpc/README.md: it squares a number.
package main

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc"
)

func square(_ context.Context, _ *gridrpc.Call, in *float64) (*float64, error) {
	out := *in * *in
	return &out, nil
}

func main() {
	gridrpc.Main(func(s *gridrpc.Server) error { return gridrpc.Register(s, "square", square) })
}
