package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
)

// A bench holds the means to take figures.
type bench struct {
	plan
	dir  string // of goulfm and bench/measure, built
	bin  job.Bin
	self string
}

func (b *bench) goulfm() string { return filepath.Join(b.dir, "goulfm") }

func beRankIfAsked(args []string) bool {
	if len(args) < 2 || args[0] != beRank {
		return false
	}
	rank(args[1:])
	return true
}

// takeAll takes the figures one after the other.
func takeAll(ctx context.Context, p plan) error {
	load, err := machine.Quiet(p.busy)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "goulfm-detect-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{plan: p, dir: dir}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.bin, err = job.Build(ctx, dir); err != nil {
		return err
	}
	place := figure.Place{IDs: ids, Dir: p.out, Page: p.table}
	for _, id := range p.figures {
		f, err := b.take(ctx, id)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		f.Row("conditions", "", "load average %s at the start of the program, %d processors", load, runtime.NumCPU())
		if err := place.Put(f, os.Stdout); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) take(ctx context.Context, id string) (*figure.Figure, error) {
	switch id {
	case "D1":
		return b.killed(ctx)
	case "D2":
		return b.stopped(ctx)
	case "D3":
		return b.bounds(ctx)
	case "D4":
		return b.several(ctx)
	case "D5":
		return b.accuracy(ctx, id, 2)
	case "D6":
		return b.accuracy(ctx, id, 10)
	case "D7":
		return b.messagesNoise(ctx)
	case "D10":
		return b.racks(ctx)
	}
	return b.workNoise(ctx)
}

// say reports progress on stderr.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, program+": "+format+"\n", args...) }

// A setting is the times of the detector; 0 means the default.
type setting struct {
	period, confirm time.Duration
	factor          int    // periods in a timeout
	hosts           string // a host file of nodes of this machine; empty: nodes without racks
}

func (s setting) flags() []string {
	f := []string{"--period", s.period.String(), "--timeout-factor", strconv.Itoa(s.factor)}
	if s.confirm > 0 {
		f = append(f, "--confirm", s.confirm.String())
	}
	if s.period == heartbeats.Off { // the launcher requires times of a link above the timeout
		long := (2 * s.timeout()).String()
		f = append(f, "--link-timeout", long, "--orphan-after", long)
	}
	if s.hosts != "" {
		f = append(f, hostFile, s.hosts, "--launcher", "local")
	}
	return f
}

func (s setting) timeout() time.Duration { return time.Duration(s.factor) * s.period }

// standard is the default setting of jobs: P 100 ms, T 5P, C T/2.
var standard = setting{period: 100 * time.Millisecond, factor: 5}

// A fault is a fault of some nodes of a job.
type fault struct {
	nodes   int
	victims []int
	how     string
}

func (f fault) list() string {
	var all []string
	for _, v := range f.victims {
		all = append(all, strconv.Itoa(v))
	}
	return strings.Join(all, ",")
}

// A delay is the time from the fault to some knowledge, in ms:
//
//   - first: a rank knows the death of some victim
//   - all: all ranks know the deaths of all victims
//   - suspected: the launcher has the last victim as a suspect; 0: never
//   - declaration: the launcher has declared all nodes
//   - late: the most by which a timer of this program was late meanwhile
type delay struct{ first, all, suspected, declaration, late float64 }

// settle is the number of periods without faults, once all nodes are in.
const settle = 5

// once runs a job, applies the fault at a random moment of a period, and waits until all others
// know.
func (b *bench) once(ctx context.Context, s setting, f fault) (delay, error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	g, err := b.start(ctx, f.nodes, s.flags(), roleWait, f.list())
	if err != nil {
		return delay{}, err
	}
	defer g.end(f.victims...)
	if err := g.awaitIn(ctx); err != nil {
		return delay{}, err
	}
	select {
	case <-time.After(settle*s.period + rand.N(s.period)):
	case <-ctx.Done():
		return delay{}, ctx.Err()
	}
	timer := startLateness()
	began := nowNs()
	for _, v := range f.victims {
		if err := g.strike(v, f.how); err != nil {
			timer.stop()
			return delay{}, fmt.Errorf("node %d: %w", v, err)
		}
	}
	d, err := g.awaitKnown(ctx, began, f)
	d.late = timer.stop()
	return d, err
}

// awaitKnown returns when all living ranks know all victims, and the launcher all lost nodes.
func (g *group) awaitKnown(ctx context.Context, began int64, f fault) (delay, error) {
	known, lost := 0, 0
	wantKnown, wantLost := (f.nodes-len(f.victims))*len(f.victims), len(f.victims)
	if f.how == faultRank {
		wantLost = 0
	}
	var d delay
	for known < wantKnown || lost < wantLost {
		e, ok, err := g.await(ctx)
		switch {
		case err != nil:
			return d, fmt.Errorf("%d of %d notices, %d of %d declarations: %w", known, wantKnown, lost, wantLost, err)
		case !ok:
			return d, g.over()
		case e.what == noWatch:
			return d, errNoWatch
		}
		after := float64(e.ns-began) / 1e6
		switch e.what {
		case lineKnows:
			if known++; known == 1 || after < d.first {
				d.first = after
			}
			d.all = max(d.all, after)
		case someFailed:
			if int(e.node) > len(f.victims) {
				return d, fmt.Errorf("%w, before it could be watched: %d ranks were lost", errWrong, e.node)
			}
		case watch.Suspected:
			if f.has(e.node) {
				d.suspected = max(d.suspected, after)
			}
		case watch.Lost:
			if !f.has(e.node) {
				return d, fmt.Errorf("%w: node %d", errWrong, e.node)
			}
			lost++
			d.declaration = max(d.declaration, after)
		}
		if after < 0 && (e.what == watch.Lost || e.what == lineKnows) {
			return d, fmt.Errorf("%w: before anything was done", errWrong)
		}
	}
	return d, nil
}

func (f fault) has(node int64) bool {
	for _, v := range f.victims {
		if int64(v) == node {
			return true
		}
	}
	return false
}

// repeat runs a fault several times. Runs in which a living node was declared dead are counted and
// give no delay; any other failure of a job is an error.
func (b *bench) repeat(ctx context.Context, s setting, runs int, draw func(run int) fault) (all []delay, wrong int, err error) {
	for run := range runs {
		f := draw(run)
		d, err := b.once(ctx, s, f)
		switch {
		case errors.Is(err, errWrong):
			say("%d nodes, %s of %s, P %v: %v", f.nodes, f.how, f.list(), s.period, err)
			wrong++
		case err != nil:
			return all, wrong, fmt.Errorf("%d nodes, %s of %s, P %v, run %d: %w", f.nodes, f.how, f.list(), s.period, run, err)
		default:
			all = append(all, d)
		}
	}
	return all, wrong, nil
}

// one is a fault of one node, another one in each run, and never the only living one.
func one(nodes int, how string) func(run int) fault {
	return func(run int) fault { return fault{nodes: nodes, how: how, victims: []int{run % nodes}} }
}
