package agree

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-agreements 1 -kill-every 0": true, "-agreements 0": false, "-kill-every -1": false, "-leave 0": false, "x": false, "-frob": false,
	})
}

func TestUnderKills(t *testing.T) {
	for seed := range uint64(3) {
		var mu sync.Mutex
		var ends []*stress
		commtest.Run(t, 6, func(ctx context.Context, w *comm.Comm) {
			var life sync.Mutex
			dead, over := false, false
			o := options{agreements: 300, seed: seed, killEvery: 50, leave: 2}
			s := newStress(w, o, io.Discard, func() {
				life.Lock()
				defer life.Unlock()
				if !over {
					dead = true
					commtest.Kill(w)
				}
			})
			err := s.run(ctx)
			life.Lock()
			defer life.Unlock()
			over = true
			if err != nil && !(dead && errors.Is(err, comm.ErrFenced)) {
				t.Errorf("seed %d rank %d: %v", seed, w.Rank(), err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ends = append(ends, s)
			}
		})
		if len(ends) < 2 {
			t.Fatalf("seed %d: %d ranks came to the end", seed, len(ends))
		}
		for _, s := range ends {
			if s.done != ends[0].done || s.shrinks == 0 {
				t.Errorf("seed %d: %d agreements and %d shrinks, elsewhere %d and %d", seed, s.done, s.shrinks, ends[0].done, ends[0].shrinks)
			}
		}
	}
}

// The checks must detect each kind of violation.
func TestChecksSeeViolations(t *testing.T) {
	flags := []uint64{0xfff0, 0xff0f, 0xf0ff, 0x7fff}
	flagOf := func(r int) uint64 { return flags[r] }
	all := []int{0, 1, 2, 3}
	for _, c := range []struct {
		name      string
		got       uint64
		failed    bool
		survivors []int
		ok        bool
	}{
		{"all contribute", 0x7000, false, all, true},
		{"one left out, no failure", 0xf000, false, all, false},
		{"dead did not contribute", 0x700f, true, []int{1, 2, 3}, true},
		{"dead did contribute", 0x7000, true, []int{1, 2, 3}, true},
		{"a survivor left out", 0x7f00, true, []int{1, 2, 3}, false},
		{"a bit too few", 0x3000, false, all, false},
		{"a bit too few with a failure", 0x600f, true, []int{1, 2, 3}, false},
		{"two dead, none contributed", 0x70ff, true, []int{2, 3}, true},
		{"two dead, one contributed", 0x70f0, true, []int{2, 3}, true},
		{"two dead, a bit of one", 0x70fb, true, []int{2, 3}, false},
		{"failure of nobody", 0x7000, true, all, false},
		{"a stranger survives", 0x7000, true, []int{1, 9}, false},
	} {
		if err := checkFlag(c.got, c.failed, all, c.survivors, flagOf); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// If the results of two ranks differ once, the agreement that comes lag later detects the
// difference, and no earlier one does.
func TestHistoriesDiffer(t *testing.T) {
	var a, b history
	for k := range uint64(5) {
		a.add(k, false, nil)
		b.add(k, k == 3, nil) // the results of number 3 differ
		and := a.stamp() & b.stamp()
		seen := a.check(and) != nil && b.check(and) != nil
		// The stamps are those of agreement k+1.
		if want := k+1 >= 3+lag; seen != want {
			t.Errorf("after result %d: difference seen %v, want %v", k, seen, want)
		}
	}
	for k := range uint64(lag) {
		a.add(k, false, nil)
		b.add(k, false, nil)
	}
	if and := a.stamp() & b.stamp(); a.check(and) == nil {
		t.Error("the difference was forgotten")
	}
}

// A hash that has all bits of the other and more is a difference for both.
func TestSubsetOfAHash(t *testing.T) {
	few, more := history{}, history{}
	few.links[lag-1], more.links[lag-1] = 0x1, 0x3
	and := few.stamp() & more.stamp()
	if few.check(and) == nil || more.check(and) == nil {
		t.Errorf("seen by few: %v, by more: %v", few.check(and), more.check(and))
	}
}
