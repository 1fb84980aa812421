package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/goulfm/goulfm/internal/launch"
	"github.com/goulfm/goulfm/internal/mono"
	"github.com/goulfm/goulfm/internal/sim"
)

const simUsage = `usage: goulfm sim [flags]

Simulates clusters in virtual time, with the control rules that real processes
run: random kills at any step, late news of deaths, slow messages, several
communicators and agreements at once. After every step it checks that all living
members decide the same, that a decision combines every survivor, that it never
changes, and more; at the end, that everybody has ended.

  -seed N        first seed (default: from the clock, printed)
  -agreements-total N   stop after so many agreements (default 100000)
  -replay SEED   repeat one run and print every event; give the other flags as the
                 failure printed them
  -n N           processes of each run, 2 to 64 (default: drawn from the seed)
  -nmax N        most processes that are drawn
  -agreements N  agreements of each run (default: drawn)
  -watchdog N    nanoseconds after which agreements send again (default 0: off)
  -workers N     runs at the same time (default: one per core)

Exit code: 0, 1 when an invariant was broken, 2 usage.
`

func simulate(args []string) int {
	f := flag.NewFlagSet("goulfm sim", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var o sim.Options
	seed := f.Uint64("seed", uint64(time.Now().UnixNano()), "")
	want := f.Int("agreements-total", 100_000, "")
	replay := f.Uint64("replay", 0, "")
	f.IntVar(&o.N, "n", 0, "")
	f.IntVar(&o.NMax, "nmax", 0, "")
	f.IntVar(&o.Agreements, "agreements", 0, "")
	watchdog := f.Int64("watchdog", 0, "")
	workers := f.Int("workers", runtime.GOMAXPROCS(0), "")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(simUsage)
		return 0
	case err != nil:
		return simUsageError("%v", err)
	case f.NArg() > 0:
		return simUsageError("unexpected argument %q", f.Arg(0))
	case o.N != 0 && (o.N < 2 || o.N > sim.ProcessesMax):
		return simUsageError("-n %d: want 2 to %d", o.N, sim.ProcessesMax)
	case *workers < 1 || *want < 1 || o.NMax < 0 || o.NMax == 1 || o.Agreements < 0 || *watchdog < 0:
		return simUsageError("a number is out of range")
	}
	o.Watchdog = mono.Duration(*watchdog)
	if *replay != 0 {
		o.Seed = *replay
		return replayOne(o)
	}
	o.Seed = *seed
	return simulateMany(o, *workers, *want)
}

func simUsageError(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "goulfm sim: "+format+"\ngoulfm sim -h lists the flags\n", args...)
	return launch.ExitUsage
}

func replayOne(o sim.Options) int {
	o.Trace = func(line string) { fmt.Println(line) }
	report, err := sim.Run(o)
	fmt.Printf("trace hash %016x: %d agreements, %d deaths, %d steps, %s\n", report.Hash, report.Agreements, report.Deaths, report.Steps, report.Swarm)
	return verdict(err)
}

func simulateMany(o sim.Options, workers, want int) int {
	fmt.Printf("seed %d, %d workers\n", o.Seed, workers)
	start, told := time.Now(), time.Now()
	total, err := sim.RunMany(o, workers, func(t sim.Total) bool {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%d runs, %d of %d agreements, %d deaths\n", t.Runs, t.Agreements, want, t.Deaths)
		}
		return t.Agreements >= want
	})
	took := time.Since(start).Seconds()
	fmt.Printf("%d runs, %d agreements, %d deaths, %d communicators, %d revocations, %d frames in %.1f s: %.0f agreements/s, %.0f deaths/s\n",
		total.Runs, total.Agreements, total.Deaths, total.Communicators, total.Revokes, total.Frames, took,
		float64(total.Agreements)/took, float64(total.Deaths)/took)
	return verdict(err)
}

func verdict(err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("no violation")
	return 0
}
