package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/ulfm"
)

// survived checks a rank whose collective ended with err while victim was killed: all ranks
// continue in the same way (R29), and a rank that knows of a failure has not acknowledged that
// failure (R28).
func survived(ctx context.Context, t *testing.T, w *comm.Comm, at string, victim int, err error) {
	_, hurt := w.Agree(ctx, 1)
	switch {
	case w.Rank() == victim:
	case err != nil && !errors.Is(err, ulfm.ErrProcFailed) || hurt != nil && !errors.Is(hurt, ulfm.ErrProcFailed):
		t.Errorf("%s: rank %d: %v, agree: %v", at, w.Rank(), err, hurt)
	case err != nil && hurt == nil:
		t.Errorf("%s: rank %d: %v, and agree succeeded", at, w.Rank(), err)
	case hurt != nil:
		afterwards(ctx, t, w, at, victim)
	}
}

// afterwards checks what must hold at a survivor once a collective has met a
// death: the next one fails at entry (R55), and after Shrink everything works,
// with nothing left over from before (R44).
func afterwards(ctx context.Context, t *testing.T, w *comm.Comm, at string, victim int) {
	t.Helper()
	if _, err := comm.Recv(ctx, w.From(victim).Tag(1), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
		t.Errorf("%s: receive from the dead: %v", at, err)
	}
	for _, next := range everyVerb {
		err := next.call(ctx, w, short)
		var e *ulfm.Error
		if !errors.Is(err, ulfm.ErrProcFailed) || !errors.As(err, &e) || e.Op != next.name || e.Comm != "world" || len(e.Ranks) != 1 || e.Ranks[0] != victim {
			t.Errorf("%s: %s after a known failure: %v", at, next.name, err)
		}
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		t.Errorf("%s: shrink: %v", at, err)
		return
	}
	if s.Size() != w.Size()-1 {
		t.Errorf("%s: %d members after the shrink", at, s.Size())
	}
	works(ctx, t, s, at)
}

// works checks the content of a collective with and without a root.
func works(ctx context.Context, t *testing.T, c *comm.Comm, at string) {
	t.Helper()
	all := make([]int, c.Size())
	err := collectives.Allgather(ctx, c, all, []int{c.Rank()})
	for r, got := range all {
		if got != r {
			err = fmt.Errorf("allgather gave %v, %w", all, err)
		}
	}
	if err != nil {
		t.Errorf("%s: rank %d: %v", at, c.Rank(), err)
	}
	for root := range c.Size() {
		v := []int{c.Rank() + 77}
		if err := collectives.Bcast(ctx, c, root, v); err != nil || v[0] != root+77 {
			t.Errorf("%s: rank %d: bcast from %d gave %v, %v", at, c.Rank(), root, v, err)
		}
	}
}

// TestSpecR54KilledBeforeEachCollective: a survivor succeeds or gets the failure of the process; if
// all ranks need all others, no rank succeeds.
func TestSpecR54KilledBeforeEachCollective(t *testing.T) {
	for i, v := range everyVerb {
		for _, n := range []int{2, 3, 4, 7} {
			for victim := range n {
				if !*longRun && victim != i%n {
					continue
				}
				length := []int{short, big}[(victim+n)%2]
				at := fmt.Sprintf("%s of %d on %d ranks, rank %d killed before", v.name, length, n, victim)
				commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
					if w.Rank() == victim {
						commtest.Kill(w)
					}
					err := v.call(ctx, w, length)
					if err == nil && v.synchronizes || err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
						t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
					}
					afterwards(ctx, t, w, at, victim)
				})
			}
		}
	}
}

// TestSpecR54KilledInsideEachCollective kills a rank before frames that the rank sends or takes,
// with -long before every single one, in a run of one collective and the agreement after it.
func TestSpecR54KilledInsideEachCollective(t *testing.T) {
	const n = 4
	stride := uint64(longtest.N(15, 3))
	if *longRun {
		stride = 1
	}
	for i, v := range everyVerb {
		for j, length := range []int{short, big} {
			for victim := range n {
				if !*longRun && victim != (i+2*j)%n {
					continue
				}
				died := 0
				for frame := uint64(1); !t.Failed(); frame += stride {
					at := fmt.Sprintf("%s of %d, rank %d killed before frame %d", v.name, length, victim, frame)
					came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
						survived(ctx, t, w, at, victim, v.call(ctx, w, length))
					})
					if !came {
						break
					}
					died++
				}
				if died == 0 {
					t.Errorf("%s: rank %d moved no frame", v.name, victim)
				}
			}
		}
	}
}

