package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// A row is an element above the size that is combined at once.
type row [700]float64

func rowOf(v float64) (r row) {
	for i := range r {
		r[i] = v + float64(i)
	}
	return r
}

// norm keeps the row with the larger first number: each row is one element, and parts of rows must
// not be combined alone.
func norm(acc, in []row) {
	for i := range in {
		if in[i][0] > acc[i][0] {
			acc[i] = in[i]
		}
	}
}

// TestLargeRecordsAreNeverCut tries all algorithms that could cut a vector of three.
func TestLargeRecordsAreNeverCut(t *testing.T) {
	choices := []string{"", "recursive-doubling", "ring", "ring:64", "rabenseifner", "reduce-bcast", "reduce-bcast:100"}
	for _, n := range []int{2, 3, 5} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			me, top := float64(w.Rank()), float64(n-1)
			for _, choice := range choices {
				for _, commutes := range []bool{true, false} {
					way := collectives.Algorithm(choice)
					if !commutes && choice != choices[1] {
						way = collectives.Option{}
					}
					rows := []row{rowOf(me), rowOf(-me), rowOf(1e6 * me)}
					err := collectives.Allreduce(ctx, w, rows, rows, collectives.CustomOf(norm, commutes), way)
					assert.NoError(t, err, choice)
					assert.True(t, rows[0] == rowOf(top) && rows[1] == rowOf(0) && rows[2] == rowOf(1e6*top), "%q on %d", choice, n)
				}
			}
			mine := []row{rowOf(me)}
			assert.NoError(t, collectives.Scan(ctx, w, mine, mine, collectives.CustomOf(norm, false)))
			assert.True(t, mine[0] == rowOf(me))
		})
	}
}

// TestElementsThatCannotBeSent: each collective refuses them, in each way, also where only some
// members have them; the communicator still works.
func TestElementsThatCannotBeSent(t *testing.T) {
	type named struct {
		Name string
		At   int
	}
	keep := collectives.CustomOf(func(_, _ []named) {}, true)
	one, all := make([]named, 1), make([]named, 2)
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for name, err := range map[string]error{
			"bcast":      collectives.Bcast(ctx, w, 0, one),
			"reduce":     collectives.Reduce(ctx, w, 0, one, one, keep),
			"allreduce":  collectives.Allreduce(ctx, w, one, one, keep),
			"gather":     collectives.Gather(ctx, w, 0, all, one),
			"scatter":    collectives.Scatter(ctx, w, 0, one, all),
			"allgather":  collectives.Allgather(ctx, w, all, one),
			"alltoall":   collectives.Alltoall(ctx, w, all, all),
			"scan":       collectives.Scan(ctx, w, one, one, keep),
			"allgatherv": collectives.Allgatherv(ctx, w, all, collectives.Blocks{Counts: []int{1, 1}}, one),
		} {
			assert.ErrorIs(t, err, comm.ErrType, name)
			assert.ErrorContains(t, err, "named.Name is a string", name)
		}
		_, err := collectives.Iallreduce(w, one, one, keep).Wait(ctx)
		assert.ErrorIs(t, err, comm.ErrType)

		if w.Rank() == 0 {
			assert.ErrorIs(t, collectives.Allgather(ctx, w, all, one), comm.ErrType)
		} else {
			assert.ErrorIs(t, collectives.Allgather(ctx, w, make([]int, 2), []int{1}), comm.ErrPeerArgument)
		}
		sum := []int{1}
		assert.NoError(t, collectives.Allreduce(ctx, w, sum, sum, collectives.Sum))
		assert.Equal(t, []int{2}, sum)
	})
}

// TestRecordsOfOtherLayouts are distinguished, also from numbers of their size.
func TestRecordsOfOtherLayouts(t *testing.T) {
	type pair struct{ A, B int32 }
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		var err error
		if w.Rank() == 0 {
			err = collectives.Allgather(ctx, w, make([]pair, 2), make([]pair, 1))
		} else {
			err = collectives.Allgather(ctx, w, make([]int64, 2), make([]int64, 1))
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)
	})
}
