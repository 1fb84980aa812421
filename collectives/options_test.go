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

// TestOptionsOfTwins: a sum whose bits depend on the order. Without the options the twin has
// the order of the ring, with them that of the blocking call.
func TestOptionsOfTwins(t *testing.T) {
	commtest.Run(t, 7, func(ctx context.Context, w *comm.Comm) {
		src := make([]float64, 100)
		for i := range src {
			src[i] = math.Sin(float64(i*17+w.Rank())) * math.Pow(10, float64((i+w.Rank())%9))
		}
		var none context.Context
		ring := collectives.With(ctx, "allreduce=ring")
		fixed := collectives.Reproducible(ring)
		sum := func(opts ...collectives.Options) []float64 {
			dst := make([]float64, len(src))
			_, err := collectives.Iallreduce(w, dst, src, collectives.Sum, opts...).Wait(ctx)
			assert.NoError(t, err)
			return dst
		}
		want, otherwise := make([]float64, len(src)), make([]float64, len(src))
		assert.NoError(t, collectives.Allreduce(fixed, w, want, src, collectives.Sum))
		assert.NoError(t, collectives.Allreduce(ring, w, otherwise, src, collectives.Sum))
		assert.NotEqual(t, want, otherwise, "the order changes nothing: this test shows nothing")

		assert.Equal(t, otherwise, sum(collectives.OptionsOf(ring)))
		assert.Equal(t, want, sum(collectives.OptionsOf(fixed)))
		assert.Equal(t, want, sum(collectives.OptionsOf(ring), collectives.OptionsOf(fixed)), "the last one counts")
		assert.Equal(t, sum(), sum(collectives.Options{}))
		assert.Equal(t, sum(), sum(collectives.OptionsOf(ctx)))
		assert.Equal(t, sum(), sum(collectives.OptionsOf(none)), "no context")
	})
}

// TestOptionsOfAContextThatIsOver: the options are the context's, its end is not.
func TestOptionsOfAContextThatIsOver(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		over, cancel := context.WithCancel(collectives.With(ctx, "barrier=dissemination"))
		cancel()
		_, err := collectives.Ibarrier(w, collectives.OptionsOf(over)).Wait(ctx)
		assert.NoError(t, err)
	})
}

// TestWrongOptionsOfTwins: a name that does not exist is the error of the first wait, at
// every twin.
func TestWrongOptionsOfTwins(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		wrong := collectives.OptionsOf(collectives.With(ctx, "barrier=rnig"))
		one, two, one2 := []int{1}, []int{1, 2}, []int{1, 1}
		for i, r := range []comm.Request{
			collectives.Ibarrier(w, wrong),
			collectives.Ibcast(w, 0, one, wrong),
			collectives.Ireduce(w, 0, one, one, collectives.Sum, wrong),
			collectives.Iallreduce(w, one, one, collectives.Sum, wrong),
			collectives.Iscan(w, one, one, collectives.Sum, wrong),
			collectives.Iexscan(w, one, one, collectives.Sum, wrong),
			collectives.Igather(w, 0, two, one, wrong),
			collectives.Igatherv(w, 0, two, one2, nil, one, wrong),
			collectives.Iscatter(w, 0, one, two, wrong),
			collectives.Iscatterv(w, 0, one, two, one2, nil, wrong),
			collectives.Iallgather(w, two, one, wrong),
			collectives.Iallgatherv(w, two, one2, nil, one, wrong),
			collectives.Ialltoall(w, two, two, wrong),
			collectives.Ialltoallv(w, two, one2, nil, two, one2, nil, wrong),
			collectives.IreduceScatterBlock(w, one, two, collectives.Sum, wrong),
			collectives.IreduceScatter(w, one, two, one2, collectives.Sum, wrong),
		} {
			_, err := r.Wait(ctx)
			assert.ErrorIs(t, err, comm.ErrUnsupported, "twin %d", i)
		}
	})
}

// A sum that does not wait, and has the same bits in each run.
func ExampleOptionsOf() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		v := []float64{[]float64{1e16, 1, -1e16, 1}[w.Rank()]}
		fixed := collectives.OptionsOf(collectives.Reproducible(ctx))
		r := collectives.Iallreduce(w, v, v, collectives.Sum, fixed)
		// ... compute ...
		_, err := r.Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(v, err)
		}
	})
	// Output: [0] <nil>
}
