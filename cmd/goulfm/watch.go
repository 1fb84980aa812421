package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

const watchUsage = `usage: goulfm watch [--socket PATH] [--json]

Prints who of a job of goulfm run --watch lives, and then what happens to whom, an event a line, until the job is
over: its number, and what it is. Programs hear the same by package fd/watch.

  --socket PATH  of the job, as its launcher tells it (default: that of GOULFM_WATCH)
  --json         a line of JSON for each: seq, what, name, proc, node, evidence, atNs (CLOCK_MONOTONIC);
                 proc and node are -1 where an event is about none

Exit code: 0 when the job is over, whatever became of it; 1 no such job, or its launcher is gone.
`

// watchJob is goulfm watch.
func watchJob(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("goulfm watch", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	socket, asJSON := f.String("socket", "", ""), f.Bool("json", false, "")
	switch err := flagtext.Parse(f, args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, watchUsage)
		return 0
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("%s: goulfm watch takes flags only", f.Arg(0))
		fallthrough
	case err != nil:
		fmt.Fprintf(errs, "goulfm watch: %v\ngoulfm watch -h lists the flags\n", err)
		return launch.ExitUsage
	}
	if err := printEvents(ctx, cmp.Or(*socket, os.Getenv(watch.Variable)), out, *asJSON); err != nil {
		fmt.Fprintf(errs, "goulfm watch: %v\n", err)
		return 1
	}
	return 0
}

// printEvents prints all events of the job whose socket is at a path.
func printEvents(ctx context.Context, path string, out io.Writer, asJSON bool) error {
	if path == "" {
		return fmt.Errorf("%w: say with --socket where, as goulfm run --watch does, or set %s", watch.ErrNoJob, watch.Variable)
	}
	w, err := watch.OpenAt(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	for e, err := range w.Events() {
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%d %s", e.Seq, e)
		if asJSON {
			text, err := json.Marshal(e)
			if err != nil {
				return err
			}
			line = string(text)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}
