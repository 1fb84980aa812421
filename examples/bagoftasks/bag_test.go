package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

var few = integral{tasks: 24, points: 50}

// bag runs the program. die[r] = k kills worker r at its k-th task; after is the number of scheduler
// turns between the start of that task and the death.
func bag(t *testing.T, n int, die map[int]int, after int) *master {
	t.Helper()
	var m *master
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			m = newMaster(w, few, func() {})
			if err := m.serve(ctx); err != nil {
				t.Errorf("master: %v", err)
			}
			return
		}
		var mu sync.Mutex
		killed, over := false, false
		kill := func() {
			mu.Lock()
			defer mu.Unlock()
			if !over {
				killed = true
				commtest.Kill(w)
			}
		}
		err := work(ctx, w, few, func(k int) {
			if die[w.Rank()] != k {
				return
			}
			if after == 0 {
				kill()
			}
			go func() {
				for range after {
					runtime.Gosched()
				}
				kill()
			}()
		})
		mu.Lock()
		defer mu.Unlock()
		over = true
		if err != nil && !(killed && errors.Is(err, comm.ErrFenced)) {
			t.Errorf("worker %d: %v", w.Rank(), err)
		}
	})
	if m.missing != 0 {
		t.Errorf("%d values are missing", m.missing)
	}
	if pi := m.sum(); math.Abs(pi-math.Pi) > few.bound() {
		t.Errorf("pi = %v, off by %g; the bound is %g", pi, pi-math.Pi, few.bound())
	}
	return m
}

func TestSameBitsWhoeverDies(t *testing.T) {
	want := bag(t, 1, nil, 0).sum()
	for _, n := range []int{2, 3, 6} {
		if m := bag(t, n, nil, 0); m.sum() != want || m.again != 0 || m.lost() != 0 {
			t.Errorf("%d ranks: %+v", n, m)
		}
	}
	for r := 1; r < 4; r++ {
		// Worker r has a task only if the others leave it one.
		if m := bag(t, 4, map[int]int{r: 1}, 0); m.sum() != want || m.again != m.lost() || m.lost() > 1 {
			t.Errorf("worker %d dead: sum %x (want %x), %d tasks again, %d dead", r, m.sum(), want, m.again, m.lost())
		}
	}
	for k := 1; k <= few.tasks; k++ {
		if m := bag(t, 2, map[int]int{1: k}, 0); m.sum() != want || m.again != 1 || m.lost() != 1 {
			t.Errorf("the only worker dead at task %d: sum %x (want %x), %d tasks again, %d dead", k, m.sum(), want, m.again, m.lost())
		}
	}
}

func TestAllWorkersDie(t *testing.T) {
	if m := bag(t, 4, map[int]int{1: 1, 2: 1, 3: 1}, 0); m.lost() != 3 || m.again != 3 {
		t.Errorf("%d dead, %d tasks again, want 3 and 3", m.lost(), m.again)
	}
}

func TestRandomDeaths(t *testing.T) {
	want := bag(t, 1, nil, 0).sum()
	rng := rand.New(rand.NewPCG(5, 6))
	lost := 0
	for range 100 {
		n, die := 2+rng.IntN(6), map[int]int{}
		for r := 1; r < n; r++ {
			if rng.IntN(2) == 0 {
				die[r] = 1 + rng.IntN(6)
			}
		}
		after := rng.IntN(2) * rng.IntN(60)
		m := bag(t, n, die, after)
		lost += m.lost()
		if m.sum() != want {
			t.Errorf("sum %x, want %x", m.sum(), want)
		}
		if t.Failed() {
			t.Fatalf("%d ranks, deaths %v after %d", n, die, after)
		}
	}
	if lost < 20 {
		t.Errorf("only %d workers died", lost)
	}
}

// An idle worker has to wait: here for the only task, whose first worker dies.
func TestIdleWorkerGetsTheTaskOfTheDead(t *testing.T) {
	var begun atomic.Int32
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		in := integral{tasks: 1, points: 10}
		if w.Rank() == 0 {
			if err := newMaster(w, in, func() {}).serve(ctx); err != nil {
				t.Errorf("master: %v", err)
			}
			return
		}
		err := work(ctx, w, in, func(int) {
			if begun.Add(1) == 1 {
				commtest.Kill(w)
			}
		})
		if err != nil {
			t.Errorf("worker %d: %v", w.Rank(), err)
		}
	})
	if n := begun.Load(); n != 2 {
		t.Errorf("the task was begun %d times, want 2", n)
	}
}

// While a task is in progress elsewhere, an idle worker is not sent home.
func TestNobodyGoesHomeEarly(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		m := newMaster(w, few, func() {})
		m.todo, m.missing = nil, 1
		m.workers = append(m.workers, worker{state: busy}, worker{state: idle})
		if err := m.handOut(ctx); err != nil || m.workers[2].state != idle {
			t.Errorf("%v, worker %+v", err, m.workers[2])
		}
	})
}

// A message that a worker sent before it died may arrive after its death is known. The value
// counts, but the worker gets no further task: no later report of its death would take that task
// back.
func TestValueFromTheDead(t *testing.T) {
	commtest.Run(t, 1, func(_ context.Context, w *comm.Comm) {
		m := newMaster(w, few, func() {})
		m.workers = append(m.workers, worker{state: dead})
		m.take(1, 5, 0.25)
		if m.value[5] != 0.25 || m.missing != few.tasks-1 || m.workers[1].state != dead {
			t.Errorf("value %v, %d missing, worker %+v", m.value[5], m.missing, m.workers[1])
		}
	})
}

// The bound would pass a sum that lacks a task only if it were too generous.
func TestBoundSeesAMissingTask(t *testing.T) {
	for task := range few.tasks {
		if v := few.slice(task); v < 100*few.bound() {
			t.Errorf("task %d is worth %g, the bound is %g", task, v, few.bound())
		}
	}
}

func TestMasterDies(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			commtest.Kill(w)
		}
		if err := work(ctx, w, few, func(int) {}); !errors.Is(err, comm.ErrProcFailed) {
			t.Errorf("worker %d: %v, want a process failure", w.Rank(), err)
		}
	})
}
