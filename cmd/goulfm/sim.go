package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/testing/sim/cluster"
)

const simUsage = `usage: goulfm sim [flags]

Simulates clusters in virtual time, with the control and matching rules that real
processes run: crashes at any step, pauses, slow processes, partitions, late
messages and late news of deaths; several communicators, agreements and messages
at once. After every step it checks that all living members decide the same, that
a decision combines every survivor, that it never changes, that no message is
lost, and more; at the end, that everybody has ended.

  goulfm sim -agreements-total 300      some random runs
  goulfm sim -replay 5 -nmax 4          one run, with its diagram
  goulfm sim -nodes 3                   jobs on several nodes

many runs:
  -seed N        first seed (default: from the clock, printed)
  -agreements-total N   stop after N agreements (default 100000) ...
  -deaths-total N       ... and N failures (default 0)
  -workers N     runs at the same time (default: one per core)
  -matrix        print which fault hit which phase of the protocols; fail if a
                 cell is empty
  -v             print a line for each run

one run; give the flags below as the failure printed them:
  -replay SEED   repeat one run and draw its space-time diagram
  -run FILE      the same for a script
  -events        print every event, too
  -svg FILE      draw the diagram as a picture
  -html FILE     the same in a page
  -shrink        make a failing run small: few processes, faults and calls
  -script FILE   write the run, or the small one, as a script

properties of runs (default: drawn from the seed):
  -n N           processes of each run, 2 to 64
  -nmax N        most processes that are drawn
  -agreements N  agreements of each run
  -detector drawn|exact|ring|wild
                 detection of deaths; exact: each survivor learns of a death;
                 ring: heartbeats, with faults that they bear; wild: heartbeats
                 and longer faults; drawn (default): one of them for each run
  -agree both|era|node
                 means of agreements; node: in shared memory, deaths are exact;
                 era: by messages; both (default): each in turn, where deaths
                 are exact
  -watchdog N    nanoseconds after which agreements send again (default 0: off)

all runs:
  -exhaustive    not at random: every order of steps, deaths and messages of
                 -n processes (default 3); 4 takes minutes
` + simRepairsUsage + simNodesUsage + `
Exit code: 0, 1 when an invariant was broken, 2 usage.
`

// simJob holds the flags of goulfm sim.
type simJob struct {
	options            cluster.Options
	agreements, deaths int
	workers            int
	replay             uint64
	run                string
	svg, html, script  string
	events, shrink     bool
	matrix, verbose    bool
	exhaustive         bool
	repairs            int
	nodes              int
	faults             string
	detector, agree    string
	watchdog           int64
}

func (j *simJob) register(f *flag.FlagSet) {
	o := &j.options
	f.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "")
	f.IntVar(&j.agreements, "agreements-total", 100_000, "")
	f.IntVar(&j.deaths, "deaths-total", 0, "")
	f.IntVar(&j.workers, "workers", runtime.GOMAXPROCS(0), "")
	f.BoolVar(&j.matrix, "matrix", false, "")
	f.BoolVar(&j.verbose, "v", false, "")
	f.Uint64Var(&j.replay, "replay", 0, "")
	f.StringVar(&j.run, "run", "", "")
	f.BoolVar(&j.events, "events", false, "")
	f.StringVar(&j.svg, "svg", "", "")
	f.StringVar(&j.html, "html", "", "")
	f.BoolVar(&j.shrink, "shrink", false, "")
	f.StringVar(&j.script, "script", "", "")
	f.IntVar(&o.N, "n", 0, "")
	f.IntVar(&o.NMax, "nmax", 0, "")
	f.IntVar(&o.Agreements, "agreements", 0, "")
	f.StringVar(&j.detector, "detector", "drawn", "")
	f.StringVar(&j.agree, "agree", "both", "")
	f.Int64Var(&j.watchdog, "watchdog", 0, "")
	f.BoolVar(&j.exhaustive, "exhaustive", false, "")
	f.IntVar(&j.repairs, "repairs", 0, "")
	f.IntVar(&j.nodes, "nodes", 0, "")
	f.StringVar(&j.faults, "faults", "", "")
}

