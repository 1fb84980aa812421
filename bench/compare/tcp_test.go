package main

import (
	"testing"

	"github.com/goulfm/goulfm/bench/internal/record"
)

// TestOverTCP: rows between nodes have names and targets of their own, and each comes from its task.
func TestOverTCP(t *testing.T) {
	ts := tasks(options{only: []string{overTCP}, counts: []int{64}})
	count := func(k key) (n int) {
		for _, t := range ts {
			if t.measures(k) {
				n++
			}
		}
		return n
	}
	for k, want := range map[key]int{{"tcp_latency", 2, 8}: 1, {"tcp_barrier", 8, 0}: 1, {"tcp_shrink", 4, 0}: 1, {"tcp_shrink", 2, 0}: 0, {"latency", 2, 8}: 0} {
		if got := count(k); got != want {
			t.Errorf("%+v: %d tasks", k, got)
		}
	}
	if target, ok := targetOf(key{"tcp_barrier", 8, 0}); !ok || target.Bound != 0.6 {
		t.Error(target, ok)
	}
	records := []record.Record{{Bench: "latency"}}
	if got := named(ts[0], records); got[0].Bench != "tcp_latency" || records[0].Bench != "latency" {
		t.Error(got, records)
	}
}
