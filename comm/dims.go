package comm

import (
	"fmt"
	"math"
	"slices"
)

// DimsCreate returns the shape of a grid of n positions. Dimensions of dims that are not 0 are
// kept. The others are filled in falling order so that the largest is as small as possible, then
// the next, and so on (MPI 8.5.2). The error is ErrArgument for an n below 1 or above 1<<31-1, for
// a dimension below 0, for dimensions that do not divide n, and, with no dimension to fill, for
// dimensions with another product than n. Local; dims is not changed.
func DimsCreate(n int, dims []int) ([]int, error) {
	rest, holes := n, 0
	for _, d := range dims {
		switch {
		case d == 0:
			holes++
		case d < 0 || rest%d != 0:
			return nil, badDims(n, dims)
		default:
			rest /= d
		}
	}
	if n < 1 || n > math.MaxInt32 || holes == 0 && rest != 1 {
		return nil, badDims(n, dims)
	}
	return fill(dims, factors(rest, holes)), nil
}

func badDims(n int, dims []int) error {
	return fail("dims_create", nil, nil, fmt.Errorf("%w: a grid of %v with %d positions", ErrArgument, dims, n))
}

// fill puts values, in order, where dims is 0.
func fill(dims, values []int) []int {
	out := slices.Clone(dims)
	for i, d := range out {
		if d == 0 {
			out[i], values = values[0], values[1:]
		}
	}
	return out
}

// factors returns k factors of n in falling order: of all such lists the smallest in lexicographic
// order. For k = 0 there are none.
func factors(n, k int) []int {
	out := make([]int, k)
	divisors := divisorsOf(n)
	limit := n
	for i := range out {
		d := slices.IndexFunc(divisors, func(d int) bool { return n%d == 0 && d <= limit && splits(n/d, k-i-1, d, divisors) })
		out[i] = divisors[d]
		n, limit = n/divisors[d], divisors[d]
	}
	return out
}

// splits reports whether n is a product of k divisors that are at most limit.
func splits(n, k, limit int, divisors []int) bool {
	if k == 0 || n == 1 {
		return n == 1
	}
	for i, _ := slices.BinarySearch(divisors, limit+1); i > 0; i-- {
		d := divisors[i-1]
		if d == 1 || !reaches(d, k, n) {
			return false // smaller ones do not either
		}
		if n%d == 0 && splits(n/d, k-1, d, divisors) {
			return true
		}
	}
	return false
}

// reaches reports whether d to the power of k is at least n.
func reaches(d, k, n int) bool {
	for ; k > 0 && n > 1; k-- {
		n = (n + d - 1) / d
	}
	return n <= 1
}

// divisorsOf returns the divisors of n in rising order.
func divisorsOf(n int) []int {
	var low, high []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			low = append(low, d)
			if d != n/d {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
