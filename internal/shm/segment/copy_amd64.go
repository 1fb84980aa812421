//go:build !race

package segment

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// canStream reports whether stream is any different from move.
const canStream = true

// moveString copies n bytes with REP MOVSB.
//
//go:noescape
func moveString(dst, src *byte, n int)

// stringMin is the least size for which the instruction is faster than a loop.
const stringMin = 512

// move copies src to dst. The lines of dst are in the cache of their last reader. A loop fetches
// each line from there before the loop writes. The instruction writes whole lines, so some
// processors only invalidate the other copy: between two that share no cache this is up to three
// times as fast.
func move(dst, src []byte) {
	if len(src) < stringMin || len(dst) < len(src) || !cpu.X86.HasERMS {
		copy(dst, src)
		return
	}
	moveString(&dst[0], &src[0], len(src))
}

// streamLines copies n bytes, a multiple of Line, to dst, which begins a line, with stores that
// bypass the caches, and waits until the stores are visible.
//
//go:noescape
func streamLines(dst, src *byte, n int)

// stream copies src to dst, which is at least as long, and bypasses the caches. Parts of lines at
// both ends are copied as usual.
func stream(dst, src []byte) {
	head := min(int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))&(Line-1)), len(src))
	copy(dst, src[:head])
	dst, src = dst[head:], src[head:]
	whole := len(src) &^ (Line - 1)
	if whole > 0 {
		streamLines(&dst[0], &src[0], whole)
	}
	copy(dst[whole:], src[whole:])
}
