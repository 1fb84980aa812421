// Package kernel combines whole slices: dst[i] = acc[i] op in[i], as fast as the machine can.
// Slices are bytes seen as elements of one type, as they lie in shared memory.
//
// # Semantics
//
// The semantics are those of the operations of package collectives, for every implementation:
//
//   - Integers wrap around. Logical results are 0 and 1; every value but 0 is true, in a bool too,
//     whose bytes may come from another process.
//   - Max and Min of floats: with a NaN on either side the result is a NaN; -0 is less than +0 on
//     either side, as for Go's max and min.
//   - Sum and Prod of floats round once per element. An element of acc meets the one element of in
//     that has its index, so vectors reorder nothing.
//   - The implementations agree bit for bit, except for the sign and payload of a NaN. Prod of
//     complex numbers rounds each product, also on machines where Go's own fuses one of them with
//     the addition (arm64).
//
// # Implementations
//
// Plain loops exist for every pair (plain.go). Over them lie layers of assembly, each for some
// pairs, and Find returns the topmost that the processor runs:
//
//   - AVX2, amd64: Sum, Prod, Max, Min of floats and of integers, without Prod of 8 and 64 bits;
//     Sum of complex numbers; bitwise and logical operations.
//   - AVX-512 (F, BW, DQ) with BMI2, amd64: the same and Prod of 64-bit integers, without the
//     logical ones.
//   - NEON, arm64: Sum, Prod, Max, Min of floats and of integers, but only Sum of 64-bit integers;
//     Sum of complex numbers; bitwise operations.
//
// With the build tag purego, and on other processors, there are only plain loops. The same holds
// under the race detector, because it cannot see into assembly, and would miss the races of the
// callers.
//
// A call of assembly covers at most 64 KiB: a goroutine inside cannot be stopped, and a garbage
// collection waits for the slowest.
//
// # Not promised
//
// Slices that overlap in part give any result; one and the same slice twice, or three times, is
// fine. Nothing is atomic: a concurrent reader of dst may see any mixture.
package kernel
