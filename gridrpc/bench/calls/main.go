// Command calls measures the cost of calls beside plain grpc-go calls: in turns, over the same TLS,
// between the same processes. It prints a table; each ratio is the median of the ratios of all
// turns.
//
//	go run ./bench/calls               all, some minutes; in the folder of the module
//	go run ./bench/calls -only decisions -tree 8x12
//	go run ./bench/calls -turns 3 -for 200ms
//
// The plain call is Node.Probe, which each process of a platform answers with about 40 bytes. Calls
// have an argument and a result of 64 bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

// plan sets the amount of measurements.
type plan struct {
	turns   int
	each    time.Duration // one turn of one side
	callers int
	tree    string // of the platform for decisions
	losses  int
}

// row is a line of the table.
type row struct{ what, ours, plain, ratio, goal string }

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("calls", flag.ExitOnError)
	var p plan
	f.IntVar(&p.turns, "turns", 9, "of each side")
	f.DurationVar(&p.each, "for", time.Second, "how long a turn is")
	f.IntVar(&p.callers, "callers", 64, "that call at a time, where throughput is measured")
	f.StringVar(&p.tree, "tree", "8x12", "where decisions are measured: two numbers, agents and servers below each")
	f.IntVar(&p.losses, "losses", 10, "of servers, of each kind")
	only := f.String("only", "", "rule, calls, bulk, decisions, losses or store; several by commas; default all")
	_ = f.Parse(args) // it exits
	if p.turns < 1 || p.each <= 0 || p.callers < 1 || p.losses < 1 {
		return fmt.Errorf("want positive numbers")
	}
	fmt.Println("| measurement | ours | plain | ours / plain | goal |\n|---|---|---|---|---|")
	for _, part := range []struct {
		name string
		run  func(context.Context, plan) ([]row, error)
	}{{"rule", measureRule}, {"calls", measureCalls}, {"bulk", measureBulk}, {"decisions", measureDecisions}, {"losses", measureLosses}, {"store", measureStore}} {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), part.name) {
			continue
		}
		rows, err := part.run(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		for _, r := range rows {
			fmt.Printf("| %s | %s | %s | %s | %s |\n", r.what, r.ours, r.plain, r.ratio, r.goal)
		}
	}
	return nil
}

// inTurns measures both sides one after the other, repeatedly. It returns the median of each, and
// the median of the ratios.
func inTurns(turns int, ours, plain func() (float64, error)) (a, b, ratio float64, err error) {
	var as, bs, ratios []float64
	for range turns {
		x, err := ours()
		if err != nil {
			return 0, 0, 0, err
		}
		y, err := plain()
		if err != nil {
			return 0, 0, 0, err
		}
		as, bs, ratios = append(as, x), append(bs, y), append(ratios, x/y)
	}
	return median(as), median(bs), median(ratios), nil
}

// median of at least one value; it sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// latency returns the mean time of one call after the other, in seconds.
func latency(each time.Duration, call func() error) (float64, error) {
	begun, n := time.Now(), 0
	for n == 0 || time.Since(begun) < each {
		if err := call(); err != nil {
			return 0, err
		}
		n++
	}
	return time.Since(begun).Seconds() / float64(n), nil
}

// throughput returns the calls per second of a number of callers.
func throughput(callers int, each time.Duration, call func() error) (float64, error) {
	type end struct {
		n   int
		err error
	}
	ends := make(chan end, callers)
	begun := time.Now()
	for range callers {
		go func() {
			var e end
			for e.n == 0 || e.err == nil && time.Since(begun) < each {
				e.err = call()
				e.n++
			}
			ends <- e
		}()
	}
	all := 0
	var err error
	for range callers {
		e := <-ends
		all += e.n
		if e.err != nil {
			err = e.err
		}
	}
	return float64(all) / time.Since(begun).Seconds(), err
}

func micro(seconds float64) string { return fmt.Sprintf("%.0f us", 1e6*seconds) }

func rate(perSecond float64) string { return fmt.Sprintf("%.0f/s", perSecond) }

func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }
