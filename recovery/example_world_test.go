package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// two protects a number, makes two steps, loses rank 1 in the second one, and calls f in each
// attempt.
func two(f func(ctx context.Context, w *recovery.World) error) {
	job(2, 1, 2, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		x := 0
		if _, err := w.Protect(ctx, recovery.Value("x", &x)); err != nil {
			return err
		}
		if err := f(ctx, w); err != nil {
			return err
		}
		for range w.Steps(ctx, 2) {
			x++
		}
		return w.Err()
	})
}

// A repair is followed by another call of the body, with the next number at all ranks.
func ExampleWorld_Attempt() {
	two(func(ctx context.Context, w *recovery.World) error { return printOnce(ctx, w, "attempt", w.Attempt()) })
	// Output:
	// attempt 1
	// attempt 2
}

// Ten rows among four ranks.
func ExampleWorld_Block() {
	job(4, 0, 0, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		lo, hi := w.Block(10)
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, []int{lo, hi})
		if err != nil {
			return err
		}
		return printOnce(ctx, w, all)
	})
	// Output: [[0 3] [3 6] [6 8] [8 10]]
}

// The rank that has row 7 of ten.
func ExampleWorld_BlockOf() {
	job(4, 0, 0, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		owner := 0
		for _, hi := w.BlockOf(10, owner); hi <= 7; _, hi = w.BlockOf(10, owner) {
			owner++
		}
		return printOnce(ctx, w, owner)
	})
	// Output: 2
}

// All messages of an attempt use its communicator, and communicators made from it.
func ExampleWorld_Comm() {
	two(func(ctx context.Context, w *recovery.World) error {
		half, err := w.Comm().Split(ctx, w.Rank()%2, 0) // ends with the attempt, as w.Comm() does
		if err != nil {
			return err
		}
		return printOnce(ctx, w, "of", w.Comm().Size(), "ranks", half.Size(), "are even")
	})
	// Output:
	// of 2 ranks 1 are even
	// of 2 ranks 1 are even
}

// A program with its own loop: the loop counter grows before Commit.
func ExampleWorld_Commit() {
	body := func(ctx context.Context, w *recovery.World) error {
		step, sum := 0, 0
		if _, err := w.Protect(ctx, recovery.Value("step", &step), recovery.Value("sum", &sum)); err != nil {
			return err
		}
		for sum < 20 {
			sum += step
			step++
			w.Comm().Mark("sum", sum)
			if err := w.Commit(ctx); err != nil {
				return err
			}
		}
		return printOnce(ctx, w, step, "steps, sum", sum)
	}
	commtest.Job{N: 2, Kills: []commtest.Killed{{Rank: 0, Mark: "sum", At: 10}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Every: 2, Log: slog.New(slog.DiscardHandler)}, body)
	})
	// Output: 7 steps, sum 21
}

// Every is so large that no step commits; CommitNow commits after the costly part.
func ExampleWorld_CommitNow() {
	costly := new(atomic.Int32)
	body := func(ctx context.Context, w *recovery.World) error {
		table, x := []int(nil), 0
		if _, err := w.Protect(ctx, recovery.Slice("table", &table), recovery.Value("x", &x)); err != nil {
			return err
		}
		if table == nil {
			costly.Add(1)
			table = []int{7}
			if err := w.CommitNow(ctx); err != nil {
				return err
			}
		}
		for range w.Steps(ctx, 3) {
			x += table[0]
		}
		if w.Err() != nil {
			return w.Err()
		}
		return printOnce(ctx, w, "x", x, "at attempt", w.Attempt(), "- the costly part was done by", costly.Load(), "ranks")
	}
	commtest.Job{N: 2, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 3}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Every: 1000, Log: slog.New(slog.DiscardHandler)}, body)
	})
	// Output: x 21 at attempt 2 - the costly part was done by 2 ranks
}

// Steps stops early when the attempt is over; a body returns the reason, and is called again.
func ExampleWorld_Err() {
	told := new(atomic.Bool)
	job(2, 1, 2, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		x := 0
		if _, err := w.Protect(ctx, recovery.Value("x", &x)); err != nil {
			return err
		}
		for range w.Steps(ctx, 3) {
			x++
		}
		if w.Rank() == 0 && w.Err() != nil && told.CompareAndSwap(false, true) {
			fmt.Println("stopped early in attempt", w.Attempt())
		}
		return w.Err()
	})
	// Output: stopped early in attempt 1
}

