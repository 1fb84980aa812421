package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// TestOverTCP: rows between nodes have names and targets of their own, and each comes from its
// task.
func TestOverTCP(t *testing.T) {
	ts := tasks(options{only: []string{overTCP}, counts: []int{64}})
	var got []string
	for _, x := range ts {
		got = append(got, fmt.Sprintf("%s %d", x.between, x.n))
	}
	if want := []string{"p2p 2", "coll 2", "coll 4", "coll 8", "ulfm 4", "ulfm 8"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := suiteOf("tcp_shrink") + suiteOf("shrink"); got != overTCP+"ulfm" {
		t.Error(got)
	}
	if target, ok := targetOf(key{"tcp_barrier", 8, 0}); !ok || target.Bound != 0.6 {
		t.Error(target, ok)
	}
	records := []record.Record{{Bench: "latency"}}
	if got := named(ts[0], records); got[0].Bench != "tcp_latency" || records[0].Bench != "latency" {
		t.Error(got, records)
	}
}
