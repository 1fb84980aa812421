package p2p

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

func TestEveryOperation(t *testing.T) {
	p := plan.Plan{Ops: ops, Sizes: []int{0, 8, 70000}, Batches: 3, Iters: 2, Format: record.JSON}
	var out strings.Builder
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		to := new(record.Writer)
		if w.Rank() == 0 {
			to = record.NewWriter(&out, p.Format)
		}
		if err := run(ctx, w, p, to); err != nil {
			t.Errorf("rank %d: %v", w.Rank(), err)
		}
	})
	rs, err := record.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range rs {
		got += fmt.Sprintf("%s/%d/%s ", r.Bench, r.Size, r.Unit)
		if len(r.Batches) != 3 || r.N != 3 || slices.Min(r.Batches) <= 0 {
			t.Errorf("%+v", r)
		}
	}
	want := "latency/0/us latency/8/us latency/70000/us bandwidth/8/MB/s bandwidth/70000/MB/s bibandwidth/8/MB/s bibandwidth/70000/MB/s rate/8/Mmsg/s "
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestOneRankIsTooFew(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		if err := run(ctx, w, plan.Plan{}, nil); err == nil || !strings.Contains(err.Error(), "at least 2 ranks") {
			t.Error(err)
		}
	})
}

func TestFigures(t *testing.T) {
	for op, want := range map[string]float64{
		"latency":     1,          // two messages in 2 us
		"bandwidth":   64 * 1000,  // 64 of 2000 bytes in 2 us
		"bibandwidth": 128 * 1000, // the same twice
		"rate":        32,         // 64 in 2 us
	} {
		r := figures(op, 2, 2000, []float64{2e-6})
		if got := r.Batches[0]; got < want*0.999999 || got > want*1.000001 {
			t.Errorf("%s: %v %s, want %v", op, got, r.Unit, want)
		}
	}
}

func TestCheckSeesAWrongByte(t *testing.T) {
	for _, rank := range []int{0, 1} {
		p := &pair{rank: rank, active: true, in: []byte{mark(1-rank, 0), mark(1-rank, 1)}}
		for _, op := range ops {
			if err := p.check(op); err != nil {
				t.Errorf("%s, rank %d: %v", op, rank, err)
			}
		}
		p.in[1]++
		for _, op := range ops {
			gets := rank == 1 || op == "latency" || op == "bibandwidth"
			if err := p.check(op); (err != nil) != gets {
				t.Errorf("%s, rank %d, a wrong byte: %v", op, rank, err)
			}
		}
	}
}

// The loops themselves allocate nothing: with no process at the other end every call returns at
// once, so the test measures only the loop and the calls.
func TestLoopsDoNotAllocate(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			return
		}
		for _, rank := range []int{0, 1} {
			p := newPair(w, rateSize)
			p.rank = rank
			p.to, p.ackTo, p.from, p.ackOf = w.To(comm.None), w.To(comm.None), w.From(comm.None), w.From(comm.None)
			for _, op := range ops {
				loop := p.loop(op)
				got := testing.AllocsPerRun(20, func() {
					if err := loop(ctx, 100); err != nil {
						t.Error(err)
					}
				})
				// Background loops and, under the race detector, pools that forget allocate now and
				// then; a faulty loop would allocate each time.
				if got >= 50 {
					t.Errorf("%s, rank %d: %v allocations in 100 iterations", op, rank, got)
				}
			}
		}
	})
}

func TestTimeBudget(t *testing.T) {
	p := plan.Plan{Ops: []string{"latency"}, Sizes: []int{8}, Batches: 2, Time: time.Millisecond}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if err := run(ctx, w, p, new(record.Writer)); err != nil {
			t.Error(err)
		}
	})
}
