package plan

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

var ops = []string{"latency", "rate"}

func TestParse(t *testing.T) {
	p, err := Parse("p2p", "", ops, "0,8", []string{"-ops", "rate,latency", "-time", "1s", "-csv"})
	if err != nil || !slices.Equal(p.Ops, ops) || !slices.Equal(p.Sizes, []int{0, 8}) || p.Batches != 21 || p.Time != time.Second || p.Format != record.CSV {
		t.Errorf("%+v %v", p, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-ops", "speed"}, `no operation "speed"; there are latency, rate`},
		{[]string{"-sizes", "8,x"}, `the size "x"`},
		{[]string{"-sizes", ""}, `the size ""`},
		{[]string{"-sizes", "-1"}, `the size "-1"`},
		{[]string{"-sizes", "2000M"}, `the size "2000M"`},
		{[]string{"-batches", "0"}, "-batches must be 1 or more"},
		{[]string{"-iters", "-1"}, "-iters 0 or more"},
		{[]string{"-time", "0s"}, "-time above 0"},
		{[]string{"-json", "-csv"}, "not both"},
		{[]string{"more"}, `no argument is allowed after the flags, have ["more"]`},
	} {
		if _, err := Parse("p2p", "", ops, "8", c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestParseFlagsOfTheProgram(t *testing.T) {
	own := false
	p, err := Parse("coll", "", ops, "8", []string{"-own", "-ops", "rate"}, func(fs *flag.FlagSet) { fs.BoolVar(&own, "own", false, "") })
	if err != nil || !own || !slices.Equal(p.Ops, []string{"rate"}) {
		t.Errorf("%v %+v %v", own, p, err)
	}
}

func TestSizes(t *testing.T) {
	got, err := Sizes("0,8,4K,1M,1024M")
	if want := []int{0, 8, 4096, 1 << 20, 1 << 30}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
}

// For any cost of an iteration, the trials end and the batch fills its share.
func TestNextFillsTheShare(t *testing.T) {
	p := Plan{Batches: 10, Time: time.Second}
	share := 100 * time.Millisecond
	for _, each := range []time.Duration{1, 50, 777, time.Microsecond, 3 * time.Millisecond, time.Second} {
		iters, spent := 1, time.Duration(0)
		for {
			took := time.Duration(iters) * each
			spent += took
			next, done := p.Next(iters, took)
			if iters = next; done {
				break
			}
		}
		total := time.Duration(iters) * each
		switch {
		case each > share && iters != 1:
			t.Errorf("%v each: %d iterations", each, iters)
		case iters == itersMax: // the most possible
		case each <= share && (total < share*9/10 || total > share):
			t.Errorf("%v each: %d iterations take %v, the share is %v", each, iters, total, share)
		}
		if spent > 2*share && each < share {
			t.Errorf("%v each: the trials took %v", each, spent)
		}
	}
	if iters, done := p.Next(itersMax, 0); !done || iters != itersMax {
		t.Errorf("%d %v from a clock that stands", iters, done)
	}
}
