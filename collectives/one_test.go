package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestOneElement: numbers, records, and records that are too large to be kept, by memory and
// by messages.
func TestOneElement(t *testing.T) {
	type pair struct{ A, B int32 }
	for _, n := range []int{1, 2, 5} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			me, last := w.Rank(), n-1
			for _, ways := range [][]string{{"", "", "", ""}, {"ring", "chain", "linear", "chain"}} {
				sum, err := collectives.AllreduceOne(ctx, w, float64(me), collectives.Sum, collectives.Algorithm(ways[0]))
				assert.NoError(t, err)
				assert.EqualValues(t, n*last/2, sum)
				most, err := collectives.ReduceOne(ctx, w, last, me+3, collectives.Max, collectives.Algorithm(ways[1]))
				assert.NoError(t, err)
				assert.Equal(t, map[bool]int{true: last + 3}[me == last], most)
				some, err := collectives.ScanOne(ctx, w, uint8(1), collectives.Sum, collectives.Algorithm(ways[2]))
				assert.NoError(t, err)
				assert.EqualValues(t, me+1, some)
				p, err := collectives.BcastOne(ctx, w, last, pair{int32(me), 7}, collectives.Algorithm(ways[3]))
				assert.NoError(t, err)
				assert.Equal(t, pair{int32(last), 7}, p)
				r, err := collectives.BcastOne(ctx, w, 0, rowOf(float64(me)), collectives.Algorithm(ways[3]))
				assert.NoError(t, err)
				assert.True(t, r == rowOf(0))
			}
			_, err := collectives.BcastOne(ctx, w, n, 1)
			assert.ErrorIs(t, err, comm.ErrRoot)
			v, err := collectives.ReduceOne(ctx, w, -1, 5, collectives.Sum)
			assert.ErrorIs(t, err, comm.ErrRoot)
			assert.Zero(t, v)
			_, err = collectives.AllreduceOne(ctx, w, "text", collectives.CustomOf(func(_, _ []string) {}, true))
			assert.ErrorIs(t, err, comm.ErrType)
		})
	}
	_, err := collectives.AllreduceOne(t.Context(), nil, 1, collectives.Sum)
	assert.ErrorIs(t, err, comm.ErrArgument)
}
