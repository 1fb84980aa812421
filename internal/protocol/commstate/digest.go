package commstate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"github.com/goulfm/goulfm/ulfm"
)

// Digest returns 64 bits of a hash of numbers. Members of a creation that must give
// the same argument, a group or the shape of a grid, contribute its digest: as all
// see all digests, a difference fails the call at all of them, and the argument
// itself, which may be long, need not travel.
func Digest(numbers ...int) uint64 {
	b := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(n)))
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// Edges returns what member me of a dist_graph contributes: the sum of the digests
// of the edges that leave it, less those of the edges that reach it. Each edge is
// named by both its ends if the members agree on the graph; then the sum over all
// members is zero.
func Edges(me int, sources, destinations []int) uint64 {
	var sum uint64
	for _, d := range destinations {
		sum += Digest(me, d)
	}
	for _, s := range sources {
		sum -= Digest(s, me)
	}
	return sum
}

// differing returns the error of members that gave different arguments. It is the
// same at all, because all look at the same contributions.
func differing(call Call, all []member) error {
	switch {
	case !call.Kind.digested():
		return nil
	case call.Kind == KindDistGraph:
		return unbalanced(call, all)
	case call.Kind == KindMerge:
		return divided(call, all)
	}
	for _, m := range all {
		if first := all[0]; m.digest != first.digest {
			return different(call, first, m)
		}
	}
	return nil
}

func different(call Call, a, b member) error {
	err := fmt.Errorf("%w: the same call with different arguments", ErrMismatch)
	return &ulfm.Error{Op: call.Kind.String(), Ranks: []int{a.rank, b.rank}, Err: err}
}

// Side returns what a member of a merge contributes as its digest: which of the two
// groups it is in, and whether that comes last. The members of one group must say the
// same.
func Side(second, high bool) uint64 {
	var d uint64
	if second {
		d |= 1
	}
	if high {
		d |= 2
	}
	return d
}

// divided is differing for members of two groups.
func divided(call Call, all []member) error {
	for _, m := range all {
		for _, other := range all[:m.rank] {
			if m.digest&1 == other.digest&1 && m.digest != other.digest {
				return different(call, other, m)
			}
		}
	}
	return nil
}

// unbalanced is differing for a graph of which each member gives its own edges.
func unbalanced(call Call, all []member) error {
	var sum uint64
	for _, m := range all {
		sum += m.digest
	}
	if sum == 0 {
		return nil
	}
	err := fmt.Errorf("%w: not every edge was given by the rank that it leaves and by the rank that it reaches", ErrMismatch)
	return &ulfm.Error{Op: call.Kind.String(), Err: err}
}
