package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

// A cell is one point of a figure: n members, a fault, and the times of the detectors.
type cell struct {
	n       int
	fault   string
	period  time.Duration
	factor  int           // periods in the timeout of goulfm
	confirm time.Duration // 0: the default, half of the timeout
}

func (c cell) String() string { return fmt.Sprintf("%d members, %s, P %v", c.n, c.fault, c.period) }

// hop is how long the daemon may take to reach its rank, and the ranks to run, on a shared machine.
const hop = 10 * ms

// latest is the bound of goulfm, in periods: timeout, time to confirm, the lease of a tenth, and
// hop.
func (c cell) latest() float64 {
	confirm := float64(c.factor) / 2
	if c.confirm > 0 {
		confirm = float64(c.confirm) / float64(c.period)
	}
	return float64(c.factor) + confirm + 0.1 + float64(hop)/float64(c.period)
}

// A layout is the points of one figure.
type layout struct {
	title   string
	sizes   []int
	faults  []string
	periods []time.Duration
	factor  int
	confirm time.Duration
}

// The names of the figures: over the members, over the period, with the defaults of goulfm.
const (
	overMembers  = "D9"
	overPeriods  = "D9p"
	withDefaults = "D9d"
)

var ids = []string{overMembers, overPeriods, withDefaults}

const ms = time.Millisecond

// layouts are the figures. The first two have the settings of the papers.
var layouts = map[string]layout{
	overMembers:  {"D9: a silent member, P = 500 ms, T = 2P, C = 1 ms", []int{4, 8, 16, 32}, []string{faultStop}, []time.Duration{500 * ms}, 2, ms},
	overPeriods:  {"D9p: a silent member of 8, T = 2P, C = 1 ms", []int{8}, []string{faultStop}, []time.Duration{1000 * ms, 500 * ms, 200 * ms, 100 * ms, 50 * ms, 20 * ms}, 2, ms},
	withDefaults: {"D9d: P = 100 ms, T = 5P, C = T/2", []int{4, 8}, []string{faultKill, faultStop}, []time.Duration{100 * ms}, 5, 0},
}

// cells are the points in the order in which they are measured.
func (l layout) cells() (all []cell) {
	for _, n := range l.sizes {
		for _, fault := range l.faults {
			for _, period := range l.periods {
				all = append(all, cell{n, fault, period, l.factor, l.confirm})
			}
		}
	}
	return all
}

// A plan is the arguments of the program.
type plan struct {
	figures []string
	sizes   []int           // nil: those of the figure
	periods []time.Duration // nil: those of the figure
	runs    int
	swim    string // settings of memberlist: lan, local
	quick   bool
	busy    bool
	out     string // folder
	table   string // page; empty: none
	goulfm  string // empty: built
	limit   time.Duration
}

func (p *plan) parse(args []string) error {
	f := cli.Flags(program, "usage: go run . [flags]\nTime until all members of a group know that one has failed, with SWIM and with goulfm.", os.Stderr)
	figures := f.String("figure", "all", "figures, with commas: "+strings.Join(ids, ", ")+", or all")
	sizes := f.String("n", "", "members, with commas (default: those of the figure)")
	periods := f.String("periods", "", "periods, with commas (default: those of the figure)")
	f.IntVar(&p.runs, "runs", 20, "runs of each side at each point")
	f.StringVar(&p.swim, "swim", "lan", "settings of memberlist, scaled to the period: lan, local")
	f.BoolVar(&p.quick, "quick", false, "two runs of small groups; claims do not fail")
	f.BoolVar(&p.busy, "busy", false, "measure even if the load average is above 1")
	f.StringVar(&p.out, "out", "out", "folder for the CSV and SVG files")
	f.StringVar(&p.table, "table", "", "page whose rows of these figures to replace, after "+figure.Marker)
	f.StringVar(&p.goulfm, "goulfm", "", "the command (default: built from this checkout)")
	f.DurationVar(&p.limit, "limit", time.Minute, "of one run")
	if err := f.Parse(args); err != nil {
		return err
	}
	if p.quick {
		p.sizes, p.periods, p.runs = []int{4}, []time.Duration{100 * ms, 200 * ms}, 2
	}
	if p.figures = strings.Split(*figures, ","); *figures == "all" {
		p.figures = ids
	}
	for _, id := range p.figures {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("-figure %s: want some of %s, or all", *figures, strings.Join(ids, ","))
		}
	}
	if p.swim != "lan" && p.swim != "local" {
		return fmt.Errorf("-swim is %q, must be lan or local", p.swim)
	}
	if p.runs < 1 || p.limit <= 0 || f.NArg() > 0 {
		return errors.New("want -runs from 1 up, -limit above 0, no other argument (-h for help)")
	}
	return errors.Join(p.readSizes(*sizes), p.readPeriods(*periods))
}

func (p *plan) readSizes(list string) error {
	if list == "" {
		return nil
	}
	p.sizes = nil
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 3 || n > 64 {
			return fmt.Errorf("-n %s: want numbers from 3 to 64", list)
		}
		p.sizes = append(p.sizes, n)
	}
	return nil
}

func (p *plan) readPeriods(list string) error {
	if list == "" {
		return nil
	}
	p.periods = nil
	for text := range strings.SplitSeq(list, ",") {
		d, err := time.ParseDuration(text)
		if err != nil || d < 10*ms {
			return fmt.Errorf("-periods %s: want times from 10ms up", list)
		}
		p.periods = append(p.periods, d)
	}
	return nil
}

// layout is that of a figure, with the sizes and periods of the arguments.
func (p plan) layout(id string) layout {
	l := layouts[id]
	if p.sizes != nil {
		l.sizes = p.sizes
	}
	if p.periods != nil {
		l.periods = p.periods
	}
	return l
}
