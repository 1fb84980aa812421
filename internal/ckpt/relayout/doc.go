// Package relayout moves the elements of a distributed array from one distribution to
// another: after a repair the world may have another size, and each element must get to
// the rank that has it now.
//
// A distribution says which elements each rank holds, as runs of consecutive ones:
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
// distributions: all processes compute the same and none has to be told.
//
// # Invariants
//
//   - A distribution that Check accepts holds each element of [0, total) exactly once.
//   - Between two such distributions the moves bring each element exactly once; they are
//     in the order of the elements and no two of them could be one.
//   - Their number is less than that of the runs of both.
//
// To read next: run.go, move.go, encode.go.
package relayout
