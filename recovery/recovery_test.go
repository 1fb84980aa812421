package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

const steps = 12

// sums collects the results of ranks.
type sums struct {
	mu   sync.Mutex
	seen map[int]int // by rank
	meet *meeting    // nil: there is none
}

// A meeting makes some ranks die together, at the point "met": no rank is dead before all are
// there.
type meeting struct {
	attempt int // 0: the first one
	ranks   []int
	left    atomic.Int32
	met     chan struct{}
}

func meetingOf(ranks ...int) *meeting {
	m := &meeting{ranks: ranks, met: make(chan struct{})}
	m.left.Store(int32(len(ranks)))
	return m
}

func (m *meeting) kills() (kills []commtest.Killed) {
	for _, r := range m.ranks {
		kills = append(kills, commtest.Killed{Rank: r, Mark: "met", At: 1})
	}
	return kills
}

func (m *meeting) attend(w *recovery.World) {
	if m == nil || w.Attempt() != max(m.attempt, 1) || !slices.Contains(m.ranks, w.Rank()) {
		return
	}
	if m.left.Add(-1) == 0 {
		close(m.met)
	}
	<-m.met
	w.Comm().Mark("met", 1)
}

func (s *sums) put(rank, sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[rank] = sum
}

// solver is a program whose result depends on each step of each rank, in order.
func solver(s *sums, cfg recovery.Config) func(ctx context.Context, w *comm.Comm) error {
	cfg.Log = slog.New(slog.DiscardHandler)
	return func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
			u := []int{w.Rank()}
			fixed := []int{w.Rank() * w.Rank()}
			if w.Role() == recovery.RoleRecovered {
				fixed[0] = -1
			}
			v, err := w.Protect(ctx, recovery.Slice("u", &u), recovery.Slice("fixed", &fixed, recovery.Static()))
			if err != nil {
				return err
			}
			if v.IsZero() {
				fixed[0] = w.Rank() * w.Rank()
			}
			for step := range w.Steps(ctx, steps) {
				if step == 7 {
					s.meet.attend(w)
				}
				sum, err := collectives.AllreduceOne(ctx, w.Comm(), u[0], collectives.Sum)
				if err != nil {
					return err
				}
				u[0] = (u[0]*31 + sum + fixed[0]) % 1_000_003
			}
			if w.Err() == nil {
				s.put(w.Rank(), u[0])
			}
			return w.Err()
		})
	}
}

// run returns the results of the ranks, and the points that were reached.
func run(t *testing.T, j commtest.Job, cfg recovery.Config) (map[int]int, []commtest.Killed) {
	t.Helper()
	s := &sums{seen: map[int]int{}}
	marks := j.Run(t, solver(s, cfg))
	return s.seen, marks
}

// TestEachPoint: a rank dies at each point that it passes, and the result is that of a run without
// a death.
func TestEachPoint(t *testing.T) {
	cfg := recovery.Config{Every: 3}
	want, marks := run(t, commtest.Job{N: 4}, cfg)
	assert.Len(t, want, 4)
	for _, k := range marks {
		got, _ := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{k}}, cfg)
		assert.Equal(t, want, got, "%v", k)
	}
}

// TestEachPointOfARepair: after a first death a survivor that has no copy of the dead one's, or a
// replacement, dies at each point that it passes.
func TestEachPointOfARepair(t *testing.T) {
	cfg := recovery.Config{Every: 3}
	want, _ := run(t, commtest.Job{N: 4}, cfg)
	first := commtest.Killed{Rank: 1, Mark: "step", At: 8}
	_, marks := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first}}, cfg)
	for _, k := range marks {
		if k.Rank == 1 || k.Rank == 3 { // the pair that keeps each other's copies: see TestPairLost
			continue
		}
		got, _ := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first, k}}, cfg)
		assert.Equal(t, want, got, "%v", k)
	}
}

// TestFatalError: a bug is not replayed, and all ranks learn of the error.
func TestFatalError(t *testing.T) {
	bug := errors.New("a bug")
	for _, panics := range []bool{false, true} {
		commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			calls := 0
			err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *recovery.World) error {
				calls++
				if _, err := w.Protect(ctx); err != nil {
					return err
				}
				for step := range w.Steps(ctx, 5) {
					if step == 2 && w.Rank() == 1 {
						if panics {
							panic(bug)
						}
						return bug
					}
				}
				return w.Err()
			})
			assert.ErrorIs(t, err, recovery.ErrPeer)
			assert.ErrorContains(t, err, "a bug")
			assert.Equal(t, 1, calls)
			return nil
		})
	}
}

