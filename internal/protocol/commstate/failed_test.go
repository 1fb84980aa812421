package commstate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestR20R21Prefix drives Failed at random beside a simple model.
func TestR20R21Prefix(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 20))
		n := 1 + rng.IntN(10)
		f := NewFailed(n)
		var order []int
		acked := 0
		for range 40 {
			before := f.All()
			switch rank := rng.IntN(n); rng.IntN(2) {
			case 0:
				fresh := !slices.Contains(order, rank)
				if fresh {
					order = append(order, rank)
				}
				if f.Learn(rank) != fresh {
					t.Fatalf("seed %d: learning %d is new: %v", seed, rank, !fresh)
				}
			default:
				k := rng.IntN(n + 1)
				acked = max(acked, min(k, len(order)))
				if got, err := f.Ack(k); got != acked || err != nil {
					t.Fatalf("seed %d: Ack(%d) = %d, %v, want %d", seed, k, got, err, acked)
				}
			}
			if all := f.All(); !slices.Equal(all, order) || !slices.Equal(all[:len(before)], before) {
				t.Fatalf("seed %d: %v after %v, want %v", seed, all, before, order)
			}
			if !slices.Equal(f.Acked(), order[:acked]) || f.Unacked() != (acked < len(order)) || f.AckedSet().Len() != acked {
				t.Fatalf("seed %d: acked %v of %v", seed, f.Acked(), order)
			}
		}
	}
}

// TestR21Arguments: a count that is no number of ranks is an error, and changes
// nothing; zero acknowledges nothing.
func TestR21Arguments(t *testing.T) {
	f := NewFailed(4)
	f.Learn(2)
	for _, n := range []int{-1, 5} {
		if got, err := f.Ack(n); got != 0 || !errors.Is(err, ErrLength) {
			t.Errorf("Ack(%d) = %d, %v", n, got, err)
		}
	}
	if got, err := f.Ack(0); got != 0 || err != nil {
		t.Errorf("Ack(0) = %d, %v", got, err)
	}
	if got, err := f.Ack(4); got != 1 || err != nil {
		t.Errorf("Ack(4) = %d, %v", got, err)
	}
}

// TestSpecR21R26PartlyAcknowledged: Ack acknowledges the first n in the order of learning, and
// never fewer than before. Wildcards are interrupted until all are acknowledged.
func TestSpecR21R26PartlyAcknowledged(t *testing.T) {
	f := NewFailed(6)
	for i, rank := range []int{4, 0, 2} {
		f.Learn(rank)
		if !f.Unacked() {
			t.Errorf("after %d deaths all are acknowledged", i+1)
		}
	}
	for _, step := range []struct{ n, acked int }{{1, 1}, {0, 1}, {2, 2}, {1, 2}} {
		if acked, err := f.Ack(step.n); acked != step.acked || err != nil || !f.Unacked() {
			t.Errorf("Ack(%d) = %d, %v", step.n, acked, err)
		}
	}
	if acked, err := f.Ack(6); acked != 3 || err != nil || f.Unacked() {
		t.Errorf("Ack(6) = %d, %v", acked, err)
	}
	f.Learn(5)
	if !f.Unacked() {
		t.Error("a later failure is acknowledged beforehand")
	}
}
