package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// call calls a service.
func call(ctx context.Context, args []string) error {
	f := flags("call")
	watch := f.Bool("watch", false, "print all events of the call")
	timeout := f.Duration("timeout", 0, "give up after this time; 0: never")
	detect := f.Duration("detect", 30*time.Second, "give a silent server up within this time")
	join, name := joinFlags(f)
	keep := f.Duration("keep", 0, "let the call continue without this command, and hold its result this long")
	if err := parse(f, args, 1, 2); err != nil {
		return err
	}
	in, err := argument(f.Arg(1))
	if err != nil {
		return err
	}
	limited := ctx
	if *keep > 0 { // outlives an interrupt
		limited = context.WithoutCancel(ctx)
	}
	if *timeout > 0 {
		var stop context.CancelFunc
		limited, stop = context.WithTimeout(limited, *timeout)
		defer stop()
	}
	options := []gridrpc.DialOption{gridrpc.Detect(*detect)}
	if *join != "" {
		options = append(options, gridrpc.As(gridrpc.Membership{Token: *join, Name: *name}))
	}
	c, err := dial(limited, options...)
	if err != nil {
		return err
	}
	defer c.Close()
	limited, give := context.WithCancelCause(limited) // never given up at the end: a kept call outlives this command
	s, err := gridrpc.Service[json.RawMessage, json.RawMessage](c, f.Arg(0)).
		Go(limited, &in, gridrpc.InCodec(gridrpc.JSON), gridrpc.Watch(typo(f.Arg(0), give, teller(*watch))), gridrpc.Keep(*keep))
	if err != nil {
		return err
	}
	if *keep > 0 {
		fmt.Fprintf(os.Stderr, "call %s is kept for %v after its end: gridrpc attach %s\n", s.ID(), *keep, s.ID())
	} else {
		ctx = context.WithoutCancel(ctx) // its end is that of limited
	}
	return printResult(ctx, s)
}

// typo gives up a call of an unknown service if a service with almost the same name is offered.
func typo(service string, give context.CancelCauseFunc, tell func(gridrpc.Event)) func(gridrpc.Event) {
	return func(e gridrpc.Event) {
		if meant := didYouMean(service, e.Near, ""); e.What == gridrpc.Unoffered && meant != "" {
			give(fmt.Errorf("%w: no server offers %s%s", gridrpc.ErrNoService, service, meant))
			return
		}
		tell(e)
	}
}

// unusual are the events that are always printed.
var unusual = []gridrpc.EventKind{gridrpc.Lost, gridrpc.Suspected, gridrpc.Trusted, gridrpc.Unoffered, gridrpc.Unheard}

// teller prints the events of a call: all, or the unusual ones.
func teller(all bool) func(gridrpc.Event) {
	begun := time.Now()
	return func(e gridrpc.Event) {
		if all || e.Attempt > 1 && e.What == gridrpc.Submitted || slices.Contains(unusual, e.What) {
			fmt.Fprintf(os.Stderr, "+%.3fs %v\n", time.Since(begun).Seconds(), e)
		}
	}
}

func printResult(ctx context.Context, s *gridrpc.Session[json.RawMessage]) error {
	out, err := s.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println(string(*out))
	return nil
}

// argument returns the JSON for an argument of the command line.
func argument(arg string) (json.RawMessage, error) {
	data := []byte(arg)
	var err error
	switch {
	case arg == "":
		data = []byte("{}")
	case arg == "-":
		data, err = io.ReadAll(os.Stdin)
	case strings.HasPrefix(arg, "@"):
		data, err = os.ReadFile(arg[1:])
	}
	if err == nil && !json.Valid(data) {
		err = mistake{"call", fmt.Sprintf("argument %.60s: not JSON, such as '{\"n\":400}'", data)}
	}
	return data, err
}
