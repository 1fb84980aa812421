package main

import (
	"math/rand/v2"
	"slices"
)

// pickVictims returns k of n nodes: in a row from any of them on, around the end, or any k.
func pickVictims(rng *rand.Rand, n, k int, inRow bool) (victims []int) {
	if !inRow {
		victims = rng.Perm(n)[:k]
	} else {
		for first := rng.IntN(n); len(victims) < k; {
			victims = append(victims, (first+len(victims))%n)
		}
	}
	slices.Sort(victims)
	return victims
}
