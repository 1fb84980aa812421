package ctxwatch

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken := 0
		w := Watch{Wake: func() { woken++ }}
		assert.Nil(t, w.Of(context.Background()), "it never ends")

		first, end := context.WithCancel(t.Context())
		word := w.Of(first)
		assert.Same(t, word, w.Of(first), "the watch is kept")
		assert.False(t, word.Load())
		end()
		synctest.Wait()
		assert.True(t, word.Load())
		assert.Equal(t, 1, woken)

		second, end := context.WithCancel(t.Context())
		assert.False(t, w.Of(second).Load(), "another context")
		third, endThird := context.WithCancel(t.Context())
		word = w.Of(third)
		end()
		synctest.Wait()
		assert.Equal(t, 1, woken, "nobody watches the second any more")
		assert.False(t, word.Load())
		endThird()
		synctest.Wait()
		assert.True(t, word.Load())
	})
}

func TestKeptWatchNeedsNoMemory(t *testing.T) {
	w := Watch{Wake: func() {}}
	ctx := t.Context()
	w.Of(ctx)
	assert.Zero(t, testing.AllocsPerRun(100, func() { w.Of(ctx) }))
}
