package kill

import (
	"fmt"
	"hash/fnv"
	"math/bits"
)

// word is the i-th number that a rank of the world contributes to an operation. The number differs
// between operations, so that stale data is detected.
func word(op uint64, rank, i int) uint64 {
	return (op+uint64(rank)*0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9 + uint64(i)*0x94d049bb133111eb
}

func words(op uint64, rank, n int) []uint64 {
	v := make([]uint64, n)
	for i := range v {
		v[i] = word(op, rank, i)
	}
	return v
}

// wrongAt is the first place where v differs from the contribution of a rank; -1: none.
func wrongAt(v []uint64, op uint64, rank int) int {
	for i, got := range v {
		if got != word(op, rank, i) {
			return i
		}
	}
	return -1
}

// wrongSumAt is the first place where v is not the sum over the ranks; -1: none.
func wrongSumAt(v []uint64, op uint64, ranks []int) int {
	for i, got := range v {
		for _, r := range ranks {
			got -= word(op, r, i)
		}
		if got != 0 {
			return i
		}
	}
	return -1
}

// The flag with which a batch ends has these fields: whether all is well here, whether the time is
// over, a hash of earlier results together with its complement, and a bit for each rank of the
// world, cleared by that rank alone. If all contribute the same hash, the AND keeps both; if two
// differ, some bit is lost in one of them.
const (
	flagGood  = 1 << 0
	flagOver  = 1 << 1
	hashAt    = 2
	hashBits  = 16
	hashMask  = 1<<hashBits - 1
	absentAt  = hashAt + 2*hashBits
	absentAll = 1<<ranksMax - 1
)

// lag is the age, in batches, of the results that a batch compares. A rank that dies may have
// returned from an agreement with a result that no survivor shares. No rank returns from the next
// batch before every live rank has contributed to it; a contributor to the one after that was alive
// then.
const lag = 2

// A history is a hash over the results that all survivors share.
type history struct {
	now   uint64
	links [lag]uint64 // after the last batches
}

func (h *history) add(result ...any) {
	sum := fnv.New64a()
	fmt.Fprint(sum, h.now, result)
	h.now = sum.Sum64()
}

func (h *history) endBatch() {
	copy(h.links[1:], h.links[:])
	h.links[0] = h.now
}

func (h *history) stamp() uint64 {
	old := h.links[lag-1] & hashMask
	return old<<hashAt | (^old&hashMask)<<(hashAt+hashBits)
}

func presence(rank int) uint64 { return absentAll &^ (1 << rank) << absentAt }

// checkBatch compares the result of a batch's agreement with the possible contributions of its
// members; those are ranks of the world.
func checkBatch(flag uint64, failed bool, stamp uint64, me int, members []int) string {
	const stampMask = 1<<(2*hashBits) - 1<<0
	if flag>>hashAt&stampMask != stamp>>hashAt&stampMask {
		return fmt.Sprintf("the members do not agree about the past: %x, here %x", flag>>hashAt&stampMask, stamp>>hashAt&stampMask)
	}
	return checkPresence(flag>>absentAt, failed, me, members)
}

// checkPresence checks the bits of the contributors to an agreement: without an error all members,
// with one at least this rank and at most all members.
func checkPresence(absent uint64, failed bool, me int, members []int) string {
	given := ^absent & absentAll
	all := uint64(0)
	for _, r := range members {
		all |= 1 << r
	}
	if given&^all != 0 || given>>me&1 == 0 || !failed && given != all {
		return fmt.Sprintf("an agreement of %v (failure reported: %v) has contributions of %0*b", members, failed, bits.Len64(all), given)
	}
	return ""
}
