// Package rankset holds ordered sets of ranks. A rank is an int >= 0.
//
// The order of iteration is always ascending: no rule ever depends on the
// iteration order of a map.
package rankset

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// RankMax is the largest rank that a decoder accepts. The limit bounds the memory that a malformed
// message can make a process allocate (1 MiB).
const RankMax = 1<<23 - 1

// A Set is a set of ranks. The zero value is the empty set. A Set is a small header over shared
// storage: an assignment moves the set, Clone copies it.
type Set struct {
	words []uint64 // bit r%64 of words[r/64] is set iff r is a member; trailing zero words are allowed
}

// Of returns the set of the given ranks.
func Of(ranks ...int) Set {
	var s Set
	for _, r := range ranks {
		s.Add(r)
	}
	return s
}

// Range returns the set {lo, ..., hi-1}.
func Range(lo, hi int) Set {
	var s Set
	for r := lo; r < hi; r++ {
		s.Add(r)
	}
	return s
}

// Add puts r into s and reports whether s grew. r must not be negative.
func (s *Set) Add(r int) bool {
	w := r >> 6
	for len(s.words) <= w {
		s.words = append(s.words, 0)
	}
	bit := uint64(1) << (r & 63)
	grew := s.words[w]&bit == 0
	s.words[w] |= bit
	return grew
}

// Remove takes r out of s and reports whether r was a member.
func (s *Set) Remove(r int) bool {
	if !s.Has(r) {
		return false
	}
	s.words[r>>6] &^= uint64(1) << (r & 63)
	return true
}

// Has reports whether r is a member. The result is false for every r < 0.
func (s Set) Has(r int) bool {
	w := r >> 6
	return r >= 0 && w < len(s.words) && s.words[w]&(uint64(1)<<(r&63)) != 0
}

// Len returns the number of members.
func (s Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsEmpty reports whether s has no member.
func (s Set) IsEmpty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Union adds every member of t to s and reports whether s grew.
func (s *Set) Union(t Set) bool {
	for len(s.words) < len(t.words) {
		s.words = append(s.words, 0)
	}
	grew := false
	for i, w := range t.words {
		grew = grew || w&^s.words[i] != 0
		s.words[i] |= w
	}
	return grew
}

// Intersect keeps in s only the members of t.
func (s *Set) Intersect(t Set) {
	for i := range s.words {
		if i < len(t.words) {
			s.words[i] &= t.words[i]
		} else {
			s.words[i] = 0
		}
	}
}

// Subtract takes every member of t out of s.
func (s *Set) Subtract(t Set) {
	for i := range s.words {
		if i < len(t.words) {
			s.words[i] &^= t.words[i]
		}
	}
}

// SubsetOf reports whether every member of s is a member of t.
func (s Set) SubsetOf(t Set) bool {
	for i, w := range s.words {
		if i < len(t.words) {
			w &^= t.words[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether s and t have the same members.
func (s Set) Equal(t Set) bool { return s.SubsetOf(t) && t.SubsetOf(s) }

// Clone returns a copy with storage of its own.
func (s Set) Clone() Set {
	if len(s.words) == 0 {
		return Set{}
	}
	return Set{words: append([]uint64(nil), s.words...)}
}

// Next returns the least member >= r, or -1.
func (s Set) Next(r int) int {
	if r < 0 {
		r = 0
	}
	for w := r >> 6; w < len(s.words); w++ {
		v := s.words[w]
		if w == r>>6 {
			v &= ^uint64(0) << (r & 63)
		}
		if v != 0 {
			return w<<6 + bits.TrailingZeros64(v)
		}
	}
	return -1
}

// NextAbsent returns the least rank >= r that is not a member.
func (s Set) NextAbsent(r int) int {
	for s.Has(r) {
		r++
	}
	return r
}

// All yields the members in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for r := s.Next(0); r >= 0; r = s.Next(r + 1) {
			if !yield(r) {
				return
			}
		}
	}
}

// Slice returns the members in ascending order; nil for the empty set.
func (s Set) Slice() []int {
	var out []int
	for r := range s.All() {
		out = append(out, r)
	}
	return out
}

// Hash returns a 64-bit digest of the members: equal sets have equal digests.
func (s Set) Hash() uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := uint64(prime)
	for i, w := range s.words {
		if w == 0 {
			continue
		}
		h ^= w + uint64(i)*prime
		h = bits.RotateLeft64(h*0xBF58476D1CE4E5B9, 31)
		h ^= h >> 29
	}
	return h
}

// String prints s as "{}", "{3}", "{1,3,5-8}".
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for r := s.Next(0); r >= 0; {
		end := s.NextAbsent(r) - 1
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(r))
		switch {
		case end == r+1:
			b.WriteString("," + strconv.Itoa(end))
		case end > r+1:
			b.WriteString("-" + strconv.Itoa(end))
		}
		r = s.Next(end + 1)
	}
	b.WriteByte('}')
	return b.String()
}

// Parse reads the output of String.
func Parse(text string) (Set, error) {
	var s Set
	body, open := strings.CutPrefix(text, "{")
	body, shut := strings.CutSuffix(body, "}")
	if !open || !shut {
		return s, fmt.Errorf("rank set %q: want {1,3,5-8}", text)
	}
	if body == "" {
		return s, nil
	}
	for _, part := range strings.Split(body, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, errLo := strconv.Atoi(lo)
		b, errHi := strconv.Atoi(hi)
		if err := errors.Join(errLo, errHi); err != nil || a < 0 || b < a || b > RankMax {
			return Set{}, fmt.Errorf("rank set %q: bad member %q", text, part)
		}
		for r := a; r <= b; r++ {
			s.Add(r)
		}
	}
	return s, nil
}

// Words returns the members as a bitmap, without trailing zero words. The slice is s's own storage:
// the caller may read the slice until s changes, and must not keep it.
func (s Set) Words() []uint64 {
	n := len(s.words)
	for n > 0 && s.words[n-1] == 0 {
		n--
	}
	return s.words[:n]
}

// FromWords returns the set with the given bitmap. The set owns the slice from now on.
func FromWords(words []uint64) Set { return Set{words: words} }
