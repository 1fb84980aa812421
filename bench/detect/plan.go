package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
)

const program = "detect"

// A plan is the measurements of a run.
type plan struct {
	figures []string
	quick   bool
	busy    bool
	runs    int   // of each point; 0: the figure's default
	nodes   []int // none: the figure's default
	seconds int   // of each search for false positives; 0: 60, quick 2
	out     string
	table   string        // page with rows to replace; empty: none
	limit   time.Duration // of one run
}

// nodesMax is the most daemons for one machine.
const nodesMax = 64

func parse(args []string) (plan, error) {
	var p plan
	f := cli.Flags(program, "usage: go run ./bench/detect -figure ID[,ID] [flags]\nFigures of detection between nodes of one job, all of them on this machine.", os.Stderr)
	figures := f.String("figure", "", "which: D1 to D8, D10, with commas, or all")
	nodes := f.String("n", "", "nodes, with commas (default: the figure's own); of D3 to D10 the first number")
	f.BoolVar(&p.quick, "quick", false, "small sizes, few runs")
	f.BoolVar(&p.busy, "busy", false, "measure even if the load average is above 1")
	f.IntVar(&p.runs, "runs", 0, "runs of each point (default: the figure's own)")
	f.IntVar(&p.seconds, "seconds", 0, "of each search for false positives, D5 and D6 (default 60, quick 2)")
	f.StringVar(&p.out, "out", "bench/detect/out", "folder for the CSV and SVG files")
	f.StringVar(&p.table, "table", "", "page whose rows of these figures to replace, after "+figure.Marker)
	f.DurationVar(&p.limit, "limit", 2*time.Minute, "of one run, beyond the seconds that it is asked to take")
	if err := f.Parse(args); err != nil {
		return p, err
	}
	if f.NArg() > 0 || p.runs < 0 || p.seconds < 0 || p.limit <= 0 {
		return p, errors.New("want -runs and -seconds from 0 up, -limit above 0, no other argument (-h for help)")
	}
	var err error
	if p.figures, err = idsOf(*figures); err != nil || *nodes == "" {
		return p, err
	}
	if p.nodes, err = job.Counts(*nodes, 2); err == nil && slices.Max(p.nodes) > nodesMax {
		err = fmt.Errorf("-n %s: want at most %d nodes on one machine", *nodes, nodesMax)
	}
	return p, err
}

// idsOf reads the names of figures.
func idsOf(list string) ([]string, error) {
	if list == "all" {
		return slices.Clone(ids), nil
	}
	all := strings.Split(list, ",")
	for _, id := range all {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("-figure %s: want some of %s with commas, or all", list, strings.Join(ids, ","))
		}
	}
	return all, nil
}

// ids are the figures, in the order of the comparison.
var ids = []string{"D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D10"}

// runsOr is the number of runs of a point.
func (p plan) runsOr(full, quick int) int {
	switch {
	case p.runs > 0:
		return p.runs
	case p.quick:
		return quick
	}
	return full
}

// sizes are the numbers of nodes of a figure.
func (p plan) sizes(full, quick []int) []int {
	switch {
	case len(p.nodes) > 0:
		return p.nodes
	case p.quick:
		return quick
	}
	return full
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// look is how long a job runs without faults in a search for false positives.
func (p plan) look() time.Duration {
	switch {
	case p.seconds > 0:
		return time.Duration(p.seconds) * time.Second
	case p.quick:
		return 2 * time.Second
	}
	return time.Minute
}
