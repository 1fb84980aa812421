package recovery_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
)

const bagTasks = 40

// bag is a program without steps: each rank does its own tasks, and saves each.
type bag struct {
	cfg recovery.Config

	mu      sync.Mutex
	done    map[int]int // number of executions of each task
	results [][]int     // at the end
}

func (b *bag) run(t testing.TB, j commtest.Job) (reached []commtest.Killed) {
	t.Helper()
	b.done = map[int]int{}
	if b.cfg.Log == nil {
		b.cfg.Log = slog.New(slog.DiscardHandler)
	}
	return j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, b.cfg, b.body)
	})
}

func (b *bag) body(ctx context.Context, w *recovery.World) error {
	results := map[int]int{}
	if _, err := w.Protect(ctx, recovery.Value("results", &results, recovery.Own())); err != nil {
		return err
	}
	for task := w.Rank(); task < bagTasks; task += w.Size() {
		if _, done := results[task]; done {
			continue
		}
		w.Comm().Mark("task", task+1)
		results[task] = task * task
		b.mu.Lock()
		b.done[task]++
		b.mu.Unlock()
		if err := w.Save(ctx, "results"); err != nil {
			return err
		}
	}
	all := make([]int, bagTasks)
	for task, r := range results {
		all[task] = r
	}
	if err := collectives.Allreduce(ctx, w.Comm(), all, all, collectives.Sum); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results = append(b.results, all)
	return nil
}

// check compares the results, and bounds the number of tasks done again.
func (b *bag) check(t testing.TB, again int, what any) {
	t.Helper()
	done := 0
	for _, n := range b.done {
		done += n
	}
	assert.Len(t, b.done, bagTasks, "%v", what)
	assert.LessOrEqual(t, done, bagTasks+again, "%v", what)
	require.NotEmpty(t, b.results, "%v", what)
	for _, all := range b.results {
		for task, r := range all {
			assert.Equal(t, task*task, r, "%v", what)
		}
	}
}

// TestSaveAtEachPoint: wherever a rank dies no other rank does a task again, and its successor at
// most one. The same holds when a second rank dies that did not keep the savings of the first.
func TestSaveAtEachPoint(t *testing.T) {
	b := &bag{}
	marks := b.run(t, commtest.Job{N: 4})
	b.check(t, 0, "undisturbed")
	for i, k := range marks {
		if !longtest.Row(i, 7) {
			continue
		}
		b := &bag{}
		b.run(t, commtest.Job{N: 4, Kills: []commtest.Killed{k}})
		b.check(t, 1, k)
	}
	for _, first := range []commtest.Killed{{Rank: 1, Mark: "task", At: 22}, {Rank: 3, Mark: "save.send", At: 5}} {
		marks := (&bag{}).run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first}})
		for i, k := range marks {
			if !longtest.Row(i, 7) || k.Rank == 1 || k.Rank == 3 || !slices.Contains([]string{"repair.shrink", "repair.replace", "repair.joined", "restore.plan", "restore.move", "restore.done"}, k.Mark) {
				continue // the pair that keeps each other's savings; or an ordinary death
			}
			b := &bag{}
			b.run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first, k}})
			b.check(t, 2, k)
		}
	}
}

// TestOwnNeverGoesBack: a rollback restores committed data, and leaves saved data unchanged.
func TestOwnNeverGoesBack(t *testing.T) {
	commtest.Job{N: 2}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 2}, func(ctx context.Context, w *recovery.World) error {
			committed, saved, other := 0, 0, 7
			if _, err := w.Protect(ctx, recovery.Value("committed", &committed), recovery.Value("saved", &saved, recovery.Own()), recovery.Value("other", &other, recovery.Own())); err != nil {
				return err
			}
			if w.Attempt() == 2 {
				assert.Equal(t, []int{4, 5, 7}, []int{committed, saved, other})
			}
			for step := range w.Steps(ctx, 8) {
				committed, saved, other = committed+1, step+1, 8
				if err := w.Save(ctx, "saved"); err != nil {
					return err
				}
				if step == 4 && w.Attempt() == 1 && w.Rank() == 0 {
					return recovery.Rollback("to see what stays")
				}
				if err := collectives.Barrier(ctx, w.Comm()); err != nil {
					return err
				}
			}
			if w.Err() == nil {
				assert.ErrorIs(t, w.Save(ctx, "committed"), recovery.ErrMember)
				assert.ErrorIs(t, w.Save(ctx, "nothing"), recovery.ErrMember)
			}
			return w.Err()
		})
	})
}

// TestOwnInFiles: another job finds the saved data, if the number of ranks is the same.
func TestOwnInFiles(t *testing.T) {
	cfg := everyCommit(filepath.Join(t.TempDir(), "dir"))
	cfg.Files.Job, cfg.Log = "own", slog.New(slog.DiscardHandler)
	job := func(n, want int, last error) {
		commtest.Job{N: n}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			err := recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
				saved := 0
				if _, err := w.Protect(ctx, recovery.Value("saved", &saved, recovery.Own())); err != nil {
					return err
				}
				assert.Equal(t, want*w.Rank(), saved)
				saved = 5 * w.Rank()
				if err := w.Save(ctx); err != nil {
					return err
				}
				stop()
				for range w.Steps(ctx, 1000) {
					continue
				}
				return w.Err()
			})
			assert.True(t, errors.Is(err, last), "%v", err)
			return nil
		})
	}
	job(3, 0, recovery.ErrStopped)
	job(3, 5, recovery.ErrStopped)
	job(2, 0, recovery.ErrMember)
}

// TestManyLosses: a rank is lost repeatedly, each time with one more task saved. Data saved after a
// repair are kept like data saved before. (Its partner is not lost, since the pair must not be lost
// at the same time.)
func TestManyLosses(t *testing.T) {
	var kills []commtest.Killed
	for task := 6; task <= bagTasks; task += 4 { // tasks 2, 6, 10, ... are those of rank 1
		kills = append(kills, commtest.Killed{Rank: 1, Mark: "task", At: task})
		if n := len(kills); n > 1 {
			kills[n-1].Rank = 2 + n // the replacement of the previous one
		}
	}
	b := &bag{}
	reached := b.run(t, commtest.Job{N: 4, Kills: kills})
	assert.Subset(t, reached, kills)
	b.check(t, len(kills), "many")
}
