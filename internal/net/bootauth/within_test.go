package bootauth

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWithinIsOverWhenItReturns: the function that ends the reads and writes at the time limit
// runs before within returns, also if do has seen the end of the time by itself. A later run
// would end the line with the reason:
//
//	the time is over          what ends reads and writes is about to run
//	do returns; within too
//	the deadline is lifted    runs: the deadline is over
//	the reason cannot be written
func TestWithinIsOverWhenItReturns(t *testing.T) {
	for range 1000 {
		synctest.Test(t, func(t *testing.T) {
			mine, its := net.Pipe()
			err := within(t.Context(), mine, time.Second, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			require.EqualError(t, err, "not within 1s")
			require.NoError(t, mine.SetDeadline(time.Time{}))
			go func() { _, _ = its.Read(make([]byte, 1)) }()
			_, err = mine.Write([]byte{1})
			require.NoError(t, err)
			require.NoError(t, mine.Close())
			require.NoError(t, its.Close())
		})
	}
}
