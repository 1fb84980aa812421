package window

import (
	"math/bits"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHeap: a Region on the heap is found by its token as long as it is in use.
func TestHeap(t *testing.T) {
	a := Heap(100)
	assert.Len(t, a.Bytes(), 104)
	assert.Zero(t, uintptr(addressOf(a.Bytes()))%64)
	b, err := FindHeap(a.Offer())
	require.NoError(t, err)
	assert.Same(t, a, b)
	o := a.Offer()
	o.Bytes = 1 << 20
	_, err = FindHeap(o)
	assert.ErrorIs(t, err, ErrForeign)
	o = a.Offer() // the last use of a
	for range 100 {
		if runtime.GC(); gone(o) {
			return
		}
	}
	t.Error("it is never forgotten")
}

func gone(o Offer) bool {
	_, err := FindHeap(o)
	return err != nil
}

// TestControlsAreApart: all words of a Control are distinct, and none lies outside.
func TestControlsAreApart(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 64} {
		const counters = 3
		c := ControlOf(Heap(ControlBytes(n, counters, false)), n)
		at := map[*uint64]string{c.word(lockWordAt): "W", c.word(lockHintAt): "N", c.word(bellAt): "bell"}
		add := func(p *uint64, what string) {
			assert.Empty(t, at[p], "%s and %s, %d members", at[p], what, n)
			at[p] = what
		}
		for o := range n {
			add(LockOf{c, o}.claim(o), "claim")
			add(c.Completed(o), "completed")
			add(c.Posted(o), "posted")
		}
		for i := range counters {
			add(c.Counter(i), "counter")
		}
		assert.Len(t, at, 3+3*n+counters)
	}
}

// TestElements checks the effect of each operation on an element, and that the neighbours do not
// change.
func TestElements(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		mask := ^uint64(0) >> (64 - 8*size)
		for i := range 16 / size {
			b := Heap(16).Bytes()
			for j := range b {
				b[j] = 0xa5
			}
			e := At(b[i*size:], size)
			assert.Equal(t, 0xa5a5a5a5a5a5a5a5&mask, e.Load())
			assert.Equal(t, 0xa5a5a5a5a5a5a5a5&mask, e.Swap(mask))
			assert.Equal(t, mask, e.Add(2))
			assert.Equal(t, uint64(1), e.Load())
			prev, swapped := e.CompareAndSwap(0, 9)
			assert.False(t, swapped)
			assert.Equal(t, uint64(1), prev)
			prev, swapped = e.CompareAndSwap(1, mask-1)
			assert.True(t, swapped)
			assert.Equal(t, uint64(1), prev)
			assert.Equal(t, mask-1, e.Update(func(acc, in uint64) uint64 { return acc & in }, 0x12))
			assert.Equal(t, (mask-1)&0x12, e.Load())
			for j, v := range b {
				if j/size != i {
					assert.Equal(t, byte(0xa5), v, "element %d of %d bytes: byte %d", i, size, j)
				}
			}
		}
	}
}

// TestNeighboursAtOnce: elements of one word change concurrently, and no change is lost.
func TestNeighboursAtOnce(t *testing.T) {
	const rounds = 100_000 // enough rounds for two goroutines to overlap
	b := Heap(8).Bytes()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			e := At(b[i:], 1)
			for range rounds {
				e.Add(1)
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		assert.Equal(t, byte(rounds&255), b[i])
	}
}

// TestCopy tries all lengths and alignments at which Copy changes its method.
func TestCopy(t *testing.T) {
	src := make([]byte, 3*wholeMax+16)
	for i := range src {
		src[i] = bits.Reverse8(uint8(i)) | 1
	}
	for _, n := range []int{0, 1, 7, 8, wholeMax - 1, wholeMax, wholeMax + 1, 2*wholeMax + 3} {
		for from := range 9 {
			for to := range 9 {
				dst := make([]byte, len(src))
				Copy(dst[to:], src[from:from+n])
				assert.Equal(t, src[from:from+n], dst[to:to+n])
				assert.Equal(t, make([]byte, len(dst)-to-n), dst[to+n:])
			}
		}
	}
}
