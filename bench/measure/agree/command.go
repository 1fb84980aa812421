// Package agree measures the agreement before, during and after the death of a rank.
//
//	goulfm run -n 8 ./bench/measure agree
//	goulfm run -n 64 ./bench/measure agree -before 1000 -after 1000 -victim 0
//	goulfm run -n 8 ./bench/measure agree -agree log2phases
//	goulfm run -n 16 ./bench/measure agree -deaths 4
//
// The phases are those of the usual benchmark of MPI's fault tolerance:
//
//	before       agreements without a failure
//	first        the victim kills itself instead of calling; the others' agreement
//	             has to find the death and to report it
//	acknowledge  acknowledge the known deaths and agree, until that succeeds
//	after        agreements with the acknowledged failure
//
// Each agreement is timed at every rank; the slowest rank counts. The flags are
// random, and every result is checked. With -agree log2phases the agreement is the baseline of ERA
// (bench/internal/log2phases), on the messages of package comm. With -deaths several ranks die at
// once, as on the right of Figure 10 of RR-9024. The seed selects these ranks.
package agree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

type options struct {
	before, after int
	victim        int // -1: no rank
	deaths        int // ranks that die: the victim if it is 1, random ranks if it is more
	seed          uint64
	twoPhase      bool // the agreement is log2phases
	json          bool // print records
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("agree", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		if o.victim >= w.Size() {
			return fmt.Errorf("agree: there is no rank %d among %d", o.victim, w.Size())
		}
		if o.deaths >= w.Size() {
			return fmt.Errorf("agree: %d deaths among %d ranks leave no survivor", o.deaths, w.Size())
		}
		return newBench(o, w, os.Stdout, trial.Die).run(ctx)
	})
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("agree", "usage: goulfm run -n RANKS ./bench/measure agree [flags]\nTime of an agreement before, during and after a death.", out)
	fs.IntVar(&o.before, "before", 200, "agreements before the death")
	fs.IntVar(&o.after, "after", 200, "agreements after it")
	fs.IntVar(&o.victim, "victim", 1, "the rank that dies; -1 for nobody")
	fs.IntVar(&o.deaths, "deaths", 1, "ranks that die; from 2 up random ranks in place of -victim")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the flags and of the random ranks")
	fs.BoolVar(&o.json, "json", false, "print one line of JSON for each phase")
	algorithm := fs.String("agree", "library", "library: the agreement of package comm; log2phases: the two-phase agreement")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.before < 0 || o.after < 0 || o.victim < -1 || o.deaths < 1 || fs.NArg() > 0 {
		return o, errors.New("want -before and -after from 0 up, -victim from -1 up, -deaths from 1 up, no other argument (-h for help)")
	}
	if *algorithm != "library" && *algorithm != "log2phases" {
		return o, fmt.Errorf("-agree is %q, must be library or log2phases", *algorithm)
	}
	o.twoPhase = *algorithm == "log2phases"
	return o, nil
}

// A bench is one rank's part.
type bench struct {
	options
	w      *comm.Comm
	by     agreement
	out    io.Writer
	die    func()
	calls  int // agreements so far
	doomed []int
	killed bool // the doomed are dead
	phases []phase
}

// A phase is the agreements of one kind.
type phase struct {
	name string
	us   []float64 // time of each
}

func newBench(o options, w *comm.Comm, out io.Writer, die func()) *bench {
	b := &bench{options: o, w: w, by: library{w}, out: out, die: die, doomed: o.victims(w.Size())}
	if o.twoPhase {
		b.by = newTwoPhase(w)
	}
	return b
}

// victims returns the ranks that die. All ranks draw the same ones.
func (o options) victims(n int) []int {
	switch {
	case o.deaths > 1:
		return rand.New(rand.NewPCG(o.seed, uint64(o.deaths))).Perm(n)[:o.deaths]
	case o.victim >= 0:
		return []int{o.victim}
	}
	return nil
}

func (b *bench) dies(rank int) bool { return slices.Contains(b.doomed, rank) }

func (b *bench) run(ctx context.Context) error {
	// The first agreement waits for the rank that starts last: it is not measured.
	if _, err := b.agree(ctx); err != nil {
		return err
	}
	if err := b.series(ctx, "before", b.before); err != nil {
		return err
	}
	if len(b.doomed) > 0 {
		if err := b.gather(ctx); err != nil {
			return err
		}
		if b.dies(b.w.Rank()) {
			b.die()
		}
		b.killed = true
		if err := b.death(ctx); err != nil {
			return err
		}
	}
	if err := b.series(ctx, "after", b.after); err != nil {
		return err
	}
	return b.report(ctx)
}