func simulate(args []string) int {
	f := flag.NewFlagSet("goulfm sim", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var j simJob
	o := &j.options
	j.register(f)
	switch err := flagtext.Parse(f, args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(simUsage)
		return 0
	case err != nil:
		return simUsageError("%v", err)
	case f.NArg() > 0:
		return simUsageError("unexpected argument %q", f.Arg(0))
	case o.N != 0 && j.repairs == 0 && j.nodes == 0 && (o.N < 2 || o.N > cluster.ProcessesMax) || o.N < 0:
		return simUsageError("-n %d: want 2 to %d", o.N, cluster.ProcessesMax)
	}
	if err := j.checkNumbers(); err != nil {
		return simUsageError("%v", err)
	}
	o.Watchdog = mono.Duration(j.watchdog)
	var err error
	if o.Detector, err = cluster.ParseDetector(j.detector); err != nil {
		return simUsageError("%v", err)
	}
	if o.Agree, err = cluster.ParseAgree(j.agree); err != nil {
		return simUsageError("%v", err)
	}
	if o.Agree == cluster.Node && o.Detector != cluster.Drawn && o.Detector != cluster.Exact {
		return simUsageError("-agree node takes exact deaths, not -detector %v", o.Detector)
	}
	switch {
	case j.repairs > 0:
		return j.repair()
	case j.nodes > 0:
		return j.severalNodes()
	case j.exhaustive:
		return exhaust(o.N)
	case j.run != "" || j.replay != 0:
		return j.one()
	}
	return j.many()
}

// checkNumbers returns an error that names a flag with a number below its range.
func (j *simJob) checkNumbers() error {
	for _, x := range []struct {
		name         string
		value, least int64
	}{
		{"workers", int64(j.workers), 1},
		{"agreements-total", int64(j.agreements), 1},
		{"deaths-total", int64(j.deaths), 0},
		{"repairs", int64(j.repairs), 0},
		{"nodes", int64(j.nodes), 0},
		{"agreements", int64(j.options.Agreements), 0},
		{"watchdog", j.watchdog, 0},
	} {
		if x.value < x.least {
			return fmt.Errorf("--%s %d: want at least %d", x.name, x.value, x.least)
		}
	}
	if n := j.options.NMax; n < 0 || n == 1 {
		return fmt.Errorf("--nmax %d: want at least 2, or 0", n)
	}
	return nil
}

func simUsageError(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "goulfm sim: "+format+"\ngoulfm sim -h lists the flags\n", args...)
	return launch.ExitUsage
}

// one executes one run and prints its diagram.
func (j *simJob) one() int {
	run := func(o cluster.Options) (cluster.Report, error) { o.Seed = j.replay; return cluster.Run(o) }
	if j.run != "" {
		text, err := os.ReadFile(j.run)
		if err != nil {
			return simUsageError("%v", err)
		}
		c, err := cluster.ParseCase(string(text))
		if err != nil {
			return simUsageError("%s: %v", j.run, err)
		}
		run = c.Run
	}
	o := j.options
	o.Diagram = &cluster.Diagram{}
	if j.events {
		o.Trace = func(line string) { fmt.Println(line) }
	}
	report, err := run(o)
	fmt.Print(o.Diagram.Text())
	fmt.Println(summary(report))
	v, _ := errors.AsType[*cluster.Violation](err)
	if v != nil && j.shrink {
		v = shrink(v, o.Diagram)
		err = v
	} else if j.shrink {
		fmt.Println("nothing to shrink")
	}
	if v == nil && j.script != "" {
		return simUsageError("-script: the run breaks nothing")
	}
	if v != nil {
		fmt.Print(v.Case.Script())
	}
	if code := j.write(o.Diagram, v); code != 0 {
		return code
	}
	return verdict(err)
}

func summary(r cluster.Report) string {
	return fmt.Sprintf("trace hash %016x: %d agreements, %d deaths, %d fenced, %d messages, %d steps in %v, %s", r.Hash, r.Agreements, r.Deaths, r.Fenced, r.Messages, r.Steps, r.Time, r.Swarm)
}

