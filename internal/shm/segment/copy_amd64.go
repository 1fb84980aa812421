//go:build !race

package segment

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// canStream says whether stream is any different from move.
const canStream = true

// moveString copies n bytes with REP MOVSB.
//
//go:noescape
func moveString(dst, src *byte, n int)

// stringMin is from how many bytes on the instruction is faster than a loop.
const stringMin = 512

// move copies src to dst. The lines of dst are in the cache of who
// read them last. A loop gets each of them from there before it writes; the instruction
// knows that it writes all of a line, and some processors only have the other copy
// forgotten then: among two that share no cache it is up to three times as fast.
func move(dst, src []byte) {
	if len(src) < stringMin || len(dst) < len(src) || !cpu.X86.HasERMS {
		copy(dst, src)
		return
	}
	moveString(&dst[0], &src[0], len(src))
}

// streamLines copies n bytes, a multiple of Line, to dst, which begins a line, with stores
// that pass the caches by, and waits until they can be seen.
//
//go:noescape
func streamLines(dst, src *byte, n int)

// stream copies src to dst, which is at least as long, past the caches. What is not a whole
// line goes the ordinary way.
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
