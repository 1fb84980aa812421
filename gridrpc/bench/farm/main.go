// Command farm reproduces Figure 6 of Bouteiller and Desprez (Fault tolerance management for a
// hierarchical GridRPC middleware, 2008): a farm of independent jobs while agents die. 100 jobs are
// submitted at first, and 10 more after each 10 completed ones. Agents die when 10, 35 and 65 % of
// the jobs are done: one of Paris with servers below it, two of Lyon, and the top agent of Lyon.
// Servers and their jobs survive. Only the path to them must be found again.
//
//	go run ./bench/farm simulated > out/simulated.csv   96 servers, jobs of 28.24 s, virtual time
//	go run ./bench/farm waiting                         processes that wait for 0.28 s in each body
//	go run ./bench/farm dgemm                           8 servers that multiply matrices
//
// The first form executes only the rules, without processes. Each form writes CSV: the curve, the
// seconds since the first submission, and the number of completed jobs. The curves are undisturbed,
// recovery, and no recovery, where an agent without a parent searches for no other parent. "make
// figures FIGURES='-only diet6'" draws the files in out.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "farm:", err)
		os.Exit(1)
	}
}

// plan is one farm.
type plan struct {
	jobs, first, step int
	sites             string // as "gridrpc up --tree" has it
	deaths            []death
}

// death is the simultaneous death of agents, when a share of the jobs is done.
type death struct {
	share  float64
	agents []string
}

// The two deployments. Agents are numbered site by site, level by level: a1 is Paris, a5 is Lyon.
var (
	grid  = plan{1000, 100, 10, "3x16,4x12", []death{{0.10, []string{"a2"}}, {0.35, []string{"a6", "a7"}}, {0.65, []string{"a5"}}}}
	small = plan{1000, 16, 4, "2x2,2x2", []death{{0.10, []string{"a2"}}, {0.35, []string{"a5", "a6"}}, {0.65, []string{"a4"}}}}
)

// curve is one way in which a farm runs.
type curve struct {
	name          string
	deaths, mends bool
}

var curves = []curve{{"undisturbed", false, true}, {"recovery", true, true}, {"no recovery", true, false}}

func run(ctx context.Context) error {
	f := flag.NewFlagSet("farm", flag.ExitOnError)
	jobs := f.Int("jobs", 1000, "how many")
	sites := f.String("tree", "", "other sites than usual, with agents of the same names")
	seconds := f.Float64("seconds", 0.28, "waiting: for how long each body waits")
	n := f.Int("n", 400, "dgemm: matrices are n x n")
	if len(os.Args) < 2 {
		return fmt.Errorf("the first argument must be simulated, waiting or dgemm: see go doc ./bench/farm")
	}
	_ = f.Parse(os.Args[2:]) // it exits
	p, play := grid, func(c curve, p plan) ([]float64, error) { return simulate(c, p), nil }
	switch os.Args[1] {
	case "simulated":
	case "waiting":
		play = func(c curve, p plan) ([]float64, error) { return onProcesses(ctx, c, p, waiting(*seconds)) }
	case "dgemm":
		p = small
		play = func(c curve, p plan) ([]float64, error) { return onProcesses(ctx, c, p, multiplying(*n)) }
	default:
		return fmt.Errorf("%q: the first argument must be simulated, waiting or dgemm", os.Args[1])
	}
	p.jobs = *jobs
	if *sites != "" {
		p.sites = *sites
	}
	out := csv.NewWriter(os.Stdout)
	_ = out.Write([]string{"curve", "seconds", "jobs done"}) // Error returns the error
	for _, c := range curves {
		done, err := play(c, p)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for i, at := range done {
			if n := i + 1; n%p.step == 0 || n == len(done) {
				_ = out.Write([]string{c.name, strconv.FormatFloat(at, 'f', 3, 64), strconv.Itoa(n)})
			}
		}
		out.Flush()
		fmt.Fprintf(os.Stderr, "%s: %d jobs in %.3f s\n", c.name, len(done), done[len(done)-1])
	}
	return out.Error()
}

// victims returns the agents that die when n jobs are done.
func (p plan) victims(n int) (names []string) {
	for _, d := range p.deaths {
		if n == int(d.share*float64(p.jobs)) {
			names = append(names, d.agents...)
		}
	}
	return names
}
