// Detect measures how long it takes from a SIGKILL until the pending receive of
// every survivor has returned ulfm.ErrProcFailed. Started by itself it runs a job
// of -n ranks -runs times through the launcher and prints minimum, median and
// maximum; the ranks are the same program.
//
//	go build -o goulfm ./cmd/goulfm
//	go run ./bench/detect -goulfm ./goulfm -n 16 -touch 1024
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/bench/internal/trial"
	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
	"golang.org/x/sys/unix"
)

func main() {
	goulfm := flag.String("goulfm", "goulfm", "the launcher's binary")
	n := flag.Int("n", 16, "ranks, at least 3")
	runs := flag.Int("runs", 21, "jobs to run")
	touchMiB := flag.Int("touch", 0, "MiB that the victim has written before it dies")
	busy := flag.Bool("busy", false, "survivors but one compute instead of waiting; the one tells")
	repair := flag.Bool("repair", false, "survivors shrink at once, and compete with those that do not know yet")
	asRank := flag.Bool("rank", false, "internal: be a rank of the job")
	flag.Parse()
	if *asRank {
		comm.Main(func(ctx context.Context, w *comm.Comm) error { return measure(ctx, w, *touchMiB, *busy, *repair) })
		return
	}
	if *n < 3 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "detect: -n must be at least 3, -runs at least 1")
		os.Exit(2)
	}
	if err := drive(*goulfm, *n, *runs, *touchMiB, *busy, *repair); err != nil {
		fmt.Fprintln(os.Stderr, "detect:", err)
		os.Exit(1)
	}
}

func drive(goulfm string, n, runs, touchMiB int, busy, repair bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var us []float64
	for range runs {
		var out, errs bytes.Buffer
		cmd := exec.Command(goulfm, "run", "-q", "-n", strconv.Itoa(n), self, "-rank", "-touch", strconv.Itoa(touchMiB), fmt.Sprintf("-busy=%v", busy), fmt.Sprintf("-repair=%v", repair))
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w\n%s", err, errs.String())
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
		if err != nil {
			return fmt.Errorf("a job printed %q", out.String())
		}
		us = append(us, v)
	}
	slices.Sort(us)
	fmt.Printf("# ranks  touched_MiB  runs     min_us  median_us     max_us\n%7d  %11d  %4d  %9.1f  %9.1f  %9.1f\n",
		n, touchMiB, runs, us[0], us[len(us)/2], us[len(us)-1])
	return nil
}

// nowNs reads the clock that all processes of the machine share.
func nowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // it exists on every Linux
	}
	return ts.Nano()
}

// sleepUntil sleeps in the kernel: a timer of the runtime would wake a thread.
func sleepUntil(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// leadNs is how far ahead the death is announced: everybody waits by then.
const leadNs = 100e6

// quietNs is how long after the death nobody does anything else.
const quietNs = 50e6

func measure(ctx context.Context, w *comm.Comm, touchMiB int, busy, repair bool) error {
	victim := w.Size() - 1
	at := []int64{0}
	if w.Rank() == victim {
		touched := make([]byte, touchMiB<<20)
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
	if busy && w.Rank() != 0 {
		for x := 1.0; nowNs() < at[0]+leadNs; x *= 1.0000001 {
		}
	}
	_, err := comm.Recv(ctx, w.From(victim), make([]byte, 1))
	took := []int64{nowNs() - at[0]}
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return fmt.Errorf("the receive from the victim returned %w", err)
	}
	if busy && w.Rank() != 0 {
		took[0] = 0
	}
	// The repair would compete with those whose receive has not returned yet: here
	// only the detection is measured. -repair leaves this out.
	if !repair {
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
