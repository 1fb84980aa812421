//go:build !race

package segment

import "golang.org/x/sys/cpu"

// moveString copies n bytes with REP MOVSB.
//
//go:noescape
func moveString(dst, src *byte, n int)

// stringMin is from how many bytes on the instruction is faster than a loop.
const stringMin = 512

// move copies src to dst. The lines of dst are in the cache of who
// read them last. A loop gets each of them from there before it writes; the instruction
// knows that it writes all of a line, and only has the other copy forgotten: among two
// processors that share no cache it is up to three times as fast.
func move(dst, src []byte) {
	if len(src) < stringMin || len(dst) < len(src) || !cpu.X86.HasERMS {
		copy(dst, src)
		return
	}
	moveString(&dst[0], &src[0], len(src))
}
