package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
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

// The faults of a member.
const (
	faultKill = "kill" // SIGKILL: its connections reveal the failure, too
	faultStop = "stop" // SIGSTOP: only its silence reveals the failure
)

// A result is one run: the time from the fault until the first and the last of the other members
// had learned of it. A wrong run has no times, since a living member was declared dead.
type result struct {
	side        string
	c           cell
	run         int
	first, last time.Duration
	wrong       bool
}

// measure takes the figures of a plan one after the other.
func measure(ctx context.Context, p plan) error {
	load, err := machine.Quiet(p.busy)
	if err != nil {
		return err
	}
	goulfm, remove, err := p.command(ctx)
	if err != nil {
		return err
	}
	defer remove()
	failed := 0
	for _, id := range p.figures {
		results, err := p.take(ctx, id, p.sides(goulfm))
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		d := drawing{id: id, of: p.layout(id), results: results}
		f := d.draw(load, p.runs)
		failed += d.failed
		if err := (figure.Place{IDs: ids, Dir: p.out, Page: p.table}).Put(f, os.Stdout); err != nil {
			return err
		}
	}
	if failed > 0 && !p.quick {
		return fmt.Errorf("%d claims do not hold", failed)
	}
	return nil
}

// sides returns the three sides in the order of their turns.
func (p plan) sides(goulfm string) []side {
	return []side{swim{p, true}, swim{p, false}, ours{p, goulfm}}
}

// take runs all sides in turns, for each cell of a figure.
func (p plan) take(ctx context.Context, id string, sides []side) (results []result, err error) {
	for _, c := range p.layout(id).cells() {
		for run := range p.runs {
			for _, s := range sides {
				r, err := p.runOnce(ctx, s, c, run)
				if errors.Is(err, errWrong) {
					fmt.Fprintf(os.Stderr, "%s: %s, %v, run %d: %v\n", program, s.name(), c, run, err)
					r, err = result{side: s.name(), c: c, run: run, wrong: true}, nil
				}
				if err != nil {
					return nil, fmt.Errorf("%s, %v, run %d: %w", s.name(), c, run, err)
				}
				results = append(results, r)
			}
		}
		fmt.Fprintf(os.Stderr, "%s: %s, %v: done\n", program, id, c)
	}
	return results, nil
}

// settle is the number of periods that pass between the last join and the fault.
const settle = 5

// runOnce starts a group, makes a member fail, and waits until all other members have learned of
// it.
func (p plan) runOnce(ctx context.Context, s side, c cell, run int) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	victim := run % c.n
	g, err := s.start(ctx, c, victim)
	if err != nil {
		return result{}, err
	}
	defer g.end()
	select {
	case <-time.After(settle*c.period + rand.N(c.period)):
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
	began := nowNs()
	if err := g.strike(victim, c.fault); err != nil {
		return result{}, err
	}
	times, err := g.awaitKnown(ctx, c.n, victim, began)
	if err != nil {
		return result{}, err
	}
	return result{side: s.name(), c: c, run: run, first: slices.Min(times), last: slices.Max(times)}, nil
}
