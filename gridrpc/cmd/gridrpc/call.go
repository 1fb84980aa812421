package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// flags returns a flag set whose --dir is the folder of the platform.
func flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Func("dir", "folder of the platform", func(dir string) error {
		return errors.Join(os.Setenv(gridrpc.EnvDir, dir), os.Unsetenv(gridrpc.EnvIdentity)) // what is said here is meant
	})
	f.Func("identity", "folder of an identity, where the platform's folder is not seen", func(dir string) error { return os.Setenv(gridrpc.EnvIdentity, dir) })
	return f
}

// parse reads flags; a mistake is printed with the usage.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "gridrpc:", err)
		}
		return errUsage
	}
	return nil
}

func call(ctx context.Context, args []string) error {
	f := flags("call")
	watch := f.Bool("watch", false, "tell what happens")
	timeout := f.Duration("timeout", 0, "give up after")
	detect := f.Duration("detect", 30*time.Second, "until a silent server is given up")
	join, name := joinFlags(f)
	keep := f.Duration("keep", 0, "let the call go on without this command, and hold its outcome for so long")
	if err := parse(f, args); err != nil || f.NArg() < 1 || f.NArg() > 2 {
		return errUsage
	}
	in, err := argument(f.Arg(1))
	if err != nil {
		return err
	}
	limited := ctx
	if *keep > 0 { // it outlives an interrupt
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
	s, err := gridrpc.Service[json.RawMessage, json.RawMessage](c, f.Arg(0)).
		Go(limited, &in, gridrpc.InCodec(gridrpc.JSON), gridrpc.Watch(teller(*watch)), gridrpc.Keep(*keep))
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

// teller prints what happens to a call: all, or what is out of the ordinary.
func teller(all bool) func(gridrpc.Event) {
	begun := time.Now()
	return func(e gridrpc.Event) {
		if all || e.Attempt > 1 && e.What == gridrpc.Submitted || e.What == gridrpc.Lost || e.What == gridrpc.Suspected || e.What == gridrpc.Trusted {
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

// argument returns the JSON that an argument of the command line means.
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
		err = fmt.Errorf("not JSON: %.60q", data)
	}
	return data, err
}