// A goroutine of the attempt sums while the body does other work. Its context ends when the body
// returns, so the body waits for the result.
func ExampleWorld_Go() {
	job(2, 0, 0, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		c, err := w.Comm().Dup(ctx) // of the goroutine alone
		if err != nil {
			return err
		}
		sums := make(chan int, 1)
		w.Go(func(ctx context.Context) error {
			sum, err := collectives.AllreduceOne(ctx, c, w.Rank()+1, collectives.Sum)
			if err == nil {
				sums <- sum
			}
			return err
		})
		select {
		case sum := <-sums:
			return printOnce(ctx, w, "sum", sum)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	// Output: sum 3
}

// The ranks that have a new process since the previous attempt.
func ExampleWorld_Lost() {
	two(func(ctx context.Context, w *recovery.World) error { return printOnce(ctx, w, "lost", w.Lost()) })
	// Output:
	// lost []
	// lost [1]
}

// Protect restores the last commit: at all ranks the version of the first step.
func ExampleWorld_Protect() {
	job(2, 1, 2, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		name, x := "initial", 0.5
		version, err := w.Protect(ctx, recovery.Value("name", &name), recovery.Value("x", &x))
		if err != nil {
			return err
		}
		if err := printOnce(ctx, w, "version", version.Number, name, x); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 2) {
			name, x = fmt.Sprint("after step ", step+1), x*2
		}
		return w.Err()
	})
	// Output:
	// version 0 initial 0.5
	// version 1 after step 1 1
}

// Ranks stay the same when other processes serve them.
func ExampleWorld_Rank() {
	two(func(ctx context.Context, w *recovery.World) error {
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, w.Rank())
		return errors.Join(err, printOnce(ctx, w, "ranks", all))
	})
	// Output:
	// ranks [0 1]
	// ranks [0 1]
}

// The role of a process in an attempt: 0 initial, 1 survivor, 2 replacement of another process.
func ExampleWorld_Role() {
	two(func(ctx context.Context, w *recovery.World) error {
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, w.Role())
		return errors.Join(err, printOnce(ctx, w, "roles", all))
	})
	// Output:
	// roles [0 0]
	// roles [1 2]
}

// Saved data are never rolled back, even without a commit.
func ExampleWorld_Save() {
	body := func(ctx context.Context, w *recovery.World) error {
		found := 0
		if _, err := w.Protect(ctx, recovery.Value("found", &found, recovery.Own())); err != nil {
			return err
		}
		if w.Rank() == 1 && found == 0 {
			found = 42
			if err := w.Save(ctx, "found"); err != nil {
				return err
			}
			w.Comm().Mark("saved", 1) // rank 1 dies here
		}
		all, err := collectives.GatherValue(ctx, w.Comm(), 0, found)
		if err != nil {
			return err
		}
		return printOnce(ctx, w, "found", all, "in attempt", w.Attempt())
	}
	commtest.Job{N: 2, Kills: []commtest.Killed{{Rank: 1, Mark: "saved", At: 1}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, body)
	})
	// Output: found [0 42] in attempt 2
}

// Without replacements the world may continue with fewer ranks.
func ExampleWorld_Size() {
	cfg := recovery.Config{Every: 1, Log: slog.New(slog.DiscardHandler), Shortage: recovery.ShortageShrink}
	body := func(ctx context.Context, w *recovery.World) error {
		x := 0
		if _, err := w.Protect(ctx, recovery.Value("x", &x, recovery.Same())); err != nil {
			return err
		}
		if err := printOnce(ctx, w, w.Size(), "ranks"); err != nil {
			return err
		}
		for range w.Steps(ctx, 2) {
			x++
		}
		return w.Err()
	}
	commtest.Job{N: 3, Room: 3, Kills: []commtest.Killed{{Rank: 2, Mark: "step", At: 2}}}.Run(shown{}, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, cfg, body)
	})
	// Output:
	// 3 ranks
	// 2 ranks
}

// After a repair Steps continues behind the step that was committed last.
func ExampleWorld_Steps() {
	job(2, 1, 3, recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
		done := []int{}
		if _, err := w.Protect(ctx, recovery.Slice("done", &done)); err != nil {
			return err
		}
		for step := range w.Steps(ctx, 4) {
			done = append(done, step)
		}
		if w.Err() != nil {
			return w.Err()
		}
		return printOnce(ctx, w, done)
	})
	// Output: [0 1 2 3]
}
