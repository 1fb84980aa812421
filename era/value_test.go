package era

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// world holds the contributions of n members; values of the test are merges of some of these, as in
// a run.
func world(rng *rand.Rand, n int) []Value {
	out := make([]Value, n)
	for r := range n {
		c := Claim{Call: uint64(rng.IntN(3)), Rank: r}
		out[r] = Value{From: rankset.Of(r), Lo: c, Hi: c, Flag: rng.Uint64(), Returned: 1 + uint64(rng.IntN(4))}
		out[r].Dead = randomSet(rng, n)
		out[r].Acked = randomSet(rng, n)
		if rng.IntN(3) == 0 {
			out[r].Vetoes.Add(r)
		}
		if rng.IntN(2) == 0 {
			out[r].Entries = []Entry{{r, fmt.Append(nil, rng.IntN(100))}}
		}
	}
	return out
}

func randomMerge(rng *rand.Rand, w []Value) Value {
	var v Value
	for range rng.IntN(4) {
		v.Merge(w[rng.IntN(len(w))])
	}
	if rng.IntN(4) == 0 {
		v.Dead.Union(randomSet(rng, len(w)))
	}
	return v
}

func merged(a, b Value) Value {
	a = a.Clone()
	a.Merge(b)
	return a
}

// TestMergeLaws: F is an associative, commutative, idempotent operation with an identity
// (ERA, section 2; A7).
func TestMergeLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 5000 {
		w := world(rng, 2+rng.IntN(8))
		a, b, c := randomMerge(rng, w), randomMerge(rng, w), randomMerge(rng, w)
		if x, y := merged(merged(a, b), c), merged(a, merged(b, c)); !x.Equal(y) {
			t.Fatalf("not associative:\n%v\n%v\n%v:\n%v\n%v", a, b, c, x, y)
		}
		if x, y := merged(a, b), merged(b, a); !x.Equal(y) {
			t.Fatalf("not commutative:\n%v\n%v:\n%v\n%v", a, b, x, y)
		}
		if x := merged(merged(a, b), b); !x.Equal(merged(a, b)) {
			t.Fatalf("not idempotent:\n%v\n%v", a, b)
		}
		if x, y := merged(a, Value{}), merged(Value{}, a); !x.Equal(a) || !y.Equal(a) {
			t.Fatalf("zero is no identity of %v: %v, %v", a, x, y)
		}
	}
}

// TestMergeArrivalOrders: every order of arrival gives the same value (A5). The case that
// Open MPI may miss is among them: an empty acknowledged set that comes first is not
// the same as none.
func TestMergeArrivalOrders(t *testing.T) {
	none := Value{From: rankset.Of(0), Dead: rankset.Of(3), Flag: 7, Returned: 1}
	some := Value{From: rankset.Of(1), Dead: rankset.Of(3), Acked: rankset.Of(3), Flag: 6, Hi: Claim{Rank: 1}, Lo: Claim{Rank: 1}, Returned: 1}
	also := Value{From: rankset.Of(2), Dead: rankset.Of(3), Acked: rankset.Of(3, 4), Flag: 5, Hi: Claim{Rank: 2}, Lo: Claim{Rank: 2}, Returned: 1}
	values := []Value{none, some, also}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		var v Value
		for _, i := range order {
			v.Merge(values[i])
		}
		if !v.Acked.IsEmpty() || !v.Failed() || v.Flag != 4 || v.Hi.Rank != 2 || v.Lo.Rank != 0 {
			t.Errorf("order %v: %v", order, v)
		}
	}
}

// TestMergeCopies: a merged Value may change afterwards without harm.
func TestMergeCopies(t *testing.T) {
	w := world(rand.New(rand.NewPCG(6, 6)), 6)
	var v Value
	v.Merge(w[0])
	v.Merge(w[1])
	want := v.Clone()
	for r := range 6 {
		w[0].From.Add(r)
		w[0].Dead.Add(r)
		w[0].Acked.Add(r)
		w[1].Dead.Remove(r)
	}
	if !v.Equal(want) {
		t.Errorf("value changed with its parts: %v, want %v", v, want)
	}
}

func TestFailedAndMismatch(t *testing.T) {
	for _, c := range []struct {
		name             string
		v                Value
		failed, mismatch bool
	}{
		{"nothing", Value{From: rankset.Of(0)}, false, false},
		{"dead, not acknowledged", Value{From: rankset.Of(0), Dead: rankset.Of(2)}, true, false},
		{"dead, acknowledged", Value{From: rankset.Of(0), Dead: rankset.Of(2), Acked: rankset.Of(2)}, false, false},
		{"dead contributor (A5b)", Value{From: rankset.Of(0, 2), Dead: rankset.Of(2)}, true, false},
		{"one of two acknowledged", Value{From: rankset.Of(0), Dead: rankset.Of(1, 2), Acked: rankset.Of(2)}, true, false},
		{"two calls", Value{From: rankset.Of(0, 1), Lo: Claim{1, 0}, Hi: Claim{2, 1}}, false, true},
		{"two ranks, one call", Value{From: rankset.Of(0, 1), Lo: Claim{1, 0}, Hi: Claim{1, 1}}, false, false},
	} {
		if c.v.Failed() != c.failed || c.v.Mismatch() != c.mismatch {
			t.Errorf("%s: failed %v, mismatch %v", c.name, c.v.Failed(), c.v.Mismatch())
		}
	}
}