// shrink reduces a failing run, prints the diagram of the small run, and stores that diagram in d.
func shrink(v *cluster.Violation, d *cluster.Diagram) *cluster.Violation {
	start := time.Now()
	small := cluster.Shrink(v, time.Minute)
	fmt.Printf("shrunk from %d processes and %d faults to %d and %d in %d tries and %.1f s\n",
		v.Case.N(), len(v.Case.Faults), small.Case.N(), len(small.Case.Faults), small.Tries, time.Since(start).Seconds())
	*d = cluster.Diagram{}
	_, _ = small.Case.Run(cluster.Options{Diagram: d}) // known to fail
	fmt.Print(d.Text())
	small.Error.Case = small.Case
	return small.Error
}

// write writes the files that the flags name.
func (j *simJob) write(d *cluster.Diagram, v *cluster.Violation) int {
	broken, script := "no violation", ""
	if v != nil {
		text, _, _ := strings.Cut(v.Text, "\n")
		broken, script = v.Error(), fmt.Sprintf("# %s broken: %s\n%s", v.Invariant, text, v.Case.Script())
	}
	for _, file := range []struct{ name, text string }{{j.svg, d.SVG()}, {j.html, d.HTML(broken)}, {j.script, script}} {
		if file.name == "" {
			continue
		}
		if err := os.WriteFile(file.name, []byte(file.text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "goulfm sim:", err)
			return 1
		}
	}
	return 0
}

// collectRarely trades memory for speed: a run leaves much garbage and keeps little.
const collectRarely = 800

// beginMany prepares many runs, and returns a function that prints progress on standard error, at
// most once in 5 s.
func (j *simJob) beginMany() (progress func(format string, args ...any)) {
	debug.SetGCPercent(collectRarely)
	fmt.Printf("seed %d, %d workers\n", j.options.Seed, j.workers)
	told := time.Now()
	return func(format string, args ...any) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, format, args...)
		}
	}
}

func (j *simJob) many() int {
	o, start, progress := j.options, time.Now(), j.beginMany()
	if j.verbose {
		o.Done = func(r cluster.Report) { fmt.Printf("seed %d: %s\n", r.Seed, summary(r)) }
	}
	total, err := cluster.RunMany(o, j.workers, func(t cluster.Total) bool {
		progress("%d runs, %d of %d agreements, %d of %d deaths\n", t.Runs, t.Agreements, j.agreements, t.Deaths, j.deaths)
		return t.Agreements >= j.agreements && t.Deaths >= j.deaths
	})
	took := time.Since(start).Seconds()
	fmt.Printf("%d runs, %d agreements, %d deaths, %d fenced (accusations crossed in %d runs, which split in %d), %d communicators, %d revocations, %d frames, %d messages, %d faults in %.1f s: %.0f agreements/s, %.0f deaths/s, %.0f steps/s, %.2f s of virtual time\n",
		total.Runs, total.Agreements, total.Deaths, total.Fenced, total.Crossed, total.Split, total.Communicators, total.Revokes, total.Frames, total.Messages, total.Faults, took,
		float64(total.Agreements)/took, float64(total.Deaths)/took, float64(total.Steps)/took, float64(total.Time)/float64(mono.Second))
	code := verdict(err)
	if j.matrix {
		fmt.Print(total.Matrix.String())
		for _, wrong := range total.Matrix.Empty() {
			fmt.Println(wrong)
			code = 1
		}
	}
	return code
}

// exhaust visits every state of small worlds.
func exhaust(n int) int {
	if n == 0 {
		n = 3
	}
	if n > cluster.ExhaustMax {
		return simUsageError("-exhaustive -n %d: want at most %d", n, cluster.ExhaustMax)
	}
	debug.SetGCPercent(collectRarely)
	for _, s := range cluster.Searches(n) {
		start := time.Now()
		r, err := s.Run()
		fmt.Printf("%-28s %9d states, %9d ends in %.1f s\n", s, r.States, r.Ends, time.Since(start).Seconds())
		if err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("no violation")
	return 0
}

func verdict(err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("no violation")
	return 0
}
