package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// made returns figures in which the algorithms take as long as the function seconds returns.
func made(verb string, algorithms []string, ranks, sizes []int, seconds func(algorithm string, n, size int) float64) (all []figure) {
	for _, n := range ranks {
		for _, size := range sizes {
			for _, a := range algorithms {
				all = append(all, figure{verb, a, n, size, seconds(a, n, size)})
			}
		}
	}
	return all
}

func TestRules(t *testing.T) {
	ns, sizes := []int{2, 4, 8}, []int{8, 1024, 65536}
	figures := made("allgather", []string{"bruck", "ring"}, ns, sizes, func(a string, n, size int) float64 {
		switch {
		case a == "bruck":
			return 1e-6
		case n == 2: // not clearly faster
			return 0.95e-6
		case size >= 1024:
			return 0.5e-6
		}
		return 2e-6
	})
	figures = append(figures, made("bcast", []string{"memory", "binomial", "chain:8192"}, ns, sizes, func(a string, n, size int) float64 {
		switch {
		case a == "memory" && size <= 1024, a == "chain:8192" && size > 1024:
			return 1e-6
		}
		return 2e-6
	})...)
	want := []rule{
		{"bcast", 0, 1024, "memory", 0}, {"bcast", 0, 1024, "binomial", 0}, {"bcast", 0, 0, "chain", 8192},
		{"allgather", 2, 0, "bruck", 0}, {"allgather", 0, 8, "bruck", 0}, {"allgather", 0, 0, "ring", 0},
	}
	if got := rules(figures); !slices.Equal(got, want) {
		t.Errorf("%+v\ninstead of\n%+v", got, want)
	}
}

// TestRulesByRanks: where bytes must not decide, all sizes together do.
func TestRulesByRanks(t *testing.T) {
	figures := made("gather", []string{"linear", "binomial"}, []int{2, 8}, []int{8, 65536}, func(a string, n, size int) float64 {
		if a == "binomial" && n == 8 && size == 8 {
			return 1e-6
		}
		return 4e-6
	})
	want := []rule{{"gather", 2, 0, "linear", 0}, {"gather", 0, 0, "binomial", 0}}
	if got := rules(figures); !slices.Equal(got, want) {
		t.Errorf("%+v\ninstead of\n%+v", got, want)
	}
}

// TestMeasure runs every algorithm once and makes a table that can be read.
func TestMeasure(t *testing.T) {
	w, err := comm.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Ops: names(), Sizes: []int{8}, Batches: 1, Iters: 1}
	figures, err := measure(t.Context(), w, p, new(record.Writer))
	if err != nil {
		t.Fatal(err)
	}
	text, err := tableOf(figures)
	var table struct{ Rules []rule }
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	if err != nil || len(table.Rules) < len(verbs) {
		t.Errorf("%d rules, %v:\n%s", len(table.Rules), err, text)
	}
	if err := w.Finalize(t.Context()); err != nil {
		t.Error(err)
	}
}
