package platform_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/goulfm/goulfm/gridrpc/platform"
)

// A program starts a platform with three masters, and ends the platform with an interrupt.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := platform.Run(ctx, platform.Config{
		Command: "/usr/local/bin/gridrpc",
		Program: []string{"./examples/square"},
		Masters: 3,
		Tree:    "2x4",
	})
	if err != nil {
		log.Print(err)
	}
}
