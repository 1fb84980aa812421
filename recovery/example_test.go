package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// shown makes a test of an example: errors are printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// job runs body as n ranks. One rank dies at the point "step" of step at, and is replaced; at 0: no
// rank dies. A program calls recovery.Main instead.
func job(n, victim, at int, cfg recovery.Config, body recovery.Body) {
	cfg.Every, cfg.Log = 1, slog.New(slog.DiscardHandler)
	var kills []commtest.Killed
	if at > 0 {
		kills = append(kills, commtest.Killed{Rank: victim, Mark: "step", At: at})
	}
	commtest.Job{N: n, Kills: kills}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error { return recovery.Run(ctx, w, cfg, body) })
}

// printOnce prints at rank 0, once all ranks are here.
func printOnce(ctx context.Context, w *recovery.World, a ...any) error {
	if err := collectives.Barrier(ctx, w.Comm()); err != nil || w.Rank() > 0 {
		return err
	}
	fmt.Println(a...)
	return nil
}

// A program that sums up. Under goulfm run -n 4 the program would run as four ranks.
func ExampleMain() {
	recovery.Main(recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		sum := 0
		if _, err := w.Protect(ctx, recovery.Value("sum", &sum)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 5) {
			sum += step
		}
		if w.Err() != nil {
			return w.Err()
		}
		fmt.Println("sum", sum, "at rank", w.Rank(), "of", w.Size())
		return nil
	})
	// Output: sum 10 at rank 0 of 1
}

// Rank 1 dies in the third of five steps; a new process gets its rank and its sum of the second.
func ExampleRun() {
	body := func(ctx context.Context, w *recovery.World) error {
		sum := 0
		if _, err := w.Protect(ctx, recovery.Value("sum", &sum)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 5) {
			sum += step * w.Rank()
		}
		if w.Err() != nil {
			return w.Err()
		}
		all, err := collectives.AllreduceOne(ctx, w.Comm(), sum, collectives.Sum)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, "sum of all", all)
	}
	cfg := recovery.Config{Every: 1, Log: slog.New(slog.DiscardHandler)} // commits each step, and reports no repairs
	commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 3}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, cfg, body)
	})
	// Output: sum of all 30
}

// A result turns out to be wrong: all ranks return to the last commit, and no rank is replaced.
func ExampleRollback() {
	wrong := true // once
	job(2, 0, 0, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		x := 1.0
		if _, err := w.Protect(ctx, recovery.Value("x", &x)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 4) {
			x *= 2
			if w.Rank() == 1 && step == 2 && wrong {
				x, wrong = -1, false // a bit has flipped
			}
			if x < 0 {
				return recovery.Rollback("x is negative")
			}
		}
		if w.Err() != nil {
			return w.Err()
		}
		return printOnce(ctx, w, "attempt", w.Attempt(), "x", x)
	})
	// Output: attempt 2 x 16
}

// The vector of the rank that dies is restored with its length.
func ExampleSlice() {
	job(3, 2, 4, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		var v []float64
		if _, err := w.Protect(ctx, recovery.Slice("v", &v)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 5) {
			v = append(v, float64(10*w.Rank()+step))
		}
		if w.Err() != nil {
			return w.Err()
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, v)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	})
	// Output: [[0 1 2 3 4] [10 11 12 13 14] [20 21 22 23 24]]
}

// Any type that gob can encode, or that marshals itself, such as a generator of random numbers.
func ExampleValue() {
	type tally struct {
		Seen map[string]int
		Last string
	}
	job(2, 1, 3, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		t := tally{Seen: map[string]int{}}
		if _, err := w.Protect(ctx, recovery.Value("tally", &t)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 4) {
			t.Last = []string{"even", "odd"}[step%2]
			t.Seen[t.Last]++
		}
		if w.Err() != nil {
			return w.Err()
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, t)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	})
	// Output: [{map[even:2 odd:2] odd} {map[even:2 odd:2] odd}]
}

// Data that are equal at all ranks are compared at each commit: a difference is found before the
// data become a version.
func ExampleSame() {
	differs := true // once
	job(2, 0, 0, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		weights := []int{0}
		if _, err := w.Protect(ctx, recovery.Slice("weights", &weights, recovery.Same())); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 3) {
			weights[0] += 5
			if w.Rank() == 0 && step == 1 && differs {
				weights[0], differs = 6, false
			}
		}
		if errors.Is(w.Err(), recovery.ErrReplica) && w.Rank() == 0 {
			fmt.Println("found, and all go back")
		}
		if w.Err() != nil {
			return w.Err()
		}
		return printOnce(ctx, w, "weights", weights)
	})
	// Output:
	// found, and all go back
	// weights [15]
}

