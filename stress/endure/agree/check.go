package agree

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A flag has three fields: random bits, whose AND shows the contributors, and a hash of earlier
// results together with its complement. If all contribute the same hash, the AND keeps both; if two
// differ, some bit is lost in one of them.
const (
	randomBits = 16
	hashBits   = 24
	hashMask   = 1<<hashBits - 1
)

// lag is the age of the results that an agreement compares.
//
// A rank that dies may have returned from agreement k with a result that no survivor shares:
// agreements promise nothing about the dead. If that rank also contributed to k+1, its hash would
// appear to be a violation. But no rank returns from k+1 before every live rank has contributed to
// it and hence has returned from k. A contributor to k+2 was alive then, and is promised the same
// result.
const lag = 2

// randomFlag is a rank's contribution to an agreement. Each bit is set often enough for some to
// survive the AND over n ranks.
func randomFlag(seed uint64, agreement, rank, n int) uint64 {
	rng := rand.New(rand.NewPCG(seed, uint64(agreement)<<32|uint64(rank)))
	flag := rng.Uint64()
	for range bits.Len(uint(n)) - 1 {
		flag |= rng.Uint64()
	}
	return flag & (1<<randomBits - 1)
}

// checkFlag compares the random field of a result with the flags of the members. Without an error
// every member contributed (no death was acknowledged). With an error all survivors did, and any of
// the others may have: the AND is that of the survivors and of some of the dead. If any set of them
// fits, the largest possible one does: all whose flags have every bit of the result.
func checkFlag(got uint64, failed bool, members, survivors []int, flagOf func(rank int) uint64) error {
	got &= 1<<randomBits - 1
	want := uint64(1<<randomBits - 1)
	for _, r := range members {
		f := flagOf(r)
		if !failed || slices.Contains(survivors, r) || f&got == got {
			want &= f
		}
	}
	if got != want {
		return fmt.Errorf("flag %04x, want %04x (failure reported: %v, members %v, survivors %v)", got, want, failed, members, survivors)
	}
	if failed && len(survivors) == len(members) {
		return fmt.Errorf("a failure was reported, but none of %v is missing", members)
	}
	for _, r := range survivors {
		if !slices.Contains(members, r) {
			return fmt.Errorf("survivor %d was no member of %v", r, members)
		}
	}
	return nil
}

// A history is a hash chain over all results. The agreement of number k compares the chain as it
// was when it ended with result k-lag.
type history struct{ links [lag]uint64 }

// add appends a result: an agreement's, or the members that a shrink left.
func (h *history) add(got uint64, failed bool, members []int) {
	sum := fnv.New64a()
	fmt.Fprint(sum, h.links[0], got, failed, members)
	copy(h.links[1:], h.links[:])
	h.links[0] = sum.Sum64()
}

// old is the part of the chain that the next agreement compares.
func (h *history) old() uint64 { return h.links[lag-1] & hashMask }

// stamp is the history's part of a flag.
func (h *history) stamp() uint64 {
	return h.old()<<randomBits | (^h.old()&hashMask)<<(randomBits+hashBits)
}

// check reports an error unless all contributors to a result had this history.
func (h *history) check(got uint64) error {
	if got>>randomBits != h.stamp()>>randomBits {
		return fmt.Errorf("the members do not agree about the past: %012x, here %012x", got>>randomBits, h.stamp()>>randomBits)
	}
	return nil
}
