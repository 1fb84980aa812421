// Heatstress runs the heat example again and again, kills ranks, and compares.
//
//	go run ./bench/heatstress
//	go run ./bench/heatstress -runs 1000 -seed 7 -n 16 -- -nx 512 -ny 512
//
// Each run loses one to four ranks: one, two at once, one during the repair after
// another, a block together with its copy, three, four. A run is right if it ends
// with exit code 0 and the very result line of a run without deaths, in time, and
// leaves no process and no file behind. The tally of the kinds is printed, and of
// each run that is not right the command, so that it can be repeated.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

type options struct {
	runs    int
	n       int
	seed    uint64
	timeout time.Duration
	goulfm  string
	heat    string
	args    []string // for heat
}

func main() {
	o := parse()
	code, err := stress(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "heatstress:", err)
		code = 3
	}
	os.Exit(code)
}

func parse() options {
	var o options
	flag.IntVar(&o.runs, "runs", 200, "number of runs")
	flag.IntVar(&o.n, "n", 8, "ranks of each; at least 6")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of victims and moments; 0: take one, it is printed")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "a run that takes longer hangs")
	flag.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build ./cmd/goulfm)")
	flag.StringVar(&o.heat, "heat", "", "the program (default: build ./examples/heat)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: heatstress [flags] [-- flags of heat (default -tol 1e-3)]\n"+
			"The heat example under random kills, each result compared with a run without.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if o.args = flag.Args(); len(o.args) == 0 {
		o.args = []string{"-tol", "1e-3"} // a short run: a death then hits more often something else than a step
	}
	if o.runs < 1 || o.n < 6 || o.timeout <= 0 {
		fmt.Fprintln(os.Stderr, "heatstress: want -runs of at least 1, -n of at least 6, -timeout above 0 (-h for help)")
		os.Exit(2)
	}
	for o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	return o
}

// stress does it all and returns the exit code.
func stress(o options) (code int, err error) {
	dir, err := os.MkdirTemp("", "heatstress")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	j, err := newJob(o, dir)
	if err != nil {
		return 0, err
	}
	calm := j.run(nil)
	want, bad := calm.result()
	if bad != "" {
		return 0, fmt.Errorf("the run without deaths: %s\n%s", bad, calm.output)
	}
	fmt.Printf("heatstress: %d runs on %d ranks, seed %d\nwithout deaths, %v: %s\n",
		o.runs, o.n, o.seed, calm.took.Round(time.Millisecond), want.line)

	all := newTally()
	rng := rand.New(rand.NewPCG(o.seed, 0))
	for i := range o.runs {
		c := draw(rng, kinds[i%len(kinds)], o.n, want.steps, calm.took)
		r := j.run(c.kills)
		bad := r.judge(want.line)
		all.add(c.kind, r, bad)
		if bad != "" {
			fmt.Printf("\nrun %d (%s) is wrong: %s\n$ %s\n%s\n", i, c.kind, bad, r.command, r.output)
		}
	}
	all.print(os.Stdout)
	if all.wrong > 0 {
		return 1, nil
	}
	return 0, nil
}

// newJob builds what is not given. The binaries lie in a directory of our own, by
// which their processes are known.
func newJob(o options, dir string) (*job, error) {
	j := &job{options: o, tmp: filepath.Join(dir, "tmp")}
	if err := os.Mkdir(j.tmp, 0o700); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		path *string
		pkg  string
	}{{&j.goulfm, "./cmd/goulfm"}, {&j.heat, "./examples/heat"}} {
		if *b.path != "" {
			continue
		}
		*b.path = filepath.Join(dir, filepath.Base(b.pkg))
		if out, err := exec.Command("go", "build", "-o", *b.path, b.pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", b.pkg, err, out)
		}
	}
	return j, nil
}
