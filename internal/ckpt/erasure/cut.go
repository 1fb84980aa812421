package erasure

// PartLen returns the length of a part in bytes if data as long as the longest are cut into the
// given number of parts.
func PartLen(longest, parts int) int { return (longest + parts - 1) / parts }

// Cut copies the data from at on to dst, and zeros beyond the end of the data. A stripe need not be
// coded at once: piece j, from offset off, of parts of length partLen is
// Cut(dst, data, j*partLen+off), with dst no longer than partLen-off.
func Cut(dst, data []byte, at int) {
	n := 0
	if at < len(data) {
		n = copy(dst, data[at:])
	}
	clear(dst[n:])
}

// Paste is the inverse of Cut: it copies a rebuilt piece into data, from at on, and drops the bytes
// beyond their end.
func Paste(data, piece []byte, at int) {
	if at < len(data) {
		copy(data[at:], piece)
	}
}