// TestKilledWhileItComputes kills a rank once it is in the program's own operation,
// which another goroutine has to do: the operation must return.
func TestKilledWhileItComputes(t *testing.T) {
	const n = 5
	for victim := range n {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			var once sync.Once
			op := collectives.Custom(func(acc, in []int) {
				if w.Rank() == victim {
					once.Do(func() { go commtest.Kill(w) })
				}
				acc[0] += in[0]
			}, true)
			dst := []int{0}
			err := collectives.Allreduce(ctx, w, dst, []int{1}, op)
			switch {
			case w.Rank() == victim:
				once.Do(func() { go commtest.Kill(w) }) // the operation combines nothing
				for !door.Engine(w).Proc().Fenced() {
					runtime.Gosched()
				}
				return
			case err == nil && dst[0] != n, err != nil && !errors.Is(err, ulfm.ErrProcFailed):
				t.Errorf("victim %d: rank %d: %v, %v", victim, w.Rank(), dst, err)
			}
			afterwards(ctx, t, w, fmt.Sprintf("victim %d", victim), victim)
		})
	}
}

// TestSpecR13RevokedInsideEachCollective: everybody waits inside for a rank that
// revokes instead of entering.
func TestSpecR13RevokedInsideEachCollective(t *testing.T) {
	const n = 5
	for i, v := range everyVerb {
		for revoker := range n {
			if !*longRun && revoker != i%n {
				continue
			}
			at := fmt.Sprintf("%s, revoked by %d", v.name, revoker)
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == revoker {
					if err := w.Revoke(); err != nil {
						t.Error(err)
					}
				}
				err := v.call(ctx, w, big)
				if err == nil && (v.synchronizes || w.Rank() == revoker) || err != nil && !errors.Is(err, ulfm.ErrRevoked) {
					t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
				}
				s, err := w.Shrink(ctx)
				if err != nil || s.Size() != n {
					t.Errorf("%s: shrink: %v", at, err)
					return
				}
				if err := v.call(ctx, w, short); !errors.Is(err, ulfm.ErrRevoked) {
					t.Errorf("%s: afterwards at rank %d: %v", at, w.Rank(), err)
				}
				works(ctx, t, s, at)
			})
		}
	}
}

// TestCancelledInsideRevokes: the others would wait for ever for a member that
// gave up, so its communicator is revoked.
func TestCancelledInsideRevokes(t *testing.T) {
	const n = 4
	for _, v := range verbs {
		if !v.synchronizes {
			continue
		}
		for quitter := range n - 1 {
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				mine := ctx
				if w.Rank() == quitter {
					var cancel context.CancelCauseFunc
					mine, cancel = context.WithCancelCause(ctx)
					waiting := make(chan struct{})
					go func() { // once the rank waits inside
						for len(door.Engine(w).Proc().Waits()) == 0 {
							runtime.Gosched()
						}
						cancel(nil)
						close(waiting)
					}()
					defer func() { <-waiting }()
				}
				if w.Rank() == n-1 { // never enters
					if _, err := comm.Recv(ctx, w.From(0), []int{0}); !errors.Is(err, ulfm.ErrRevoked) {
						t.Errorf("%s: rank %d: %v", v.name, w.Rank(), err)
					}
					return
				}
				err := v.call(mine, w, big)
				want := ulfm.ErrRevoked
				if w.Rank() == quitter {
					want = context.Canceled
				}
				if !errors.Is(err, want) {
					t.Errorf("%s: rank %d: %v, want %v", v.name, w.Rank(), err, want)
				}
			})
		}
	}
}

// TestCancelledBeforehandRevokes: a context that is over at entry counts as well.
func TestCancelledBeforehandRevokes(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			over, cancel := context.WithCancel(ctx)
			cancel()
			if err := collectives.Barrier(over, w); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		} else if err := collectives.Barrier(ctx, w); !errors.Is(err, ulfm.ErrRevoked) {
			t.Error(err)
		}
	})
}

// TestSpecR3InsulationOfCollectives: the death of a process outside of a
// communicator is no business of its collectives.
func TestSpecR3InsulationOfCollectives(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		s, err := w.Split(ctx, w.Rank()/3, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if w.Rank() == 4 {
			commtest.Kill(w)
		}
		if _, err := comm.Recv(ctx, w.From(4), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
		}
		if w.Rank() < 3 {
			works(ctx, t, s, "other half")
		}
	})
}

// TestOwnMistakeBeforeADeath: all members make the same mistake, and one of them has ended because
// of it. The others report their own mistake, not that death. On a revoked communicator they report
// it as well.
func TestOwnMistakeBeforeADeath(t *testing.T) {
	const n, length = 4, 3
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 3 {
			commtest.Kill(w)
		}
		_, err := comm.Recv(ctx, w.From(3), make([]int, 1))
		assert.True(t, ulfm.Recoverable(err), "the death, or already the revocation of a faster member")
		for _, state := range []string{"a death", "a revocation"} {
			for _, c := range append(wrongs(n), wrongTwins(n)...) {
				assert.ErrorIs(t, c.call(ctx, w, length), c.want, "%s after %s", c.name, state)
			}
			assert.NoError(t, w.Revoke())
		}
	})
}