// TestRollback: all ranks return to the last version, and no rank is replaced.
func TestRollback(t *testing.T) {
	commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 2}, func(ctx context.Context, w *recovery.World) error {
			u := []float64{1}
			v, err := w.Protect(ctx, recovery.Slice("u", &u))
			if err != nil {
				return err
			}
			if w.Attempt() == 2 {
				assert.Equal(t, uint64(2), v.Number, "4 of 5 steps")
				assert.Equal(t, []float64{16}, u)
				assert.Empty(t, w.Lost())
				assert.Equal(t, recovery.RoleSurvivor, w.Role())
			}
			for step := range w.Steps(ctx, 8) {
				if step == 5 && w.Attempt() == 1 && w.Rank() == 0 {
					return recovery.Rollback("to see what happens")
				}
				u[0] *= 2
			}
			if w.Err() == nil {
				assert.Equal(t, []float64{256}, u)
			}
			return w.Err()
		})
	})
}

// TestReplicas: a difference between replicas is found at all ranks.
func TestReplicas(t *testing.T) {
	commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		found := 0
		err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 1}, func(ctx context.Context, w *recovery.World) error {
			weight := 1
			if _, err := w.Protect(ctx, recovery.Value("weight", &weight, recovery.Same())); err != nil {
				return err
			}
			for step := range w.Steps(ctx, 6) {
				weight++
				if step == 3 && w.Attempt() == 1 && w.Rank() == 2 {
					weight++ // a flipped bit
				}
			}
			if errors.Is(w.Err(), recovery.ErrReplica) {
				found++
			}
			return w.Err()
		})
		assert.Equal(t, 1, found)
		return err
	})
}

// TestPairLost: with one copy, the loss of both its holders is an error at all ranks, and never
// yields old or mixed data.
func TestPairLost(t *testing.T) {
	wantLost(t, commtest.Job{N: 4}, recovery.Config{Every: 3}, 0, 2)
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	got := together(t, commtest.Job{N: 4}, recovery.Config{Every: 3, Copies: 2}, 0, 2)
	assert.Equal(t, want, got)
}

// together is run in which some ranks die at once.
func together(t *testing.T, j commtest.Job, cfg recovery.Config, ranks ...int) map[int]int {
	t.Helper()
	s := &sums{seen: map[int]int{}, meet: meetingOf(ranks...)}
	j.Kills = s.meet.kills()
	j.Run(t, solver(s, cfg))
	return s.seen
}

// wantLost makes some ranks die at once and requires ErrLost at all others.
func wantLost(t *testing.T, j commtest.Job, cfg recovery.Config, ranks ...int) {
	t.Helper()
	s := &sums{seen: map[int]int{}, meet: meetingOf(ranks...)}
	j.Kills = s.meet.kills()
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		if err := solver(s, cfg)(ctx, w); !errors.Is(err, comm.ErrFenced) {
			assert.ErrorIs(t, err, recovery.ErrLost)
			assert.ErrorContains(t, err, fmt.Sprintf("no process has the data of ranks %v (of %d) in version 1.", ranks, j.N))
			assert.ErrorContains(t, err, "Config.Files keeps versions")
		}
		return nil
	})
}

// TestTooFew: without processes to replace the dead the program ends, or continues with fewer.
func TestTooFew(t *testing.T) {
	j := commtest.Job{N: 3, Room: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 4}}}
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := solver(&sums{seen: map[int]int{}}, recovery.Config{})(ctx, w)
		if !errors.Is(err, comm.ErrFenced) {
			assert.ErrorIs(t, err, recovery.ErrTooFew)
		}
		return nil
	})
}

