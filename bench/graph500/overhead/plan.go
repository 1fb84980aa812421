package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
)

const program = "overhead"

// A plan is the measurements of a run.
type plan struct {
	variants []string
	periods  []time.Duration
	ranks    []int
	nodes    int // nodes of the daemons that send heartbeats; 0: heartbeats between ranks
	rounds   int
	scale    int
	searches int
	busy     bool
	load     string // the load average at the start
	out      string
	table    string        // page with rows to replace; empty: none
	limit    time.Duration // of one job
}

// A size holds the defaults of flags.
type size struct {
	periods, ranks          string
	rounds, scale, searches int
}

var (
	full  = size{"1ms,5ms,10ms,25ms,50ms,100ms,500ms", "2,16", 11, 16, 64}
	quick = size{"1ms,100ms", "2", 3, 10, 8}
	paper = size{full.periods, full.ranks, full.rounds, 20, full.searches}
)

func parse(args []string) (plan, error) {
	var p plan
	f := cli.Flags(program, "usage: go run ./bench/graph500/overhead [flags]\nThe costs of a failure detector for searches of a Graph500 graph.", os.Stderr)
	isQuick := f.Bool("quick", false, "small sizes, few rounds")
	isPaper := f.Bool("paper", false, "the paper's scale, 20: hours, and some GB")
	periods := f.String("periods", "", "of the heartbeats, with commas (default "+full.periods+")")
	ranks := f.String("n", "", "how many ranks, with commas (default "+full.ranks+"; of -nodes: one a node)")
	variants := f.String("variants", "simple,onesided", "how is searched, with commas: "+strings.Join(variantsKnown(), ", "))
	f.IntVar(&p.nodes, "nodes", 0, "how many nodes of this machine, with heartbeats between their daemons; 0: heartbeats between ranks (--detector ring)")
	f.IntVar(&p.rounds, "rounds", 0, "in which each period has its turn (default 11)")
	f.IntVar(&p.scale, "scale", 0, "of the graph (default 16)")
	f.IntVar(&p.searches, "searches", 0, "of one job, each of which is validated (default 64)")
	f.BoolVar(&p.busy, "busy", false, "measure even if the load average is above 1")
	f.StringVar(&p.out, "out", "bench/graph500/out", "folder for the CSV and SVG files")
	f.StringVar(&p.table, "table", "", "page whose rows of these figures to replace, after "+figure.Marker)
	f.DurationVar(&p.limit, "limit", time.Hour, "of one job")
	if err := f.Parse(args); err != nil {
		return p, err
	}
	z := full
	switch {
	case *isQuick && *isPaper:
		return p, errors.New("-quick and -paper are two sizes: want one (-h for help)")
	case *isQuick:
		z = quick
	case *isPaper:
		z = paper
	}
	if p.nodes > 0 {
		z.ranks = fmt.Sprint(p.nodes)
	}
	p.rounds, p.scale, p.searches = cmp.Or(p.rounds, z.rounds), cmp.Or(p.scale, z.scale), cmp.Or(p.searches, z.searches)
	return p, errors.Join(p.read(*variants, cmp.Or(*periods, z.periods), cmp.Or(*ranks, z.ranks)), p.check(f.NArg()))
}

// read parses the flags that are lists.
func (p *plan) read(variants, periods, ranks string) (err error) {
	p.variants = strings.Split(variants, ",")
	for text := range strings.SplitSeq(periods, ",") {
		d, bad := time.ParseDuration(text)
		if bad != nil || d <= 0 || d >= heartbeats.Off {
			return fmt.Errorf("-periods: %q is no time between 0 and %v", text, heartbeats.Off)
		}
		p.periods = append(p.periods, d)
	}
	p.ranks, err = job.Counts(ranks, 2)
	return err
}

func (p *plan) check(more int) error {
	for _, v := range p.variants {
		if !slices.Contains(variantsKnown(), v) {
			return fmt.Errorf("-variants: want some of %s, not %q", strings.Join(variantsKnown(), ", "), v)
		}
	}
	if p.nodes < 0 || p.nodes == 1 || p.rounds < 1 || p.scale < 4 || p.searches < 1 || p.searches > 64 || p.limit <= 0 || more > 0 {
		return errors.New("want -nodes 0 or from 2, -rounds from 1, -scale from 4, -searches of 1 to 64, -limit above 0, no other argument (-h for help)")
	}
	return nil
}

// flags are the flags of the launcher.
func (p plan) flags(ranks int, period time.Duration) []string {
	if p.nodes == 0 {
		return heartbeats.BetweenRanks(period)
	}
	return heartbeats.BetweenNodes(p.nodes, (ranks+p.nodes-1)/p.nodes, period)
}
