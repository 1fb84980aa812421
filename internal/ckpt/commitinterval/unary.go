package commitinterval

import "math/bits"

// Steps is the number of different intervals that a word can encode.
const Steps = 32

// Longest is the greatest interval, in consistent points of the program.
const Longest = 1 << 16

// stepLength returns the interval of step i, in points: 1, then 2^k and 1.5*2^k alternately.
func stepLength(i int) int {
	switch {
	case i == 0:
		return 1
	case i%2 == 1:
		return 1 << (i/2 + 1)
	}
	return 3 << (i/2 - 1)
}

// Encode returns the word of the greatest step that is not longer than points. The number of ones,
// at the right end, is the number of steps that are not longer. points below 1 count as 1.
func Encode(points int) uint32 {
	n := 1
	for n < Steps && stepLength(n) <= points {
		n++
	}
	return uint32(1<<n - 1)
}

// Decode returns the interval, in points, of a word of Encode or of the AND of several such words.
// Of any other word it counts the ones at the right end; none count as 1.
func Decode(word uint32) int {
	n := bits.TrailingZeros32(^word)
	return stepLength(max(n-1, 0))
}
