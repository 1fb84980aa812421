package segment

import (
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/killpoint"
)

// A Copier copies into shared memory that one process writes and others read, over and
// over. The lines there are in the cache of who read them last. Where that is the cache of
// the writer, too, an ordinary copy is the fastest: the reader finds all of it there. Where
// it is not, the writer has to get each line first, which takes longer than to read it;
// then stores that pass the caches by are up to five times as fast.
//
// Which of them it is nothing says, and on a virtual machine it changes while programs
// run; so a Copier takes the time of an ordinary copy now and then. It is the writer's
// alone: the reader sees no difference. The zero value is one that makes ordinary copies
// to begin with. One goroutine at a time.
type Copier struct {
	streams bool  // pass the caches by
	doubted bool  // the last sample spoke for the other way
	until   uint8 // copies without a sample
	drain   uint32
}

const (
	// streamMin is from how many bytes on the way matters.
	streamMin = 512
	// A line in reach takes 2 to 5 ns, one in another cache 20 to 27; and what a sample
	// costs besides.
	lineSlow    = 12 * time.Nanosecond
	sampleCosts = 60 * time.Nanosecond
	// An ordinary copy is sampled whole, one that streams by its beginning: that much of
	// it is slow then.
	sampleBytes = 1 << 10
	// Copies from one sample to the next. A sample takes a third of what a message of 1 KiB
	// does.
	sampleEvery = 32
)

// Copy copies src into shared memory. It is not atomic: a word stored afterwards says that
// it is complete.
func (c *Copier) Copy(dst, src []byte) {
	if killpoint.Counting {
		killpoint.Here()
	}
	if !canStream || len(src) < streamMin || len(dst) < len(src) {
		move(dst, src)
		return
	}
	if c.until > 0 {
		c.until--
	} else {
		n := min(len(src), sampleBytes)
		start := time.Since(epoch)
		move(dst, src[:n])
		atomic.SwapUint32(&c.drain, 0) // else it is over before its stores are
		c.sampled(n, time.Since(epoch)-start)
		dst, src = dst[n:], src[n:]
	}
	if c.streams {
		stream(dst, src)
	} else {
		move(dst, src)
	}
}

// epoch is where samples count from: to read the monotonic clock alone takes half as long.
var epoch = time.Now()

// sampled takes note of how long an ordinary copy of n bytes took. The way changes when two
// samples in a row are for it: one of them may have been interrupted.
func (c *Copier) sampled(n int, took time.Duration) {
	slow := took > sampleCosts+time.Duration(n/Line)*lineSlow
	switch {
	case slow == c.streams:
		c.doubted = false
	case !c.doubted:
		c.doubted, c.until = true, 0
		return
	default:
		c.streams, c.doubted = slow, false
	}
	c.until = sampleEvery
}
