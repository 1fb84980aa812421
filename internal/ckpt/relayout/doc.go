// Package relayout moves the elements of a distributed array from one distribution to
// another: after a repair the world may have another size, and each element must move to
// the rank that has it in the new distribution.
//
// A distribution lists the elements of each rank as runs of consecutive elements:
//
//	10 elements, 3 ranks in blocks           the same on 2 ranks
//	rank 0   {0, 4}        0 1 2 3           rank 0   {0, 5}
//	rank 1   {4, 3}        4 5 6             rank 1   {5, 5}
//	rank 2   {7, 3}        7 8 9
//
//	moves    start  count  from (offset)  to (offset)
//	             0      4     0 (0)         0 (0)
//	             4      1     1 (0)         0 (4)
//	             5      2     1 (1)         1 (0)
//	             7      3     2 (0)         1 (2)
//
// A rank stores the elements of its runs one after the other, in the order of its runs.
// The moves are the intersections of old runs with new ones, and a function of the two
// distributions: all processes compute the same moves, and no process has to send them.
//
// # Invariants
//
//   - A distribution that Check accepts holds each element of [0, total) exactly once.
//   - Between two such distributions the moves transfer each element exactly once. They
//     are in the order of the elements, and no two of them can be joined.
//   - Their number is less than that of the runs of both.
//
// To read next: run.go, move.go, encode.go.
package relayout