// TestCrashLoop: a process that dies at the same point each time ends the program.
func TestCrashLoop(t *testing.T) {
	var kills []commtest.Killed
	for number := range 12 {
		kills = append(kills, commtest.Killed{Rank: number, Mark: fmt.Sprint("here", number == 1 || number > 3), At: 1})
	}
	commtest.Job{N: 4, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context, w *recovery.World) error {
			if _, err := w.Protect(ctx); err != nil {
				return err
			}
			w.Comm().Mark(fmt.Sprint("here", w.Rank() == 1), 1)
			return collectives.Barrier(ctx, w.Comm())
		})
		if !errors.Is(err, comm.ErrFenced) {
			assert.ErrorIs(t, err, recovery.ErrNoProgress)
		}
		return nil
	})
}

// TestStop: when the context of Run ends, all stop after one last commit.
func TestStop(t *testing.T) {
	commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 2}, func(ctx context.Context, w *recovery.World) error {
			if _, err := w.Protect(ctx); err != nil {
				return err
			}
			for step := range w.Steps(ctx, 100) {
				if step == 4 && w.Rank() == 1 {
					stop()
				}
			}
			return w.Err()
		})
		assert.ErrorIs(t, err, recovery.ErrStopped)
		return nil
	})
}

// TestShrink: without replacements the data are distributed among the remaining ranks, and the
// result is the same.
func TestShrink(t *testing.T) {
	const rows, width = 11, 2
	want := make([]int, rows*width)
	for i := range want {
		want[i] = i
		for step := range steps {
			want[i] = (want[i]*31 + step) % 1_000_003
		}
	}
	for _, kills := range [][]commtest.Killed{
		nil,
		{{Rank: 1, Mark: "step", At: 8}},
		{{Rank: 0, Mark: "step", At: 1}, {Rank: 2, Mark: "step", At: 10}},
		{{Rank: 3, Mark: "step", At: 5}, {Rank: 1, Mark: "step", At: 9}, {Rank: 0, Mark: "step", At: 12}},
		{{Rank: 3, Mark: "step", At: 5}, {Rank: 2, Mark: "restore.move", At: 1}},
	} {
		commtest.Job{N: 4, Room: 4, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			cfg := recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 2, Shortage: recovery.ShortageShrink}
			return recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
				lo, hi := w.Block(rows)
				u, seen := make([]int, (hi-lo)*width), 0
				for i := range u {
					u[i] = lo*width + i
				}
				if _, err := w.Protect(ctx, recovery.Slice("u", &u, recovery.Rows(rows, width)), recovery.Value("seen", &seen, recovery.Same())); err != nil {
					return err
				}
				for step := range w.Steps(ctx, steps) {
					for i := range u {
						u[i] = (u[i]*31 + step) % 1_000_003
					}
					seen++
					if err := collectives.Barrier(ctx, w.Comm()); err != nil {
						return err
					}
				}
				if w.Err() == nil {
					assert.Equal(t, want[lo*width:hi*width], u)
					assert.Equal(t, steps, seen)
				}
				return w.Err()
			})
		})
	}
}

// TestShrinkRefusesMembers: members that could not be distributed are an error before any rank has
// died.
func TestShrinkRefusesMembers(t *testing.T) {
	commtest.Job{N: 2}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Shortage: recovery.ShortageShrink}, func(ctx context.Context, w *recovery.World) error {
			u := []int{1}
			_, err := w.Protect(ctx, recovery.Slice("u", &u))
			return err
		})
		assert.ErrorIs(t, err, recovery.ErrMember)
		assert.ErrorContains(t, err, `"u"`)
		return nil
	})
}

// fragile cannot be copied once it is broken.
type fragile struct{ broken bool }

func (f *fragile) MarshalBinary() ([]byte, error) {
	if f.broken {
		return nil, errors.New("it is broken")
	}
	return []byte{1}, nil
}

func (f *fragile) UnmarshalBinary([]byte) error { return nil }

// TestMemberThatCannotBeCopied: a member that cannot be copied ends the program at all ranks,
// including ranks that wait for the copy.
func TestMemberThatCannotBeCopied(t *testing.T) {
	commtest.Job{N: 4}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 1}, func(ctx context.Context, w *recovery.World) error {
			var f fragile
			if _, err := w.Protect(ctx, recovery.Value("fragile", &f)); err != nil {
				return err
			}
			for step := range w.Steps(ctx, 5) {
				f.broken = step == 2 && w.Rank() == 1
			}
			return w.Err()
		})
		assert.ErrorIs(t, err, recovery.ErrPeer)
		assert.ErrorContains(t, err, "it is broken")
		return nil
	})
}
