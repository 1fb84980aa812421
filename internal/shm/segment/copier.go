package segment

import (
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/failpoint"
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
	// streamMin is from how many bytes on the way matters. What passed the caches by comes
	// from memory: who waits for a short message waits longer for it, wherever its lines were.
	streamMin = 2 << 10
	// A sample is the beginning of a copy, made the ordinary way.
	sampleBytes = 1 << 10
	// Lines that are in reach take less than 100 ns in a sample, those of another cache that
	// gives them away readily some 200, and others 300 to 500. So much of it is the sample.
	sampleSlow = 350 * time.Nanosecond
	// Copies from one sample to the next.
	sampleEvery = 32
)

// Copy copies src into shared memory. It is not atomic: a word stored afterwards says that
// it is complete.
func (c *Copier) Copy(dst, src []byte) {
	if failpoint.Counting {
		failpoint.Here()
	}
	if !canStream || len(src) < streamMin || len(dst) < len(src) {
		move(dst, src)
		return
	}
	if c.until > 0 {
		c.until--
	} else {
		start := time.Since(epoch)
		move(dst, src[:sampleBytes])
		atomic.SwapUint32(&c.drain, 0) // else it is over before its stores are
		c.sampled(time.Since(epoch) - start)
		dst, src = dst[sampleBytes:], src[sampleBytes:]
	}
	if c.streams {
		stream(dst, src)
	} else {
		move(dst, src)
	}
}

// epoch is where samples count from: to read the monotonic clock alone takes half as long.
var epoch = time.Now()

// sampled takes note of how long a sample took. The way changes when two
// samples in a row are for it: one of them may have been interrupted.
func (c *Copier) sampled(took time.Duration) {
	slow := took > sampleSlow
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
