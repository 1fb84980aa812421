package park

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// deep calls f from a stack that is deeper than insideLend reads at once.
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

// TestLend: the holder that takes the lock again panics, at once; another goroutine waits.
func TestLend(t *testing.T) {
	var l Lock
	times := 0 // under l
	got := make(chan struct{})
	l.Lock()
	Lend(func() {
		for _, n := range []int{0, 40, 50, 61, 200} {
			assert.PanicsWithValue(t, Reentered{}, func() { deep(n, l.Lock) })
		}
		go func() {
			l.Lock()
			times++
			l.Unlock()
			close(got)
		}()
		assert.False(t, l.TryLock())
	})
	l.Unlock()
	<-got
	l.Lock()
	assert.Equal(t, 1, times)
	l.Unlock()
}
