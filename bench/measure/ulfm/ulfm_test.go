package ulfm

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

func TestPhases(t *testing.T) {
	const want = "agree/2 allreduce_before/2 detect/1 agree_detecting/1 ack_agree/1 shrink/1 agree_shrunk/2 allreduce_shrunk/2 revoke/1 "
	for _, n := range []int{2, 5} {
		var out strings.Builder
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			b := &bench{options: options{batches: 2, iters: 3, lead: time.Millisecond}, w: w, out: new(record.Writer), die: func() { commtest.Kill(w) }}
			if w.Rank() == 0 {
				b.out = record.NewWriter(&out, record.JSON)
			}
			if err := b.run(ctx); err != nil {
				t.Errorf("rank %d of %d: %v", w.Rank(), n, err)
			}
		})
		rs, err := record.Parse(strings.NewReader(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range rs {
			got += fmt.Sprintf("%s/%d ", r.Bench, len(r.Batches))
			if r.N != n || r.Unit != record.Micros || r.Summary().Min <= 0 {
				t.Errorf("%+v", r)
			}
		}
		if got != want {
			t.Errorf("n=%d: %s, want %s", n, got, want)
		}
	}
}

func TestOneRankIsTooFew(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		if err := (&bench{w: w}).run(ctx); err == nil || !strings.Contains(err.Error(), "at least 2 ranks") {
			t.Error(err)
		}
	})
}

func TestParse(t *testing.T) {
	for _, args := range []string{"-batches 0", "-iters -1", "-lead -1s", "more"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
	o, err := parse([]string{"-json"})
	if err != nil || o.format() != record.JSON || o.batches != 15 {
		t.Errorf("%+v %v", o, err)
	}
	for n, want := range map[int]int{2: 200, 8: 200, 9: 50, 32: 50, 33: 15} {
		if got := o.itersOf(n); got != want {
			t.Errorf("%d ranks: %d agreements, want %d", n, got, want)
		}
	}
}
