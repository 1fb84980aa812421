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

const watchUsage = `usage: goulfm watch [flags]

Prints the live processes of a job that goulfm run --watch has started, and then each event of one
process, a line each with its number, until the job is over. Package fd/watch gives the same events to
programs.

  goulfm run --watch -n 4 ./heat    the event log has the PATH of the socket
  goulfm watch --socket PATH --json

Flags:
  --socket PATH  socket of the job (default: GOULFM_WATCH, which the ranks have)
  --json         a line of JSON for each event: seq, what, name, proc, node, evidence, atNs
                 (CLOCK_MONOTONIC); proc and node are -1 in an event without a process or a node

Exit code: 0 when the job is over, whatever its outcome; 1 no such job, or its launcher is gone; 2
usage.
`

type watchFlags struct {
	socket string
	json   bool
}

func (w *watchFlags) register(f *flag.FlagSet) {
	f.StringVar(&w.socket, "socket", "", "")
	f.BoolVar(&w.json, "json", false, "")
}

// watchJob is goulfm watch.
func watchJob(ctx context.Context, args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("goulfm watch", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var flags watchFlags
	flags.register(f)
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
	if err := printEvents(ctx, cmp.Or(flags.socket, os.Getenv(watch.Variable)), out, flags.json); err != nil {
		fmt.Fprintf(errs, "goulfm watch: %v\n", err)
		return 1
	}
	return 0
}

// printEvents prints all events of the job that has its socket at path.
func printEvents(ctx context.Context, path string, out io.Writer, asJSON bool) error {
	if path == "" {
		return fmt.Errorf("%w: name the socket that goulfm run --watch has printed with --socket, or set %s", watch.ErrNoJob, watch.Variable)
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
