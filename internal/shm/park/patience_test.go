package park

import "testing"

// TestPatience: a rank whose answers always take the same time learns to poll when they are about
// to come, and is too early for a few. A rank whose answers are there at once, or take long, does
// not wait at all.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name          string
		takes         int // pauses until the answer is there
		max           uint8
		begin         uint8
		least, most   uint32 // pauses in the end
		earlyOf100Max int
	}{
		{"there at once", 0, 10, 10, 0, 0, 0},
		{"soon", 6, 10, 0, 5, 6, 25},
		{"sooner than before", 3, 10, 10, 2, 3, 25},
		{"at the bound", 10, 10, 0, 9, 10, 25},
		{"beyond the bound", 13, 10, 0, 10, 10, 100},
		{"late", 100, 10, 0, 0, 0, 100},
		{"late once it was soon", 100, 10, 6, 6, 6, 100},
		{"no bound given", 6, 0, 0, 0, 0, 100},
	} {
		q := Patience{Max: c.max, pauses: c.begin}
		early := 0
		answer := func() {
			if looks := c.takes - int(q.Pauses()); looks > 0 {
				early++
				q.Missed(looks)
			} else {
				q.Found()
			}
		}
		for range 100 {
			answer()
		}
		early = 0
		for range 100 {
			answer()
		}
		if got := q.Pauses(); got < c.least || got > c.most || early > c.earlyOf100Max {
			t.Errorf("%s: %d pauses, %d of 100 too early, want %d to %d, at most %d", c.name, got, early, c.least, c.most, c.earlyOf100Max)
		}
	}
}

// TestPatienceMax: the time of a pause gives a bound on every machine.
func TestPatienceMax(t *testing.T) {
	if got := PatienceMax(); got > 64 {
		t.Errorf("%d pauses", got)
	}
}
