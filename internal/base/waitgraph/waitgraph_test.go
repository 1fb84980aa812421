package waitgraph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCycle(t *testing.T) {
	recv := func(rank int, what string, on ...int) Wait { return Wait{Rank: rank, On: on, What: what} }
	anyOf := func(rank int, on ...int) Wait { return Wait{Rank: rank, On: on, Any: true, What: "recv from any"} }
	for _, c := range []struct {
		name  string
		waits []Wait
		want  string
	}{
		{"nobody waits", nil, ""},
		{"one waits for one that computes", []Wait{recv(0, "recv", 1)}, ""},
		{"two wait for each other", []Wait{recv(3, "barrier on world", 2), recv(2, "recv tag 7 from 3, heat.go:88", 3)},
			"rank 2 (recv tag 7 from 3, heat.go:88) -> rank 3 (barrier on world) -> rank 2"},
		{"for itself", []Wait{recv(4, "recv from 4", 4)}, "rank 4 (recv from 4) -> rank 4"},
		{"all wait in a ring", []Wait{recv(0, "a", 1), recv(1, "b", 2), recv(2, "c", 0)}, "rank 0 (a) -> rank 1 (b) -> rank 2 (c) -> rank 0"},
		{"the way into a circle is not in it", []Wait{recv(0, "a", 5), recv(5, "b", 3), recv(3, "c", 5)}, "rank 3 (c) -> rank 5 (b) -> rank 3"},
		{"a chain that ends", []Wait{recv(0, "a", 1), recv(1, "b", 2)}, ""},
		{"a barrier, and one who is late because of another", []Wait{recv(0, "barrier", 2, 3), recv(1, "barrier", 2, 3), recv(2, "recv", 0), recv(3, "recv", 9)},
			"rank 0 (barrier) -> rank 2 (recv) -> rank 0"},
		{"any of several, one of whom computes", []Wait{anyOf(0, 1, 2), recv(1, "recv", 0)}, ""},
		{"any of several, all stuck", []Wait{anyOf(0, 1, 2), recv(1, "recv", 0), recv(2, "recv", 1)}, "rank 0 (recv from any) -> rank 1 (recv) -> rank 0"},
		{"any of nobody known", []Wait{{Rank: 0, Any: true}, recv(1, "recv", 0)}, ""},
		{"another goroutine goes on", []Wait{recv(0, "a", 1), recv(0, "b", 7), recv(1, "c", 0)}, ""},
		{"two goroutines, both stuck", []Wait{recv(1, "c", 0), recv(0, "a", 1), recv(0, "b", 0)}, "rank 0 (a) -> rank 1 (c) -> rank 0"},
		{"overlapping communicators", []Wait{recv(0, "shrink on a", 2), recv(1, "shrink on a", 2), recv(2, "shrink on b", 1), recv(3, "shrink on b", 1)},
			"rank 1 (shrink on a) -> rank 2 (shrink on b) -> rank 1"},
	} {
		if got := Text(Cycle(c.waits)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// stuckDumb tries all sets of ranks. If no rank of a set can continue unless another rank of the
// set does, all ranks of the set are stuck.
func stuckDumb(waits []Wait, n int) map[int]bool {
	all := map[int]bool{}
	for set := 1; set < 1<<n; set++ {
		in := func(r int) bool { return r < n && set>>r&1 == 1 }
		proof := true
		for r := range n {
			mine := slices.DeleteFunc(slices.Clone(waits), func(w Wait) bool { return w.Rank != r })
			for _, w := range mine {
				inside := 0
				for _, x := range w.On {
					if in(x) {
						inside++
					}
				}
				if in(r) && (inside == 0 || w.Any && inside < len(w.On)) {
					proof = false
				}
			}
			proof = proof && (!in(r) || len(mine) > 0)
		}
		for r := range n {
			all[r] = all[r] || proof && in(r)
		}
	}
	return all
}

func TestAgainstDumb(t *testing.T) {
	const n = 5
	found, long := 0, 0
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var waits []Wait
		for range rng.IntN(2 * n) {
			w := Wait{Rank: rng.IntN(n), Any: rng.IntN(3) == 0}
			w.On = rng.Perm(n + 1)[:rng.IntN(4)] // rank n computes
			waits = append(waits, w)
		}
		dumb := stuckDumb(waits, n)
		circle := Cycle(waits)
		anybody := slices.ContainsFunc(upTo(n), func(r int) bool { return dumb[r] })
		if anybody != (circle != nil) {
			t.Fatalf("seed %d: %+v: %v, stuck are %v", seed, waits, circle, dumb)
		}
		if circle == nil {
			continue
		}
		if found++; len(circle) > 2 {
			long++
		}
		seen := map[int]bool{}
		for i, w := range circle {
			next := circle[(i+1)%len(circle)].Rank
			given := slices.ContainsFunc(waits, func(x Wait) bool { return x.Rank == w.Rank && x.Any == w.Any && slices.Equal(x.On, w.On) })
			if !dumb[w.Rank] || seen[w.Rank] || !slices.Contains(w.On, next) || !given || w.Rank < circle[0].Rank {
				t.Fatalf("seed %d: %+v gave %+v", seed, waits, circle)
			}
			seen[w.Rank] = true
		}
		rng.Shuffle(len(waits), func(i, j int) { waits[i], waits[j] = waits[j], waits[i] })
		if again := Cycle(waits); again == nil {
			t.Fatalf("seed %d: in another order there is none", seed)
		}
	}
	if found < 500 || long < 20 {
		t.Errorf("%d circles, %d of them of more than two: the draw shows too little", found, long)
	}
}

func upTo(n int) []int {
	var all []int
	for r := range n {
		all = append(all, r)
	}
	return all
}
