package collectives_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestOptionsOfTwins: a sum with bits that depend on the order. Without options a non-blocking call
// has the order of the table, with them that of the blocking call with the same options. The options
// of one call do not change the next one.
func TestOptionsOfTwins(t *testing.T) {
	commtest.Run(t, 7, func(ctx context.Context, w *comm.Comm) {
		src := make([]float64, 100)
		for i := range src {
			src[i] = math.Sin(float64(i*17+w.Rank())) * math.Pow(10, float64((i+w.Rank())%9))
		}
		ring, fixed := collectives.Algorithm("ring"), collectives.Reproducible()
		blocking := func(opts ...collectives.Option) []float64 {
			dst := make([]float64, len(src))
			assert.NoError(t, collectives.Allreduce(ctx, w, dst, src, collectives.Sum, opts...))
			return dst
		}
		sum := func(opts ...collectives.Option) []float64 {
			dst := make([]float64, len(src))
			_, err := collectives.Iallreduce(w, dst, src, collectives.Sum, opts...).Wait(ctx)
			assert.NoError(t, err)
			return dst
		}
		plain, otherwise, want := sum(), blocking(ring), blocking(fixed)
		assert.NotEqual(t, want, otherwise, "the order changes nothing: this test shows nothing")
		assert.NotEqual(t, plain, otherwise, "the order changes nothing: this test shows nothing")

		assert.Equal(t, otherwise, sum(ring))
		assert.Equal(t, want, sum(fixed))
		assert.Equal(t, want, sum(ring, fixed), "an algorithm without the fixed order is skipped")
		assert.Equal(t, want, sum(fixed, ring))
		assert.Equal(t, otherwise, sum(collectives.Algorithm("recursive-doubling"), ring), "the last algorithm counts")
		assert.Equal(t, plain, sum(collectives.Option{}))
		assert.Equal(t, plain, sum())
	})
}

// TestWrongOptionsOfTwins: a name that does not exist is the error of the first wait, at every
// non-blocking call.
func TestWrongOptionsOfTwins(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		grid, err := w.Cart(ctx, []int{2}, []bool{true}, false)
		if !assert.NoError(t, err) {
			return
		}
		wrong := collectives.Algorithm("rnig")
		one, two, blocks := []int{1}, []int{1, 2}, collectives.Blocks{Counts: []int{1, 1}}
		for i, r := range []comm.Request{
			collectives.Ibarrier(w, wrong),
			collectives.Ibcast(w, 0, one, wrong),
			collectives.Ireduce(w, 0, one, one, collectives.Sum, wrong),
			collectives.Iallreduce(w, one, one, collectives.Sum, wrong),
			collectives.Iscan(w, one, one, collectives.Sum, wrong),
			collectives.Iexscan(w, one, one, collectives.Sum, wrong),
			collectives.Igather(w, 0, two, one, wrong),
			collectives.Igatherv(w, 0, two, blocks, one, wrong),
			collectives.Iscatter(w, 0, one, two, wrong),
			collectives.Iscatterv(w, 0, one, two, blocks, wrong),
			collectives.Iallgather(w, two, one, wrong),
			collectives.Iallgatherv(w, two, blocks, one, wrong),
			collectives.Ialltoall(w, two, two, wrong),
			collectives.Ialltoallv(w, two, blocks, two, blocks, wrong),
			collectives.IreduceScatterBlock(w, one, two, collectives.Sum, wrong),
			collectives.IreduceScatter(w, one, two, blocks.Counts, collectives.Sum, wrong),
			collectives.IneighborAllgather(grid, two, one, wrong),
			collectives.IneighborAllgatherv(grid, two, blocks, one, wrong),
			collectives.IneighborAlltoall(grid, two, two, wrong),
			collectives.IneighborAlltoallv(grid, two, blocks, two, blocks, wrong),
		} {
			_, err := r.Wait(ctx)
			assert.ErrorIs(t, err, comm.ErrUnsupported, "twin %d", i)
			assert.ErrorContains(t, err, "no algorithm \"rnig\" of ", "twin %d", i)
		}
	})
}

