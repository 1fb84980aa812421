package bootauth

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWithinIsOverWhenItReturns: what ends a connection's reads and writes when the time is over
// does so before within returns, also where what was done has seen the end of the time by itself.
// Later it would end the line with the reason:
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
