package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestFreeWaitsForCollectives: a collective that was started before its communicator is freed still
// completes.
func TestFreeWaitsForCollectives(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		for range 50 {
			d, err := w.Dup(ctx)
			if !assert.NoError(t, err) {
				return
			}
			sum := make([]int, 10_000)
			sum[9_999] = w.Rank()
			r := collectives.Iallreduce(d, sum, sum, collectives.Sum)
			assert.NoError(t, d.Free())
			_, err = r.Wait(ctx)
			assert.NoError(t, err)
			assert.Equal(t, 6, sum[9_999])
		}
	})
}
