package server_test

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/server"
	_ "github.com/goulfm/goulfm/gridrpc/store/s3" // for "gridrpc up --store s3://BUCKET"
)

// The main function of a program of servers, which "gridrpc up PROGRAM" starts.
func ExampleMain() {
	square := func(_ context.Context, c *server.Call, in *float64) (*float64, error) {
		c.Log.Printf("attempt %d of call %s", c.Attempt, c.ID)
		out := *in * *in
		return &out, nil
	}
	server.Main(func(s *server.Server) error { return server.Register(s, "square", square) })
}
