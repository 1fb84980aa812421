package commtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// recorder is a testing.TB whose reports another test checks.
type recorder struct {
	testing.TB
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Errorf("%s", fmt.Sprint(args...))
	runtime.Goexit()
}

func TestEveryRankRunsOnceAndIsFinalized(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		var ran [7]atomic.Int32
		worlds := make([]*comm.Comm, n)
		Run(t, n, func(ctx context.Context, w *comm.Comm) {
			if w.Size() != n {
				t.Errorf("size %d, want %d", w.Size(), n)
			}
			ran[w.Rank()].Add(1)
			worlds[w.Rank()] = w
		})
		for me := range n {
			if got := ran[me].Load(); got != 1 {
				t.Errorf("n = %d: rank %d ran %d times", n, me, got)
			}
			if err := worlds[me].Revoke(); !errors.Is(err, comm.ErrFinalized) {
				t.Errorf("after Run rank %d is not finalized: %v", me, err)
			}
		}
	}
}

func TestBodyMayFinalize(t *testing.T) {
	Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if err := w.Finalize(ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestKillIsHeardOfOnlyFromTheDetector also checks that a message which the victim had sent is
// still received (R8), and that Kill ends its goroutine.
func TestKillIsHeardOfOnlyFromTheDetector(t *testing.T) {
	var after atomic.Bool
	Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		buf := []int{0}
		if w.Rank() == 3 {
			if err := comm.Send(ctx, w.To(0), []int{42}); err != nil {
				t.Error(err)
			}
			helper := make(chan error)
			go func() { // the victim's other goroutines are dead as well
				_, err := comm.Recv(ctx, w.From(0).Tag(9), buf)
				helper <- err
			}()
			defer func() {
				if err := <-helper; !errors.Is(err, comm.ErrFenced) {
					t.Errorf("a goroutine of the dead rank: %v", err)
				}
				if err := comm.Send(ctx, w.To(0), buf); !errors.Is(err, comm.ErrFenced) {
					t.Errorf("a call of the dead rank: %v", err)
				}
			}()
			Kill(w)
			after.Store(true)
		}
		if w.Rank() == 0 {
			if _, err := comm.Recv(ctx, w.From(3), buf); err != nil || buf[0] != 42 {
				t.Errorf("message of the dead: %v, %d", err, buf[0])
			}
		}
		_, err := comm.Recv(ctx, w.From(3).Tag(1), buf)
		if !errors.Is(err, ulfm.ErrProcFailed) {
			t.Errorf("rank %d: %v", w.Rank(), err)
		}
		if got := w.GetFailed().Processes(); len(got) != 1 || got[0] != 3 {
			t.Errorf("rank %d: failed %v", w.Rank(), got)
		}
	})
	if after.Load() {
		t.Error("the goroutine went on after Kill")
	}
}

func TestKillThroughAnyCommunicator(t *testing.T) {
	Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if w.Rank() == 1 {
			Kill(d)
		}
		if _, err := comm.Recv(ctx, w.From(1), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
		}
	})
}

// TestRunKilledStopsAtEveryFrame: the first frames of the victim are 1 send, 2 receive, 3 send. The
// messages that the victim sent before it died arrive.
func TestRunKilledStopsAtEveryFrame(t *testing.T) {
	frame := uint64(1)
	for ; ; frame++ {
		var got []error
		came := RunKilled(t, 2, 1, frame, func(ctx context.Context, w *comm.Comm) {
			buf := []int{0}
			if w.Rank() == 1 {
				_ = comm.Send(ctx, w.To(0), buf)
				_, _ = comm.Recv(ctx, w.From(0), buf)
				_ = comm.Send(ctx, w.To(0), buf)
				return
			}
			for range 2 {
				_, err := comm.Recv(ctx, w.From(1), buf)
				got = append(got, err)
				_ = comm.Send(ctx, w.To(1), buf)
			}
		})
		if !came {
			break
		}
		first, second := frame > 1, frame > 3
		if (got[0] == nil) != first || (got[1] == nil) != second {
			t.Errorf("killed before frame %d: %v", frame, got)
		}
		for _, err := range got {
			if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
				t.Errorf("killed before frame %d: %v", frame, err)
			}
		}
	}
	if frame < 4 {
		t.Errorf("the victim came to %d frames only", frame-1)
	}
}

