package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
	"golang.org/x/sys/unix"
)

type options struct {
	goulfm  string
	n, runs int
	touch   int  // MiB
	busy    bool // survivors but rank 0 compute
	repair  bool // survivors shrink at once
	rank    bool // this is a rank of a job
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("detect", err)
	if o.rank {
		comm.Main(func(ctx context.Context, w *comm.Comm) error { return measure(ctx, w, o) })
		return
	}
	cli.Run("detect", func(ctx context.Context) error { return drive(ctx, o, os.Stdout) })
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("detect", "usage: measure detect [flags]\nTime from a SIGKILL until every survivor's receive has failed.", out)
	fs.StringVar(&o.goulfm, "goulfm", "goulfm", "the launcher's binary")
	fs.IntVar(&o.n, "n", 16, "ranks, at least 3")
	fs.IntVar(&o.runs, "runs", 21, "jobs to run")
	fs.IntVar(&o.touch, "touch", 0, "MiB that the victim has written before it dies")
	fs.BoolVar(&o.busy, "busy", false, "survivors but one compute instead of waiting; the one tells")
	fs.BoolVar(&o.repair, "repair", false, "survivors shrink at once, and compete with those that do not know yet")
	fs.BoolVar(&o.rank, "rank", false, "internal: be a rank of the job")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 3 || o.runs < 1 || o.touch < 0 || fs.NArg() > 0 {
		return o, errors.New("want -n from 3 up, -runs from 1 up, -touch from 0 up, no other argument (-h for help)")
	}
	return o, nil
}

func drive(ctx context.Context, o options, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var us []float64
	for range o.runs {
		v, err := run(ctx, o, self)
		if err != nil {
			return err
		}
		us = append(us, v)
	}
	slices.Sort(us)
	_, err = fmt.Fprintf(out, "# ranks  touched_MiB  runs     min_us  median_us     max_us\n%7d  %11d  %4d  %9.1f  %9.1f  %9.1f\n",
		o.n, o.touch, o.runs, us[0], us[len(us)/2], us[len(us)-1])
	return err
}

// run runs one job and returns what it prints, in us.
func run(ctx context.Context, o options, self string) (us float64, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, o.goulfm, "run", "-q", "-n", strconv.Itoa(o.n), self, "detect", "-rank",
		"-touch", strconv.Itoa(o.touch), fmt.Sprintf("-busy=%v", o.busy), fmt.Sprintf("-repair=%v", o.repair))
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, errs.String())
	}
	if us, err = strconv.ParseFloat(strings.TrimSpace(out.String()), 64); err != nil {
		return 0, fmt.Errorf("a job printed %q", out.String())
	}
	return us, nil
}

// nowNs reads the clock that all processes of the machine share.
func nowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // the clock exists on every Linux
	}
	return ts.Nano()
}

// sleepUntil sleeps in the kernel: a timer of the runtime would wake a thread.
func sleepUntil(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// leadNs is the time between the announcement of the death and the death: all ranks wait by then.
const leadNs = 100e6

// quietNs is the time after the death in which no rank does anything else.
const quietNs = 50e6

func measure(ctx context.Context, w *comm.Comm, o options) error {
	victim := w.Size() - 1
	at := []int64{0}
	if w.Rank() == victim {
		touched := make([]byte, o.touch<<20)
		for i := 0; i < len(touched); i += 4096 {
			touched[i] = 1
		}
		at[0] = nowNs() + leadNs
	}
	if err := collectives.Bcast(ctx, w, victim, at); err != nil {
		return err
	}
	if w.Rank() == victim {
		for nowNs() < at[0] {
		}
		trial.Die()
	}
	if o.busy && w.Rank() != 0 {
		for x := 1.0; nowNs() < at[0]+leadNs; x *= 1.0000001 {
		}
	}
	_, err := comm.Recv(ctx, w.From(victim), make([]byte, 1))
	took := []int64{nowNs() - at[0]}
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return fmt.Errorf("the receive from the victim returned %w", err)
	}
	if o.busy && w.Rank() != 0 {
		took[0] = 0
	}
	// A repair would compete with the ranks that still wait in their receive: here only the
	// detection is measured. -repair omits this wait.
	if !o.repair {
		sleepUntil(at[0] + quietNs)
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		return err
	}
	if err := collectives.Allreduce(ctx, s, took, took, collectives.Max); err != nil {
		return err
	}
	if s.Rank() == 0 {
		fmt.Printf("%.1f\n", float64(took[0])/1e3)
	}
	return nil
}
