package trial

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		good bool
	}{
		{"", true},
		{"-rounds 1 -seed 7 -first 3", true},
		{"-rounds 0", false},
		{"-first -1", false},
		{"-timeout 0s", false},
	} {
		var f Flags
		fs := flag.NewFlagSet("x", flag.ContinueOnError)
		f.Register(fs, "rounds", 5)
		if err := fs.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); (err == nil) != c.good || c.good && f.Seed == 0 {
			t.Errorf("%q: %v, seed %d", c.args, err, f.Seed)
		}
	}
	f, again := Flags{Seed: 7}, Flags{Seed: 7}
	if f.SeedOf(1) != again.SeedOf(1) || f.SeedOf(1) == f.SeedOf(2) {
		t.Error("a job's seed is not its own")
	}
}

func TestSeed(t *testing.T) {
	if got := Seed(7); got != 7 {
		t.Errorf("7 became %d", got)
	}
	if Seed(0) == 0 {
		t.Error("no seed")
	}
}

// A script stands in for the launcher: its exit code is its last argument.
func TestLoop(t *testing.T) {
	p := place(t, "for last; do :; done\necho 'so it was'\nexit $last\n")
	f := Flags{Jobs: 4, First: 10, Seed: 7, Verbose: true, Launch: "--agree era"}
	codes := []string{"0", "77", "1", "0"}
	var out strings.Builder
	tally := f.Loop(p, &out, func(number int) Job {
		return Job{N: 3, Args: []string{codes[number-10]}, Again: "-x", Note: func(*Result) string { return "well done" }, Check: func(*Result) string {
			if number == 13 {
				return "the driver sees more"
			}
			return ""
		}}
	})
	if tally.Jobs != 4 || tally.Right != 1 || tally.Broken != 2 || tally.Failed != 1 || tally.Code() != 1 {
		t.Errorf("%+v", tally)
	}
	tally.Print(&out)
	for _, want := range []string{"job 10: ", "dead, well done\n", "job 11 is wrong: a broken promise; again: -seed 7 -first 11 -x\n$ ",
		"--agree era", "job 13 is wrong: the driver sees more", "so it was", "jobs=4 right=1 deaths=0 hangs=0 broken=2 failed=1 leftovers=0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	f.Jobs = 100
	always := func(int) Job { return Job{N: 1, Args: []string{"1"}} }
	if tally := f.Loop(p, io.Discard, always); tally.Jobs != wrongMax {
		t.Errorf("%d jobs, all of them wrong", tally.Jobs)
	}
	f.Jobs = 1
	right := func(int) Job { return Job{N: 1, Args: []string{"0"}, Check: func(*Result) string { return "" }} }
	if tally := f.Loop(p, io.Discard, right); tally.Code() != 0 {
		t.Errorf("%+v", tally)
	}
}

func TestSpread(t *testing.T) {
	var all []time.Duration
	for i := range 101 {
		all = append(all, time.Duration(100-i)*time.Millisecond)
	}
	if got, want := Spread(all), "50ms (median), 99ms (99 in 100), 100ms (largest)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Spread(nil); got != "nothing" {
		t.Errorf("%q", got)
	}
}

// A fake stands for a communicator.
type fake struct{ codes []int }

func (f *fake) Rank() int      { return 2 }
func (f *fake) Abort(code int) { f.codes = append(f.codes, code) }

func TestRankAbortsOnABrokenPromise(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		want []int
	}{
		{nil, nil},
		{other, nil},
		{fmt.Errorf("deep: %w", Broken("a %d", 1)), []int{CodeWrong}},
	} {
		f := new(fake)
		err := Rank(func(context.Context, *fake) error { return c.err })(t.Context(), f)
		if err != c.err || !slices.Equal(f.codes, c.want) || IsBroken(err) != (c.want != nil) {
			t.Errorf("%v: returned %v, aborted with %v", c.err, err, f.codes)
		}
	}
}
