package gridrpc_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/platform"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// init makes a copy of the test program a process of the platform of an example.
func init() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case "master":
		if err := serveMaster(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "server":
		server.Main(services)
		os.Exit(0)
	}
}

// serveMaster is the subcommand of gridrpc that platform.Run starts for the master.
func serveMaster(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	a := platform.Agent{Master: true}
	f := flag.NewFlagSet("master", flag.ContinueOnError)
	f.StringVar(&a.Name, "name", "", "of the process")
	f.IntVar(&a.Tier, "tier", 0, "distance from the root")
	f.DurationVar(&a.Detect, "detect", 0, "time to detect a death")
	f.DurationVar(&a.Life, "life", 0, "of certificates")
	f.DurationVar(&a.RenewAfter, "renew-after", 0, "age of renewed certificates")
	f.IntVar(&a.Port, "port", 0, "of the address")
	if err := f.Parse(args); err != nil {
		return err
	}
	return platform.ServeAgent(ctx, a)
}

// services registers the services of the examples.
func services(s *server.Server) error {
	return errors.Join(
		server.Register(s, "square", func(_ context.Context, _ *server.Call, in *float64) (*float64, error) {
			out := *in * *in
			return &out, nil
		}),
		server.Register(s, "simulate", func(ctx context.Context, c *server.Call, steps *int) (*int, error) {
			c.Progress(1, float64(*steps), "")
			<-ctx.Done() // a long computation, until its end or its cancellation
			return nil, ctx.Err()
		}),
		server.Register(s, "crash", func(context.Context, *server.Call, *int) (*int, error) {
			os.Exit(3)
			return nil, nil
		}),
	)
}

// startPlatform starts a platform with one server, as "gridrpc up --tree 1 PROGRAM" does, and
// returns when the platform serves. The result ends the platform.
func startPlatform() (stop func()) {
	base, err := os.MkdirTemp("", "gridrpc-example")
	check(err)
	self, err := os.Executable()
	check(err)
	before := os.Stdout
	events, log, err := os.Pipe() // platform.Run prints its event log on the standard output
	check(err)
	os.Stdout = log
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- platform.Run(ctx, platform.Config{
			Dir: filepath.Join(base, "platform"), Command: self, Program: []string{self, "server"}, Tree: "1",
			NoRestart: true, // a process that starts later would print to the output of the example
		})
		log.Close()
	}()
	lines := bufio.NewScanner(events)
	for lines.Scan() && !strings.Contains(lines.Text(), "serving in") {
	}
	os.Stdout = before
	go func() { _, _ = io.Copy(io.Discard, events) }()
	return func() {
		cancel()
		check(<-ended)
		events.Close()
		os.RemoveAll(base)
		os.Unsetenv(gridrpc.EnvDir)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// within bounds an example.
const within = time.Minute
