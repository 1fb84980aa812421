package sched

// A value is the verifier's symbol for an element: its index in a rank's contribution, and the set
// of ranks whose contributions are combined in it. The upper half is the index plus one, the lower
// half the number of a set. 0 is an element that was never written.
type value uint64

// arriving marks an element that a receive may be writing.
const arriving value = 1

// element identifies element i of a block of a rank's input.
func element(block, i int) uint64 { return uint64(block)<<16 | uint64(i) }

func valueOf(element uint64, set int32) value { return value((element+1)<<32 | uint64(uint32(set))) }

func (v value) set() int32      { return int32(uint32(v)) }
func (v value) element() uint64 { return uint64(v>>32) - 1 }

// sets numbers the sets of ranks that occur: numbers 0 to n-1 are the sets of one rank. If the
// order counts, the sets are sequences of neighbouring ranks: each part of the sequence 0, 1, ...,
// n-1 is such a sequence.
type sets struct {
	n, words int
	ordered  bool
	bits     []uint64 // words numbers for each set
	lo, hi   []int32  // ordered: ranks lo to hi-1
	hash     []uint64
	byHash   map[uint64]int32
	memo     map[[2]int32]int32 // unions made, or notUnited
	recent   [3]int32           // the last union: its two sets and its number
	firsts   []int32            // see first
}

const notUnited int32 = -1

func newSets(n int, ordered bool) *sets {
	s := &sets{n: n, ordered: ordered, words: (n + 63) / 64, byHash: map[uint64]int32{}, memo: map[[2]int32]int32{}, recent: [3]int32{-1, -1, -1}}
	for r := range n {
		s.lo, s.hi = append(s.lo, int32(r)), append(s.hi, int32(r+1))
		w := len(s.bits)
		s.bits = append(s.bits, make([]uint64, s.words)...)
		s.bits[w+r/64] |= 1 << (r % 64)
		c := Case{Seed: uint64(r)}
		s.hash = append(s.hash, uint64(c.draw(1<<62, 0, r, n)))
		s.byHash[s.hash[r]] = int32(r)
	}
	return s
}

// union returns the number of a followed by b. ok is false if a rank is in both or, if the order
// counts, if b does not follow a.
func (s *sets) union(a, b int32) (u int32, ok bool) {
	if s.recent[0] == a && s.recent[1] == b { // the usual case, because elements of one step are alike
		return s.recent[2], s.recent[2] != notUnited
	}
	u, known := s.memo[[2]int32{a, b}]
	if !known {
		u = s.unite(a, b)
		s.memo[[2]int32{a, b}] = u
	}
	s.recent = [3]int32{a, b, u}
	return u, u != notUnited
}

func (s *sets) unite(a, b int32) int32 {
	if s.ordered && s.hi[a] != s.lo[b] {
		return notUnited
	}
	u := int32(len(s.hash))
	hash := s.hash[a] ^ s.hash[b] // of a set: the exclusive or of the hashes of its ranks
	for w := range s.words {
		x, y := s.bits[int(a)*s.words+w], s.bits[int(b)*s.words+w]
		if x&y != 0 {
			s.bits = s.bits[:int(u)*s.words]
			return notUnited
		}
		s.bits = append(s.bits, x|y)
	}
	for {
		old, there := s.byHash[hash]
		if !there {
			break
		}
		if s.equal(old, u) {
			s.bits = s.bits[:int(u)*s.words]
			return old
		}
		hash++ // another set has this hash; only this search uses it
	}
	s.byHash[hash] = u
	s.hash = append(s.hash, s.hash[a]^s.hash[b])
	s.lo, s.hi = append(s.lo, s.lo[a]), append(s.hi, s.hi[b])
	return u
}

func (s *sets) equal(a, b int32) bool {
	for w := range s.words {
		if s.bits[int(a)*s.words+w] != s.bits[int(b)*s.words+w] {
			return false
		}
	}
	return true
}

// first returns the number of the set of ranks 0 to k-1, for k > 0.
func (s *sets) first(k int) int32 {
	for len(s.firsts) < k {
		u, r := int32(0), len(s.firsts)
		if r > 0 {
			u, _ = s.union(s.firsts[r-1], int32(r))
		}
		s.firsts = append(s.firsts, u)
	}
	return s.firsts[k-1]
}
