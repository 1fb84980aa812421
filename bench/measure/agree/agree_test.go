package agree

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-agree log2phases": true, "-agree paxos": false, "-before 0 -after 0 -victim -1": true, "-before -1": false, "-after -1": false, "-victim -2": false, "-deaths 3 -json": true, "-deaths 0": false, "x": false, "-frob": false,
	})
}

func TestPhases(t *testing.T) {
	for k := range 12 {
		victim, twoPhase := k/2-1, k%2 == 1
		t.Run(fmt.Sprintf("victim %d, log2phases %v", victim, twoPhase), func(t *testing.T) {
			commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
				o := options{before: 5, after: 7, victim: victim, deaths: 1, seed: 9, twoPhase: twoPhase}
				b := newBench(o, w, io.Discard, func() { commtest.Kill(w) })
				if err := b.run(ctx); err != nil {
					t.Errorf("rank %d: %v", w.Rank(), err)
				}
				got := ""
				for _, p := range b.phases {
					got += fmt.Sprintf("%s %d ", p.name, len(p.us))
				}
				want := "before 5 first 1 acknowledge 1 after 7 "
				if victim < 0 {
					want = "before 5 after 7 "
				}
				if got != want {
					t.Errorf("rank %d: phases %q, want %q", w.Rank(), got, want)
				}
			})
		})
	}
}

// TestSeveralDeaths: the first agreement reports all victims, and the next one succeeds.
func TestSeveralDeaths(t *testing.T) {
	for deaths := 2; deaths <= 4; deaths++ {
		t.Run(fmt.Sprint(deaths), func(t *testing.T) {
			o := options{before: 2, after: 2, victim: 1, deaths: deaths, seed: 3, json: true}
			var out strings.Builder
			last := -1 // the rank that prints: the first survivor
			for r := 4; r >= 0; r-- {
				if !slices.Contains(o.victims(5), r) {
					last = r
				}
			}
			commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
				var to io.Writer = io.Discard
				if w.Rank() == last {
					to = &out
				}
				if err := newBench(o, w, to, func() { commtest.Kill(w) }).run(ctx); err != nil {
					t.Errorf("rank %d: %v", w.Rank(), err)
				}
			})
			records, err := record.Parse(strings.NewReader(out.String()))
			if err != nil || len(records) != 4 {
				t.Fatalf("%d records, %v", len(records), err)
			}
			for i, name := range []string{"before", "first", "acknowledge", "after"} {
				if r := records[i]; r.Bench != name || r.N != 5 || r.Size != deaths {
					t.Errorf("record %d: %+v", i, r)
				}
			}
		})
	}
}

// Each contribution must matter: an omitted one shows in some of the results.
func TestFlagsShowAMissingContribution(t *testing.T) {
	const calls = 50
	for _, n := range []int{2, 3, 8, 64} {
		for out := range n {
			seen, bitsLeft := 0, 0
			for call := range calls {
				with := and(call, n, -1)
				bitsLeft += bits.OnesCount64(with)
				if and(call, n, out) != with {
					seen++
				}
			}
			if seen < calls/25 || bitsLeft < 10*calls {
				t.Errorf("n=%d: rank %d left out %d times is seen %d times; %d bits are left in all", n, out, calls, seen, bitsLeft)
			}
		}
	}
}

func and(call, n, out int) uint64 {
	flag := ^uint64(0)
	for r := range n {
		if r != out {
			flag &= flagOf(1, call, r, n)
		}
	}
	return flag
}