// A matrix does not change: it is committed once, and only the new process reads it.
func ExampleStatic() {
	job(2, 1, 3, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		matrix, x := []int(nil), w.Rank()
		if w.Role() != recovery.RoleRecovered { // a new process does not assemble
			matrix = []int{2, 3}
		}
		if _, err := w.Protect(ctx, recovery.Slice("matrix", &matrix, recovery.Static()), recovery.Value("x", &x)); err != nil {
			return err
		}
		for range w.Steps(ctx, 4) {
			x = x*matrix[0] + matrix[1]
		}
		if w.Err() != nil {
			return w.Err()
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, x)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	})
	// Output: [45 61]
}

// Survivors keep their counts, and a new process continues from the last commit. The data that
// survivors keep are outside the body.
func ExampleForward() {
	program := func(ctx context.Context, w *comm.Comm) error {
		begun := 0 // steps, by this process
		return recovery.Run(ctx, w, recovery.Config{Every: 1, Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *recovery.World) error {
			if _, err := w.Protect(ctx, recovery.Value("begun", &begun, recovery.Forward())); err != nil {
				return err
			}
			for step := range w.Steps(ctx, 3) {
				begun++
				if err := collectives.Barrier(ctx, w.Comm()); err != nil {
					return err
				}
				w.Comm().Mark("work", step+1) // rank 1 dies here, in the third step
			}
			if w.Err() != nil {
				return w.Err()
			}
			all, err := collectives.GatherValue(ctx, w.Comm(), 0, begun)
			if err != nil {
				return err
			}
			return printOnce(ctx, w, all)
		})
	}
	commtest.Job{N: 2, Kills: []commtest.Killed{{Rank: 1, Mark: "work", At: 3}}}.Run(shown{}, program)
	// Output: [4 3]
}

// No process can replace the dead rank: its rows are distributed among the remaining ranks.
func ExampleRows() {
	cfg := recovery.Config{Every: 1, Log: slog.New(slog.DiscardHandler), Shortage: recovery.ShortageShrink}
	body := func(ctx context.Context, w *recovery.World) error {
		const rows, width = 6, 2
		lo, hi := w.Block(rows)
		u := make([]int, (hi-lo)*width)
		for i := range u {
			u[i] = lo*width + i
		}
		if _, err := w.Protect(ctx, recovery.Slice("u", &u, recovery.Rows(rows, width))); err != nil {
			return err
		}
		for range w.Steps(ctx, 3) {
			for i := range u { // as many rows as w.Block now returns
				u[i] += 100
			}
		}
		if w.Err() != nil {
			return w.Err()
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, u)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	}
	commtest.Job{N: 3, Room: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 2}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, cfg, body)
	})
	// Output: [[300 301 302 303 304 305] [306 307 308 309 310 311]]
}

// Each rank has its own tasks and saves its results. The replacement of rank 1 does the last task
// again, and no other.
func ExampleOwn() {
	body := func(ctx context.Context, w *recovery.World) error {
		var done []int
		if _, err := w.Protect(ctx, recovery.Slice("done", &done, recovery.Own())); err != nil {
			return err
		}
		for len(done) < 3 {
			w.Comm().Mark("task", len(done)+1)
			done = append(done, 10*w.Rank()+len(done))
			if err := w.Save(ctx, "done"); err != nil {
				return err
			}
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, done)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	}
	commtest.Job{N: 2, Kills: []commtest.Killed{{Rank: 1, Mark: "task", At: 3}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, body)
	})
	// Output: [[0 1 2] [10 11 12]]
}

// Before the first commit there is no version, and initial values stand.
func ExampleVersion_IsZero() {
	job(2, 1, 2, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		x := 1
		v, err := w.Protect(ctx, recovery.Value("x", &x))
		if err != nil {
			return err
		}
		if err := printOnce(ctx, w, "attempt", w.Attempt(), "is from the beginning:", v.IsZero()); err != nil {
			return err
		}
		for range w.Steps(ctx, 2) {
			x++
		}
		return w.Err()
	})
	// Output:
	// attempt 1 is from the beginning: true
	// attempt 2 is from the beginning: false
}