func TestAllRanksMayBeKilled(t *testing.T) {
	Run(t, 3, func(ctx context.Context, w *comm.Comm) { Kill(w) })
}

func TestPanicNamesItsRankAndLeavesNobodyWaiting(t *testing.T) {
	r := &recorder{TB: t}
	Run(r, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			panic("boom")
		}
		if _, err := comm.Recv(ctx, w.From(2), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
		}
	})
	if text := r.text.String(); !strings.HasPrefix(text, "rank 2: panic: boom") || strings.Contains(text, "rank 0") {
		t.Errorf("reported:\n%s", text)
	}
}

func TestFatalNamesItsRankAndLeavesNobodyWaiting(t *testing.T) {
	r := &recorder{TB: t}
	Run(r, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			r.Fatal("wrong")
		}
		if _, err := comm.Recv(ctx, w.From(1), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
		}
	})
	if want := "wrong\nrank 1: its goroutine ended before body returned\n"; r.text.String() != want {
		t.Errorf("reported:\n%s\nwant:\n%s", r.text.String(), want)
	}
}

// TestDeadlineTellsWhoWaitsForWhom: time passes only while all ranks wait.
func TestDeadlineTellsWhoWaitsForWhom(t *testing.T) {
	for name, own := range map[string]bool{"with the context": false, "without": true} {
		r := &recorder{TB: t}
		synctest.Test(t, func(*testing.T) {
			Config{}.Run(r, 2, func(ctx context.Context, w *comm.Comm) {
				if own {
					ctx = context.Background()
				}
				_, _ = comm.Recv(ctx, w.From(1-w.Rank()).Tag(7+w.Rank()), []int{0})
			})
		})
		text := r.text.String()
		if !strings.Contains(text, "rank 0: recv on world for [1], tag 7") || !strings.Contains(text, "rank 1: recv on world for [0], tag 8") {
			t.Errorf("%s: reported:\n%s", name, text)
		}
	}
}

func TestLeftoverGoroutineIsReported(t *testing.T) {
	stop := make(chan struct{})
	r := &recorder{TB: t}
	limits{run: generous.run, ending: 10 * time.Millisecond}.runOn(r, world{ranks: 1}, nil, func(ctx context.Context, w *comm.Comm) {
		go func() { <-stop }()
	})
	close(stop)
	if text := r.text.String(); !strings.HasPrefix(text, "goroutines left behind:") {
		t.Errorf("reported: %q", text)
	}
}

func TestKillOutsideOfRunPanics(t *testing.T) {
	w, err := comm.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		if err := w.Finalize(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	Kill(w)
}

func TestNothingOfARunIsKept(t *testing.T) {
	Run(t, 2, func(ctx context.Context, w *comm.Comm) {})
	living.Range(func(_, v any) bool {
		t.Errorf("rank %d is still there", v.(*rank).me)
		return true
	})
}

// TestFreezeInsideOfACall: ranks that stop in the middle of a call, here in their error handler,
// are dead to the others. Freeze returns in them when the others have ended; two frozen ranks do
// not wait for each other.
func TestFreezeInsideOfACall(t *testing.T) {
	Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() >= 2 {
			w.SetErrorHandler(func(c *comm.Comm, err error) error {
				Freeze(w)
				return err
			})
			_ = comm.Send(ctx, w.To(0).Tag(-1), []int{0})
			w.SetErrorHandler(nil)
			if err := comm.Send(ctx, w.To(0), []int{0}); !errors.Is(err, comm.ErrFenced) {
				t.Errorf("rank %d, after it was frozen: %v", w.Rank(), err)
			}
			return
		}
		for victim := 2; victim < 4; victim++ {
			if _, err := comm.Recv(ctx, w.From(victim), []int{0}); !errors.Is(err, ulfm.ErrProcFailed) {
				t.Errorf("rank %d: %v", w.Rank(), err)
			}
		}
	})
}
