package main

import (
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/examples/plate"
)

// randomHoldings makes a table: some that a run could leave, and many that no run could.
func randomHoldings(rng *rand.Rand, ny int) []holding {
	some := func() plate.Span {
		lo := rng.IntN(ny + 1)
		return plate.Span{Lo: lo, Hi: lo + rng.IntN(ny-lo+1)}
	}
	held := make([]holding, 1+rng.IntN(5))
	for r := range held {
		h := holding{step: 10 * rng.IntN(4), own: some(), buddy: some()}
		h.residual = 1 / float64(h.step+1)
		if rng.IntN(2) == 0 { // as left by a run on one rank more
			n := len(held) + 1
			h.own, h.buddy = plate.Block(ny, n, r), plate.Block(ny, n, (r+n-1)%n)
		}
		held[r] = h
	}
	return held
}

// has is a direct version of find.
func has(h holding, step, y int) bool {
	return h.step == step && (y >= h.own.Lo && y < h.own.Hi || y >= h.buddy.Lo && y < h.buddy.Hi)
}

// dumbChoose tries every step and every row.
func dumbChoose(held []holding, ny int) (best int, lost bool) {
	for step := 1; step <= 30; step++ {
		complete, any := true, false
		for y := range ny {
			found := false
			for _, h := range held {
				found = found || has(h, step, y)
			}
			complete = complete && found
		}
		for _, h := range held {
			any = any || h.step == step
		}
		if any && complete {
			best = step
		}
		lost = lost || any
	}
	return best, lost && best == 0
}

func TestChooseAgainstADumbVersion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for range 20000 {
		ny := 5 + rng.IntN(12)
		held := randomHoldings(rng, ny)
		p := choose(held, ny)
		step, lost := dumbChoose(held, ny)
		if p.step != step || p.lost != lost {
			t.Fatalf("%+v: chose %d (lost %v), want %d (%v)", held, p.step, p.lost, step, lost)
		}
		if step == 0 {
			seen["start"]++
			if len(p.moves) > 0 {
				t.Fatalf("moves %v for step 0", p.moves)
			}
			continue
		}
		seen["copy"]++
		if want := 1 / float64(step+1); p.residual != want {
			t.Fatalf("residual %v of step %d, want %v", p.residual, step, want)
		}
		got := make([]int, ny)
		for _, m := range p.moves {
			for y := m.rows.Lo; y < m.rows.Hi; y++ {
				got[y]++
				if !plate.Block(ny, len(held), m.to).Contains(y) {
					t.Fatalf("row %d goes to rank %d of %d, which does not own it", y, m.to, len(held))
				}
				if !has(held[m.from], step, y) {
					t.Fatalf("row %d of step %d is taken from %+v", y, step, held[m.from])
				}
			}
			// A move must lie in one piece, because it is sent as one message.
			h := held[m.from]
			if !(h.own.Lo <= m.rows.Lo && m.rows.Hi <= h.own.Hi) && !(h.buddy.Lo <= m.rows.Lo && m.rows.Hi <= h.buddy.Hi) {
				t.Fatalf("%v lies in no piece of %+v", m.rows, h)
			}
		}
		for y, n := range got {
			if n != 1 {
				t.Fatalf("row %d arrives %d times", y, n)
			}
		}
	}
	if seen["start"] < 1000 || seen["copy"] < 1000 {
		t.Errorf("tables too much alike: %v", seen)
	}
}

// Any one death, and any that are not neighbours in the ring of ranks, leave every row.
func TestWhichDeathsLoseRows(t *testing.T) {
	const n, ny = 6, 13
	for dead := range 1 << n {
		var held []holding
		neighbours := false
		for r := range n {
			left := (r + n - 1) % n
			if dead>>r&1 == 0 {
				held = append(held, holding{step: 10, own: plate.Block(ny, n, r), buddy: plate.Block(ny, n, left)})
			} else if dead>>left&1 == 1 {
				neighbours = true
			}
		}
		if len(held) == 0 {
			continue
		}
		if p := choose(held, ny); p.lost != neighbours {
			t.Errorf("dead %06b: lost %v, but neighbours dead %v", dead, p.lost, neighbours)
		}
	}
}
