package start

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

func TestRank(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if err := rank(ctx, w); err != nil {
			t.Error(err)
		}
	})
}

func TestMeasure(t *testing.T) {
	r, err := measure(t.Context(), 2, 3, []string{"true"})
	if err != nil || len(r.Batches) != 3 || slices.Min(r.Batches) <= 0 || r.N != 2 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := measure(t.Context(), 2, 3, []string{"false"}); err == nil {
		t.Error("a job that failed was measured")
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "1,4", "-runs", "2"})
	if err != nil || !slices.Equal(o.counts, []int{1, 4}) || o.runs != 2 || o.rank {
		t.Errorf("%+v %v", o, err)
	}
	for _, args := range []string{"-n 0", "-n x", "-runs 0", "more"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}
