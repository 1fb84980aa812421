package main

import "errors"

// Entries of the matrices. Any process can compute any part at any time, as if it were read from a
// file.
func entryA(i, k int) int64 { return int64(i + 2*k) }
func entryB(k, j int) int64 { return int64(3*k - j) }

// product is the entry of C = A*B, where A has n columns: the sum of entryA(i, k) * entryB(k, j)
// over k.
func product(n, i, j int) int64 {
	count, first := int64(n), int64(n)*int64(n-1)/2    // the sums of 1 and of k
	second := int64(n-1) * int64(n) * int64(2*n-1) / 6 // and of its squares
	return int64(3*i-2*j)*first + 6*second - int64(i*j)*count
}

// A block is a matrix with one more row, the sums of its columns, and one more column, the sums of
// its rows. The sums stay correct when such matrices are added or multiplied: a column of sums of B
// becomes one of C, and so does a row of sums of A.
type block struct {
	rows, cols int // with those of sums
	v          []int64
}

func newBlock(rows, cols int) *block {
	return &block{rows + 1, cols + 1, make([]int64, (rows+1)*(cols+1))}
}

func (b *block) row(i int) []int64 { return b.v[i*b.cols : (i+1)*b.cols] }

// add adds the product of a panel and a factor: some columns of A with the row of their sums, and
// as many rows of B with the column of their sums.
func (b *block) add(panel, factor []int64) {
	width := len(factor) / b.cols
	for i := range b.rows {
		c := b.row(i)
		for k, a := range panel[i*width : (i+1)*width] {
			for j, v := range factor[k*b.cols : (k+1)*b.cols] {
				c[j] += a * v
			}
		}
	}
}

var errSpoiled = errors.New("more than one entry is wrong")

// mend searches for an entry that contradicts the sums of its row and its column, also among the
// sums, and corrects that entry; i is -1 if there is none. Sums wrap around, so errors in any bit
// are found, also in the highest one.
func (b *block) mend() (i, j int, err error) {
	rows, cols := b.excess()
	inRows, inCols := wrong(rows), wrong(cols)
	if len(inRows) == 0 && len(inCols) == 0 {
		return -1, -1, nil
	}
	if len(inRows) != 1 || len(inCols) != 1 {
		return -1, -1, errSpoiled
	}
	i, j = inRows[0], inCols[0]
	tooMuch := sign(j, b.cols) * rows[i]
	if tooMuch != sign(i, b.rows)*cols[j] {
		return -1, -1, errSpoiled
	}
	b.row(i)[j] -= tooMuch
	return i, j, nil
}

// excess returns the differences between the entries of each row, and of each column, and their
// sum.
func (b *block) excess() (rows, cols []int64) {
	rows, cols = make([]int64, b.rows), make([]int64, b.cols)
	for i := range rows {
		for j, v := range b.row(i) {
			rows[i] += sign(j, b.cols) * v
			cols[j] += sign(i, b.rows) * v
		}
	}
	return rows, cols
}

// sign is -1 for the last of n, where the sum is.
func sign(k, n int) int64 {
	if k == n-1 {
		return -1
	}
	return 1
}

func wrong(excess []int64) (at []int) {
	for k, v := range excess {
		if v != 0 {
			at = append(at, k)
		}
	}
	return at
}

// columns returns, for each column of a rank's block, the columns of the whole matrix that are
// summed in it. The columns of the last rank are sums over all ranks, and the last column of each
// block is a sum over the block. Blocks are of equal width, so some may have columns of zeros
// beyond the last one.
func columns(n, rank, size int) [][]int {
	width := (n + size - 2) / (size - 1)
	all := make([][]int, width+1)
	for j := range n {
		if rank == j/width || rank == size-1 {
			all[j%width] = append(all[j%width], j)
			all[width] = append(all[width], j)
		}
	}
	return all
}
