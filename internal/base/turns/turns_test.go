package turns

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// A lock is a mutex in whose Lock a goroutine of a synctest bubble counts as blocked.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// TestOrder: goroutines have the turn in the order of their calls, one at a time.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			q     Queue
			mu    = newLock()
			order []int
		)
		leave := make(chan struct{})
		for i := range 6 {
			go func() {
				mu.Lock()
				assert.NoError(t, q.Take(t.Context(), mu))
				order = append(order, i)
				mu.Unlock()
				<-leave
				mu.Lock()
				q.Give()
				mu.Unlock()
			}()
			synctest.Wait()
		}
		for i := range 6 {
			assert.Len(t, order, i+1, "one at a time")
			leave <- struct{}{}
			synctest.Wait()
		}
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, order)
		assert.False(t, q.taken)
	})
}

// TestGivenUp: a wait that its context ends leaves the queue, and passes on a turn that was handed
// over at the same time.
func TestGivenUp(t *testing.T) {
	for _, handedOver := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var q Queue
			mu := newLock()
			mu.Lock()
			assert.NoError(t, q.Take(t.Context(), mu))
			mu.Unlock()
			ctx, cancel := context.WithCancel(t.Context())
			took := 0
			take := func(ctx context.Context) {
				mu.Lock()
				defer mu.Unlock()
				if err := q.Take(ctx, mu); err == nil {
					took++
				}
			}
			go take(ctx)
			synctest.Wait()
			go take(t.Context())
			synctest.Wait()
			mu.Lock() // the first one cannot leave the queue
			cancel()
			synctest.Wait()
			if handedOver {
				q.Give()
			}
			mu.Unlock()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !handedOver {
				assert.Zero(t, took)
				assert.Len(t, q.waiting, 1)
				q.Give()
				return
			}
			assert.Equal(t, 1, took)
			assert.Empty(t, q.waiting)
		})
	}
}
