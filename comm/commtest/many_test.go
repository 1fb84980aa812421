package commtest

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyVariable names the environment variable with the number of ranks of TestManyRanks:
// COMMTEST_RANKS=3000 go test ./comm/commtest -run TestManyRanks -v -timeout 1h.
const manyVariable = "COMMTEST_RANKS"

// TestManyRanks: a barrier, an allreduce, a death, a shrink and an allreduce of the survivors, in
// bounded memory.
func TestManyRanks(t *testing.T) {
	n, victim := 200, 77
	if text := os.Getenv(manyVariable); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	var told time.Time
	tell := func(w *comm.Comm, what string) {
		if w.Rank() == 0 {
			if !told.IsZero() {
				t.Logf("%-10s %8.3f s", what, time.Since(told).Seconds())
			}
			told = time.Now()
		}
	}
	Config{Limit: time.Hour}.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		sum := func(w *comm.Comm, want int) {
			all := make([]int64, 1)
			assert.NoError(t, collectives.Allreduce(ctx, w, all, []int64{1}, collectives.Sum))
			assert.Equal(t, int64(want), all[0])
		}
		tell(w, "")
		assert.NoError(t, collectives.Barrier(ctx, w))
		tell(w, "barrier")
		sum(w, n)
		tell(w, "allreduce")
		if w.Rank() == victim {
			Kill(w)
			return
		}
		assert.NoError(t, AwaitFailure(ctx, w, 1))
		tell(w, "death")
		s, err := w.Shrink(ctx)
		if !assert.NoError(t, err) {
			return
		}
		tell(s, "shrink")
		sum(s, n-1)
		tell(s, "allreduce")
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d ranks: %d MiB from the system", n, m.Sys>>20)
	assert.Less(t, m.Sys, uint64(300<<20+500*n*n), "the start, and what each rank keeps of each other")
}
