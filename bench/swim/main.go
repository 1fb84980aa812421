package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
)

const program = "swim"

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case beMember:
			member(os.Args[2:])
			return
		case beRank:
			rank(os.Args[2:])
			return
		}
	}
	var p plan
	cli.Check(program, p.parse(os.Args[1:]))
	cli.Run(program, func(ctx context.Context) error { return measure(ctx, p) })
}

// A plan is the measurements of a run.
type plan struct {
	sizes  []int
	faults []string
	runs   int
	period time.Duration
	swim   string // settings of memberlist: lan, local
	csv    string // file; empty: none
	goulfm string // empty: built
	limit  time.Duration
}

func (p *plan) parse(args []string) error {
	f := cli.Flags(program, "usage: go run . [flags]: the time until all know of a lost member, by SWIM and by goulfm", os.Stderr)
	sizes := f.String("n", "4,8,16", "members")
	faults := f.String("faults", faultKill+","+faultStop, "faults: kill, stop")
	f.IntVar(&p.runs, "runs", 20, "runs of each side")
	f.DurationVar(&p.period, "period", 100*time.Millisecond, "of probes and of heartbeats")
	f.StringVar(&p.swim, "swim", "lan", "memberlist's settings, scaled to the period: lan, local")
	f.StringVar(&p.csv, "csv", "", "write each run to this file, too")
	f.StringVar(&p.goulfm, "goulfm", "", "the command (default: built from this checkout)")
	f.DurationVar(&p.limit, "limit", time.Minute, "of one run; a member that does not know by then never does")
	if err := f.Parse(args); err != nil {
		return err
	}
	for _, text := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 3 || n > 64 {
			return fmt.Errorf("-n %s: want numbers from 3 to 64", *sizes)
		}
		p.sizes = append(p.sizes, n)
	}
	for _, fault := range strings.Split(*faults, ",") {
		if fault != faultKill && fault != faultStop {
			return fmt.Errorf("-faults %s: want %s, %s or both", *faults, faultKill, faultStop)
		}
		p.faults = append(p.faults, fault)
	}
	if p.swim != "lan" && p.swim != "local" {
		return fmt.Errorf("-swim %s: want lan or local", p.swim)
	}
	if p.runs < 1 || p.period < 10*time.Millisecond {
		return errors.New("want at least one run, and a period of at least 10ms")
	}
	return nil
}

// The faults of a member.
const (
	faultKill = "kill"
	faultStop = "stop"
)

// A result is one run: the time from the fault until the first and the last of the others knew.
type result struct {
	side        string
	n           int
	fault       string
	run         int
	first, last time.Duration
}

// measure runs both sides in turns, and prints the table.
func measure(ctx context.Context, p plan) error {
	goulfm, remove, err := p.command(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var results []result
	for _, n := range p.sizes {
		for _, fault := range p.faults {
			for run := range p.runs {
				for _, s := range []side{swim{p}, ours{p, goulfm}} {
					r, err := runOnce(ctx, p, s, n, fault, run)
					if err != nil {
						return fmt.Errorf("%s, %d members, %s, run %d: %w", s.name(), n, fault, run, err)
					}
					results = append(results, r)
				}
			}
			fmt.Fprintf(os.Stderr, "%d members, %s: done\n", n, fault)
		}
	}
	fmt.Print(table(results, p.period))
	if p.csv == "" {
		return nil
	}
	return writeCSV(p.csv, p, results)
}

// settle is the number of periods without faults, once all members are in.
const settle = 5

// runOnce starts a group, applies a fault to a member, and waits until all others know.
func runOnce(ctx context.Context, p plan, s side, n int, fault string, run int) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	victim := run % n
	g, err := s.start(ctx, n, victim)
	if err != nil {
		return result{}, err
	}
	defer g.end()
	select {
	case <-time.After(settle*p.period + rand.N(p.period)):
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
	began := nowNs()
	if err := g.strike(victim, fault); err != nil {
		return result{}, err
	}
	r := result{side: s.name(), n: n, fault: fault, run: run}
	for known := 1; known < n; known++ {
		at, err := g.awaitKnown(ctx, began)
		if err != nil {
			return result{}, fmt.Errorf("%d of %d know: %w", known-1, n-1, err)
		}
		after := time.Duration(at - began)
		if r.last = max(r.last, after); known == 1 || after < r.first {
			r.first = after
		}
	}
	return r, nil
}

func writeCSV(name string, p plan, results []result) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"side", "members", "fault", "period_ms", "run", "first_ms", "all_ms"}) // Flush returns the error
	for _, r := range results {
		_ = w.Write([]string{r.side, strconv.Itoa(r.n), r.fault, ms(p.period), strconv.Itoa(r.run), ms(r.first), ms(r.last)})
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
