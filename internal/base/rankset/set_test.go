package rankset

import (
	"math/rand/v2"
	"testing"
)

// TestAgainstMap compares every operation with a map-based twin on random sets.
func TestAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		var a, b Set
		ma, mb := map[int]bool{}, map[int]bool{}
		for range rng.IntN(20) {
			r := rng.IntN(200)
			if a.Add(r) == ma[r] {
				t.Fatalf("round %d: Add(%d) grew wrongly", round, r)
			}
			ma[r] = true
		}
		for range rng.IntN(20) {
			r := rng.IntN(200)
			b.Add(r)
			mb[r] = true
		}
		subset, grows := true, false
		for r := range ma {
			subset = subset && mb[r]
		}
		for r := range mb {
			grows = grows || !ma[r]
		}
		if a.SubsetOf(b) != subset {
			t.Fatalf("SubsetOf(%v, %v) = %v", a, b, !subset)
		}
		u, i, d := a.Clone(), a.Clone(), a.Clone()
		if u.Union(b) != grows {
			t.Fatalf("Union(%v, %v) grew = %v", a, b, !grows)
		}
		i.Intersect(b)
		d.Subtract(b)
		for r := range 210 {
			if u.Has(r) != (ma[r] || mb[r]) || i.Has(r) != (ma[r] && mb[r]) || d.Has(r) != (ma[r] && !mb[r]) {
				t.Fatalf("rank %d of %v and %v: union %v, intersection %v, difference %v", r, a, b, u, i, d)
			}
		}
		back, err := Parse(a.String())
		if err != nil || !back.Equal(a) || back.Hash() != a.Hash() || a.Len() != len(ma) {
			t.Fatalf("%v came back as %v, %v", a, back, err)
		}
	}
}

func TestNextAndString(t *testing.T) {
	s := Of(1, 3, 5, 6, 7, 8, 64, 129)
	if got := s.String(); got != "{1,3,5-8,64,129}" {
		t.Errorf("String = %s", got)
	}
	for _, c := range []struct{ from, next, absent int }{{-3, 1, -3}, {2, 3, 2}, {5, 5, 9}, {9, 64, 9}, {65, 129, 65}, {130, -1, 130}} {
		if got := s.Next(c.from); got != c.next {
			t.Errorf("Next(%d) = %d, want %d", c.from, got, c.next)
		}
		if got := s.NextAbsent(c.from); got != c.absent {
			t.Errorf("NextAbsent(%d) = %d, want %d", c.from, got, c.absent)
		}
	}
	if s.Has(-1) || !(Set{}).IsEmpty() || s.Remove(2) || !s.Remove(3) || s.Has(3) {
		t.Error("Has, IsEmpty or Remove is wrong")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "{", "1", "{a}", "{3-1}", "{-1}", "{1,}", "1}", "{1", "{99999999}"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, s)
		}
	}
}
