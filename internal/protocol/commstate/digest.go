package commstate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"github.com/goulfm/goulfm/ulfm"
)

// Digest returns 64 bits of a hash of numbers. In a creation whose members must give the same
// argument, such as a group or the shape of a grid, each member contributes the digest of its
// argument. All members read all digests, so a difference fails the call at all members. The
// argument itself, which may be long, is not sent.
func Digest(numbers ...int) uint64 {
	b := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(n)))
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// Edges returns the contribution of member me to a dist_graph: the sum of the digests
// of the edges that leave me, less the digests of the edges that reach me. If the
// members agree on the graph, each edge is given at both its ends, and the sum over
// all members is zero.
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

// differing returns the error of members that gave different arguments. The error is the
// same at all members, because all read the same contributions.
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

// Side returns the digest that a member of a merge contributes: in which of the two
// groups the member is, and whether that group comes last. The members of one group must
// agree on the second bit.
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

// unbalanced is differing for a graph in which each member gives its own edges.
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
