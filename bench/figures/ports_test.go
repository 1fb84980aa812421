package main

import (
	"math"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

// TestNoticeGrowsAsLog: the time until all members know a notice is log2 n times the mean time of
// a message, which is 1 us: half at each port. In ascending order of ranks it was 1.0 times that
// with 8 members and 1.95 times with 2,048.
func TestNoticeGrowsAsLog(t *testing.T) {
	var shares []float64
	for _, c := range []struct {
		n    int
		most float64 // us
	}{{8, 3}, {64, 6.3}, {100, 7}, {768, 10}, {2048, 14.4}} {
		got := 1000 * run{}.notice(c.n, 0, mono.Microsecond)
		if got > c.most {
			t.Errorf("%d members know after %.2f us, want at most %.1f", c.n, got, c.most)
		}
		shares = append(shares, got/math.Log2(float64(c.n)))
	}
	if least, most := slices.Min(shares), slices.Max(shares); most/least > 1.15 {
		t.Errorf("times over log2 n are %.2f, want equal ones within 15 %%", shares)
	}
}

// TestRelayHasOrderOfFlood compares the order of the lazy world with the actions of package flood.
func TestRelayHasOrderOfFlood(t *testing.T) {
	for _, n := range []int{5, 12, 64, 100} {
		for via := range n {
			w := newWorld(lowLat, n, 1)
			me := n / 3
			f := flood.New(flood.Config{N: n, Me: me, Items: 1})
			var ev flood.Event = flood.Publish{Items: rankset.Of(0)}
			w.graph.via[me] = -1
			if !slices.Contains(flood.Neighbors(n, me), via) && via != me {
				continue
			}
			if via != me {
				from := flood.New(flood.Config{N: n, Me: via, Items: 1})
				ev = flood.Receive{From: via, Msg: sends(from.Step(ev))[0].Msg}
				w.graph.via[me] = int32(via)
			}
			var want, got []int
			for _, s := range sends(f.Step(ev)) {
				want = append(want, s.To)
			}
			w.relay(me, 0, func(_, to int, _ mono.Time) { got = append(got, to) })
			if !slices.Equal(got, want) {
				t.Errorf("n = %d, from %d: %d sends to %v, want %v", n, via, me, got, want)
			}
		}
	}
}

func sends(actions []flood.Action) (out []flood.Send) {
	for _, a := range actions {
		if s, ok := a.(flood.Send); ok {
			out = append(out, s)
		}
	}
	return out
}
