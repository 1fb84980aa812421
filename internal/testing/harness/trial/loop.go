package trial

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Flags are the flags of every driver.
type Flags struct {
	Jobs, First int
	Seed        uint64
	Timeout     time.Duration
	Goulfm      string
	Launch      string // more flags of the launcher
	Verbose     bool
}

// Register declares the flags. jobs is the driver's name of the flag for the number of jobs.
func (f *Flags) Register(fs *flag.FlagSet, jobs string, count int) {
	fs.IntVar(&f.Jobs, jobs, count, "how many jobs are run")
	fs.IntVar(&f.First, "first", 0, "number of the first job")
	fs.Uint64Var(&f.Seed, "seed", 0, "seed of victims and moments; 0: take one, it is printed")
	fs.DurationVar(&f.Timeout, "timeout", 30*time.Second, "a job that takes longer hangs")
	fs.StringVar(&f.Goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.StringVar(&f.Launch, "launch", "", "more flags of goulfm run, as \"--agree era\"")
	fs.BoolVar(&f.Verbose, "v", false, "a line for every job")
}

// Check sets defaults, and returns an error for wrong flags.
func (f *Flags) Check() error {
	if f.Jobs < 1 || f.First < 0 || f.Timeout <= 0 {
		return fmt.Errorf("want at least one job, -first from 0 up and -timeout above 0 (-h for help)")
	}
	f.Seed = Seed(f.Seed)
	return nil
}

// Seed returns the given seed, or a random one if it is 0.
func Seed(given uint64) uint64 {
	for given == 0 {
		given = rand.Uint64N(1 << 32)
	}
	return given
}

// SeedOf returns the seed of a job, different for each job.
func (f *Flags) SeedOf(number int) uint64 {
	return rand.New(rand.NewPCG(f.Seed, uint64(number))).Uint64()
}

// A Job describes one job.
type Job struct {
	N      int
	Launch []string               // flags of the launcher
	Args   []string               // of the ranks
	Again  string                 // flags of the driver, besides the seed, to run this job again
	Check  func(r *Result) string // returns further mistakes of a job with a right end
	Note   func(r *Result) string // for the line of -v; may be nil
}

// Kill returns flags of the launcher that kill a rank at a moment, such as "3ms" after the start,
// or "step=20", when the rank reaches that mark.
func Kill(rank int, moment string) []string {
	return []string{"--kill", fmt.Sprintf("%d@%s", rank, moment)}
}

const (
	wrongMax = 20              // wrong jobs after which the loop ends
	progress = 3 * time.Second // between two lines about the progress
)

// Loop runs jobs one after the other. For each wrong job it prints the whole log, and the command
// to run the job again.
func (f *Flags) Loop(p *Place, out io.Writer, draw func(number int) Job) *Tally {
	t := &Tally{start: time.Now()}
	told := t.start
	for i := f.First; i < f.First+f.Jobs && t.Jobs-t.Right < wrongMax; i++ {
		j := draw(i)
		r := p.Run(j.N, append(strings.Fields(f.Launch), j.Launch...), j.Args)
		bad := t.add(&r, j.Check)
		switch {
		case bad != "":
			fmt.Fprintf(out, "\njob %d is wrong: %s; again: -seed %d -first %d %s\n%s\n", i, bad, f.Seed, i, j.Again, r.Transcript())
		case f.Verbose:
			fmt.Fprintf(out, "job %d: %v, %d dead%s\n", i, r.Took.Round(100*time.Microsecond), len(r.Deaths()), note(j, &r))
		}
		if time.Since(told) >= progress {
			told = time.Now()
			fmt.Fprintf(out, "%6.1fs: %d of %d jobs, %d right, %d dead\n", time.Since(t.start).Seconds(), t.Jobs, f.Jobs, t.Right, t.Deaths)
		}
	}
	t.took = time.Since(t.start)
	return t
}

func note(j Job, r *Result) string {
	if j.Note == nil {
		return ""
	}
	return ", " + j.Note(r)
}

// A Tally counts jobs.
type Tally struct {
	Jobs, Right int
	Hangs       int
	Broken      int // a promise, found by a rank or by the driver
	Failed      int // other wrong jobs
	Leftovers   int // processes, files and shared memory
	Deaths      int
	times       []time.Duration
	start       time.Time
	took        time.Duration
}

// add counts a job, and returns its mistake or "".
func (t *Tally) add(r *Result, check func(*Result) string) string {
	t.Jobs++
	t.Deaths += len(r.Deaths())
	t.Leftovers += len(r.Left)
	t.times = append(t.times, r.Took)
	bad := r.Judge()
	switch {
	case r.Hung:
		t.Hangs++
	case bad == BrokenPromise:
		t.Broken++
	case bad != "":
		t.Failed++
	default:
		if bad = check(r); bad == "" {
			t.Right++
		} else {
			t.Broken++
		}
	}
	return bad
}

// Print shows the counts.
func (t *Tally) Print(out io.Writer) {
	fmt.Fprintf(out, "jobs=%d right=%d deaths=%d hangs=%d broken=%d failed=%d leftovers=%d\n", t.Jobs, t.Right, t.Deaths, t.Hangs, t.Broken, t.Failed, t.Leftovers)
	fmt.Fprintf(out, "a job took %s; all %v\n", Spread(t.times), t.took.Round(time.Millisecond))
}

// Spread formats the median, the 0.99 quantile and the maximum of some durations.
func Spread(all []time.Duration) string {
	if len(all) == 0 {
		return "nothing"
	}
	d := slices.Sorted(slices.Values(all))
	at := func(percent int) time.Duration { return d[((len(d)-1)*percent+99)/100].Round(10 * time.Microsecond) }
	return fmt.Sprintf("%v (median), %v (99 in 100), %v (largest)", at(50), at(99), at(100))
}

// Code returns the exit code of the driver.
func (t *Tally) Code() int {
	if t.Right == t.Jobs {
		return 0
	}
	return 1
}
