package segment

import (
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// A Copier copies into shared memory that one process writes and others read, over and over. The
// lines of this memory are in the cache of their last reader. If the writer shares this cache, an
// ordinary copy is the fastest: the reader finds all lines there. If not, the writer has to fetch
// each line first, which takes longer than a read. Then stores that bypass the caches are up to
// five times as fast.
//
// No interface reports which case holds, and on a virtual machine the case changes while programs
// run. So a Copier measures an ordinary copy now and then. A Copier belongs to the writer: the
// reader sees no difference. The zero value begins with ordinary copies. One goroutine at a time
// may use a Copier.
type Copier struct {
	streams bool  // bypass the caches
	doubted bool  // the last sample was in favour of the other kind of copy
	until   uint8 // copies until the next sample
	drain   uint32
}

const (
	// streamMin is the least size for which the choice matters. Bytes that bypass the caches come
	// from memory: the receiver of a short message would wait longer, wherever the lines were.
	streamMin = 2 << 10
	// A sample is the first part of a copy, made as an ordinary copy.
	sampleBytes = 1 << 10
	// In a sample, lines that are in reach take less than 100 ns. Lines of another cache take about
	// 200 ns if the cache yields them readily, and 300 to 500 otherwise.
	sampleSlow = 350 * time.Nanosecond
	// Copies from one sample to the next.
	sampleEvery = 32
)

// Copy copies src into shared memory. The copy is not atomic: a word stored afterwards marks the
// bytes as complete.
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
		atomic.SwapUint32(&c.drain, 0) // wait for the stores of the sample
		c.sampled(time.Since(epoch) - start)
		dst, src = dst[sampleBytes:], src[sampleBytes:]
	}
	if c.streams {
		stream(dst, src)
	} else {
		move(dst, src)
	}
}

// epoch is the origin of sample times: to read the monotonic clock alone takes half as long.
var epoch = time.Now()

// sampled records how long a sample took. The Copier changes its kind of copy when two samples in a
// row are in favour of the other kind: a single one may have been interrupted.
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