// TestUnknownChoiceIsAnErrorOfTheCall at all members, for every blocking call, and the communicator
// works on.
func TestUnknownChoiceIsAnErrorOfTheCall(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		grid, err := w.Cart(ctx, []int{2}, []bool{true}, false)
		if !assert.NoError(t, err) {
			return
		}
		wrong := collectives.Algorithm("rnig")
		one, two, blocks := []int{1}, []int{1, 2}, collectives.Blocks{Counts: []int{1, 1}}
		loc := []collectives.Loc[int]{{}}
		second := func(_ any, err error) error { return err }
		for i, err := range []error{
			collectives.Barrier(ctx, w, wrong),
			collectives.Bcast(ctx, w, 0, one, wrong),
			second(collectives.BcastOne(ctx, w, 0, 1, wrong)),
			collectives.BcastValue(ctx, w, 0, &one, wrong),
			collectives.Reduce(ctx, w, 0, one, one, collectives.Sum, wrong),
			second(collectives.ReduceOne(ctx, w, 0, 1, collectives.Sum, wrong)),
			second(collectives.ReduceValue(ctx, w, 0, 1, func(a, _ int) int { return a }, wrong)),
			collectives.ReduceLoc(ctx, w, 0, loc, loc, collectives.MaxLoc, wrong),
			collectives.Allreduce(ctx, w, one, one, collectives.Sum, wrong),
			second(collectives.AllreduceOne(ctx, w, 1, collectives.Sum, wrong)),
			collectives.AllreduceLoc(ctx, w, loc, loc, collectives.MaxLoc, wrong),
			collectives.Scan(ctx, w, one, one, collectives.Sum, wrong),
			second(collectives.ScanOne(ctx, w, 1, collectives.Sum, wrong)),
			collectives.Exscan(ctx, w, one, one, collectives.Sum, wrong),
			collectives.Gather(ctx, w, 0, two, one, wrong),
			collectives.Gatherv(ctx, w, 0, two, blocks, one, wrong),
			second(collectives.GatherValue(ctx, w, 0, 1, wrong)),
			collectives.Scatter(ctx, w, 0, one, two, wrong),
			collectives.Scatterv(ctx, w, 0, one, two, blocks, wrong),
			second(collectives.ScatterValue(ctx, w, 0, two, wrong)),
			collectives.Allgather(ctx, w, two, one, wrong),
			collectives.Allgatherv(ctx, w, two, blocks, one, wrong),
			second(collectives.AllgatherValue(ctx, w, 1, wrong)),
			collectives.Alltoall(ctx, w, two, two, wrong),
			collectives.Alltoallv(ctx, w, two, blocks, two, blocks, wrong),
			second(collectives.AlltoallValue(ctx, w, two, wrong)),
			collectives.ReduceScatterBlock(ctx, w, one, two, collectives.Sum, wrong),
			collectives.ReduceScatter(ctx, w, one, two, blocks.Counts, collectives.Sum, wrong),
			collectives.NeighborAllgather(ctx, grid, two, one, wrong),
			collectives.NeighborAllgatherv(ctx, grid, two, blocks, one, wrong),
			collectives.NeighborAlltoall(ctx, grid, two, two, wrong),
			collectives.NeighborAlltoallv(ctx, grid, two, blocks, two, blocks, wrong),
		} {
			assert.ErrorIs(t, err, comm.ErrUnsupported, "call %d", i)
			assert.ErrorContains(t, err, "no algorithm \"rnig\" of ", "call %d", i)
		}
		works(ctx, t, w, "after a wrong choice")
		works(ctx, t, grid, "after a wrong choice")
	})
}

// TestUnknownChoiceBetweenGroups: the collectives of an intercommunicator take options, too.
func TestUnknownChoiceBetweenGroups(t *testing.T) {
	across(t, func(ctx context.Context, ic *comm.Intercomm, second bool) {
		wrong := collectives.Algorithm("rnig")
		root, one, all := rootOf(ic, second, true, 0), []int{1}, make([]int, ic.RemoteSize())
		for i, err := range []error{
			collectives.InterBarrier(ctx, ic, wrong),
			collectives.InterBcast(ctx, ic, root, one, wrong),
			collectives.InterReduce(ctx, ic, root, one, one, collectives.Sum, wrong),
			collectives.InterAllreduce(ctx, ic, one, one, collectives.Sum, wrong),
			collectives.InterGather(ctx, ic, root, all, one, wrong),
			collectives.InterScatter(ctx, ic, root, one, all, wrong),
			collectives.InterAllgather(ctx, ic, all, one, wrong),
			collectives.InterAlltoall(ctx, ic, all, all, wrong),
		} {
			assert.ErrorIs(t, err, comm.ErrUnsupported, "call %d", i)
			assert.ErrorContains(t, err, "no algorithm \"rnig\" of ", "call %d", i)
		}
		assert.NoError(t, collectives.InterAllgather(ctx, ic, all, one, collectives.Algorithm("linear")))
		assert.NoError(t, collectives.InterBarrier(ctx, ic, collectives.Algorithm("dissemination")))
	})
}

// A sum that does not wait, and has the same bits in each run.
func ExampleOption() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		v := []float64{[]float64{1e16, 1, -1e16, 1}[w.Rank()]}
		r := collectives.Iallreduce(w, v, v, collectives.Sum, collectives.Reproducible())
		// ... compute ...
		_, err := r.Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(v, err)
		}
	})
	// Output: [0] <nil>
}