// gather makes each victim wait until all survivors have finished the phase before. If a victim died
// as soon as it had returned from the last agreement itself, that agreement might report the death:
// a decision that only the dead have seen binds no survivor.
func (b *bench) gather(ctx context.Context) error {
	through := []int{b.calls}
	if !b.dies(b.w.Rank()) {
		for _, v := range b.doomed {
			if err := comm.Send(ctx, b.w.To(v), through); err != nil {
				return err
			}
		}
		return nil
	}
	for r := range b.w.Size() {
		if b.dies(r) {
			continue
		}
		if _, err := comm.Recv(ctx, b.w.From(r), through); err != nil {
			return err
		}
	}
	return nil
}

// series is n agreements that must succeed.
func (b *bench) series(ctx context.Context, name string, n int) error {
	p := phase{name: name}
	for range n {
		us, err := b.agree(ctx)
		if err != nil {
			return err
		}
		p.us = append(p.us, us)
	}
	b.phases = append(b.phases, p)
	return nil
}

// death is the agreement that detects the deaths, and the further ones until one succeeds. The
// victims die before they contribute, so the first agreement reports all of them: one
// acknowledgement and one agreement are enough.
func (b *bench) death(ctx context.Context) error {
	us, err := b.agree(ctx)
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return fmt.Errorf("agree: the agreement without ranks %v returned %w, want a process failure", b.doomed, err)
	}
	b.phases = append(b.phases, phase{"first", []float64{us}})

	start := time.Now()
	for errors.Is(err, ulfm.ErrProcFailed) {
		if err := b.by.Acknowledge(); err != nil {
			return err
		}
		_, err = b.agree(ctx)
	}
	b.phases = append(b.phases, phase{"acknowledge", []float64{micros(time.Since(start))}})
	return err
}

// agree is one agreement and its time. A wrong result ends the run.
func (b *bench) agree(ctx context.Context) (us float64, err error) {
	want := ^uint64(0)
	for r := range b.w.Size() {
		if !b.killed || !b.dies(r) {
			want &= flagOf(b.seed, b.calls, r, b.w.Size())
		}
	}
	mine := flagOf(b.seed, b.calls, b.w.Rank(), b.w.Size())
	b.calls++
	start := time.Now()
	got, err := b.by.Agree(ctx, mine)
	us = micros(time.Since(start))
	if (err == nil || errors.Is(err, ulfm.ErrProcFailed)) && got != want {
		return us, fmt.Errorf("agree: agreement number %d returned %016x, want %016x", b.calls-1, got, want)
	}
	return us, err
}

// flagOf is a rank's contribution to an agreement. About half of the bits survive the AND over n
// ranks, and many of the others are missing at one rank only, so that an omitted contribution
// shows: at 8 ranks nearly each time, at 64 within some calls.
func flagOf(seed uint64, call, rank, n int) uint64 {
	rng := rand.New(rand.NewPCG(seed, uint64(call)<<32|uint64(rank)))
	flag := rng.Uint64()
	for range bits.Len(uint(n)) - 1 {
		flag |= rng.Uint64()
	}
	return flag
}

// report computes the slowest rank of each agreement, on a communicator of the survivors, and
// prints the figures.
func (b *bench) report(ctx context.Context) error {
	c, err := b.w.Shrink(ctx)
	if err != nil {
		return err
	}
	for _, p := range b.phases {
		if err := collectives.Allreduce(ctx, c, p.us, p.us, collectives.Max); err != nil {
			return err
		}
	}
	if c.Rank() != 0 {
		return c.Free()
	}
	if b.json {
		out := record.NewWriter(b.out, record.JSON)
		for _, p := range b.phases {
			if err := out.Write(record.Record{Bench: p.name, N: b.w.Size(), Size: len(b.doomed), Unit: record.Micros, Batches: p.us}); err != nil {
				return err
			}
		}
		return c.Free()
	}
	fmt.Fprintf(b.out, "agree: %d ranks, victims %v; microseconds, slowest rank\n", b.w.Size(), b.doomed)
	fmt.Fprintf(b.out, "%-12s %7s %10s %10s %10s\n", "phase", "calls", "min", "median", "max")
	for _, p := range b.phases {
		if n := len(p.us); n > 0 {
			slices.Sort(p.us)
			fmt.Fprintf(b.out, "%-12s %7d %10.1f %10.1f %10.1f\n", p.name, n, p.us[0], p.us[n/2], p.us[n-1])
		}
	}
	return c.Free()
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
