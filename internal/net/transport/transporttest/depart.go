package transporttest

import (
	"testing"

	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// testDepartures: all processes see one list in the order of departure. The list holds each process
// once, and the epoch moves with each entry.
func testDepartures(t *testing.T, factory func(t *testing.T, n int) World) {
	const n = 5
	w := factory(t, n)
	es := ends(w, n)
	var want []node.Departure
	for _, d := range []node.Departure{{Proc: 3, Died: true}, {Proc: 0, Died: false}, {Proc: 4, Died: true}} {
		before := es[1].Epoch()
		w.Depart(d.Proc, d.Died)
		want = append(want, d)
		for _, e := range es {
			wantDepartures(t, e, want)
			if e.Epoch() == before {
				t.Errorf("rank %d: the epoch did not move with %+v", e.Me(), d)
			}
		}
	}
	w.Depart(3, true)
	wantDepartures(t, es[1], want)

	before := es[1].Epoch()
	es[2].MoveEpoch()
	if es[1].Epoch() == before {
		t.Error("MoveEpoch did not move the epoch of another rank")
	}
}

func wantDepartures(t *testing.T, e *end, want []node.Departure) {
	t.Helper()
	for i, d := range want {
		if got, ok := e.Departure(i); !ok || got != d {
			t.Errorf("rank %d: departure %d is %+v, %v; want %+v", e.Me(), i, got, ok, d)
		}
	}
	if got, ok := e.Departure(len(want)); ok {
		t.Errorf("rank %d: departure %+v that never was", e.Me(), got)
	}
}

// testDepartureWakes: a departure wakes every sleeper once, with either flag, so that the sleeper
// polls everything.
func testDepartureWakes(t *testing.T, factory func(t *testing.T, n int) World) {
	const n = 4
	w := factory(t, n)
	es := ends(w, n)
	var parts []func() error
	for i, e := range es[1:] {
		flag := []uint32{park.Caller, park.Background}[i&1]
		parts = append(parts, func() error {
			for k := 0; k < n; {
				if _, ok := e.Departure(k); ok {
					k++
					continue
				}
				e.Sleep(flag, func() bool { _, ok := e.Departure(k); return ok }, forever)
			}
			return nil
		})
	}
	together(t, append(parts, func() error {
		for rank := range n { // their Ports still exist: only the list reports the departures
			w.Depart(rank, rank%2 == 0)
		}
		return nil
	})...)
}

// testLeaving: a process announces that it has left.
func testLeaving(t *testing.T, factory func(t *testing.T, n int) World) {
	es := ends(factory(t, 3), 3)
	es[1].SetLeft()
	for _, e := range es {
		for rank := range es {
			if got := e.HasLeft(rank); got != (rank == 1) {
				t.Errorf("rank %d sees rank %d left: %v", e.Me(), rank, got)
			}
		}
	}
}
