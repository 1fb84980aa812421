package comm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// A ledger collects the results of ranks, to compare them after the run.
type ledger[T any] struct {
	mu sync.Mutex
	of map[int]T
}

func (l *ledger[T]) note(rank int, v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[int]T{}
	}
	l.of[rank] = v
}

// uniform checks that the given ranks noted the same.
func (l *ledger[T]) uniform(t *testing.T, equal func(a, b T) bool, ranks ...int) {
	t.Helper()
	for _, r := range ranks {
		v, noted := l.of[r]
		if !noted {
			t.Errorf("rank %d got nothing", r)
		} else if !equal(v, l.of[ranks[0]]) {
			t.Errorf("rank %d got %v, rank %d got %v", ranks[0], l.of[ranks[0]], r, v)
		}
	}
}

func same[T comparable](a, b T) bool { return a == b }

// TestSpecR27FlagIsTheAnd over all contributors, for many sizes and values.
func TestSpecR27FlagIsTheAnd(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 16} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			for round := range 5 {
				all := ^uint64(0)
				flag := func(r int) uint64 { return ^(uint64(1) << ((r*7 + round*13) % 64)) }
				for r := range n {
					all &= flag(r)
				}
				got, err := w.Agree(ctx, flag(w.Rank()))
				if got != all || err != nil {
					t.Errorf("n = %d, rank %d: %x, %v, want %x", n, w.Rank(), got, err, all)
				}
			}
		})
	}
}

// TestSpecR28R29R30R31UnacknowledgedDeath: the error is everywhere, the flag is
// valid all the same, and everybody then knows of the death.
func TestSpecR28R29R30R31UnacknowledgedDeath(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		flag, err := w.Agree(ctx, uint64(16|w.Rank()))
		if flag != 16 {
			t.Errorf("rank %d: flag %d", w.Rank(), flag)
		}
		want(t, "agree", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 2)
		if got := w.GetFailed().Processes(); !slices.Equal(got, []int{2}) {
			t.Errorf("rank %d knows of %v", w.Rank(), got)
		}
	})
}

// TestSpecR28AcknowledgedByAllOrNot: one member that has not acknowledged is
// enough for the error; acknowledgements do not travel (R24).
func TestSpecR28AcknowledgedByAllOrNot(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 3)
		if w.Rank() != 1 {
			ok(t, "acknowledge", w.FailureAck())
		}
		flag, err := w.Agree(ctx, 5)
		want(t, "one has not", err, ulfm.ErrProcFailed)
		if w.Rank() == 1 {
			ok(t, "acknowledge", w.FailureAck())
		}
		flag2, err := w.Agree(ctx, 5)
		ok(t, "all have", err)
		if flag != 5 || flag2 != 5 {
			t.Errorf("flags %d, %d", flag, flag2)
		}
	})
}

// TestSpecR36AcknowledgeAndAgreeUntilSuccess leaves identical acknowledged sets, whichever members
// die during the calls.
func TestSpecR36AcknowledgeAndAgreeUntilSuccess(t *testing.T) {
	for victim := range 3 {
		var acked ledger[string]
		commtest.Run(t, 6, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 5 {
				commtest.Kill(w)
			}
			for round := 0; ; round++ {
				if w.Rank() == victim && round == 1 {
					commtest.Kill(w)
				}
				_, err := w.AckFailed(w.Size())
				ok(t, "acknowledge", err)
				if _, err = w.Agree(ctx, 1); err == nil && round > 1 {
					break
				} else if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
					t.Error(err)
					return
				}
			}
			ranks := w.FailureGetAcked().Processes()
			slices.Sort(ranks)
			acked.note(w.Rank(), fmt.Sprint(ranks))
		})
		alive := slices.DeleteFunc([]int{0, 1, 2, 3, 4}, func(r int) bool { return r == victim })
		acked.uniform(t, same, alive...)
	}
}

// TestSpecR29R37DeathAtEveryFrame: a member, the root among them, dies before
// each frame of an agreement in turn; the rest gets one flag and one error or
// none, and the next agreement comes out, too.
func TestSpecR29R37DeathAtEveryFrame(t *testing.T) {
	type result struct {
		flag   uint64
		failed bool
	}
	const n = 5
	for victim := range n {
		alive := slices.DeleteFunc([]int{0, 1, 2, 3, 4}, func(r int) bool { return r == victim })
		for frame := uint64(1); ; frame++ {
			var first, second ledger[result]
			came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
				for _, l := range []*ledger[result]{&first, &second} {
					flag, err := w.Agree(ctx, ^(uint64(1) << w.Rank()))
					if w.Rank() == victim && errors.Is(err, comm.ErrFenced) {
						return
					}
					if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
						t.Errorf("victim %d, frame %d, rank %d: %v", victim, frame, w.Rank(), err)
					}
					l.note(w.Rank(), result{flag, err != nil})
				}
			})
			first.uniform(t, same, alive...)
			second.uniform(t, same, alive...)
			for _, r := range []result{first.of[alive[0]], second.of[alive[0]]} {
				if everyone := ^uint64(1<<n - 1); r.flag != everyone && r.flag != everyone|1<<victim {
					t.Errorf("victim %d, frame %d: flag %x", victim, frame, r.flag)
				} else if r.flag != everyone && !r.failed {
					t.Errorf("victim %d, frame %d: a member is missing without an error", victim, frame)
				}
			}
			if !came {
				break
			}
		}
	}
}

// TestSpecR34DeathAfterContributing: the flag may include the contribution of the dead member; all
// members get the same flag.
func TestSpecR34DeathAfterContributing(t *testing.T) {
	var flags ledger[uint64]
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		flag := uint64(7)
		if w.Rank() == 3 {
			flag = 6
			_ = w.Iagree(&flag)
			commtest.Kill(w)
		}
		got, err := w.Agree(ctx, flag)
		if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
		}
		flags.note(w.Rank(), got)
	})
	flags.uniform(t, same, 0, 1, 2)
	if got := flags.of[0]; got != 7 && got != 6 {
		t.Errorf("flag %d", got)
	}
}

// TestSpecR35SeveralIagrees: several agreements match in the order of the calls, and the program
// waits for them in any order; a blocking agreement matches after them.
func TestSpecR35SeveralIagrees(t *testing.T) {
	const n, many = 4, 6
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		var flags [many]uint64
		var rs []comm.Request
		for i := range flags {
			flags[i] = uint64(i)<<8 | 1<<w.Rank()
			rs = append(rs, w.Iagree(&flags[i]))
		}
		last, err := w.Agree(ctx, 9)
		if last != 9 || err != nil {
			t.Errorf("agree: %d, %v", last, err)
		}
		if w.Rank()%2 == 0 {
			slices.Reverse(rs)
		}
		ok(t, "wait all", comm.WaitAll(ctx, rs...))
		for i, f := range flags {
			if f != uint64(i)<<8 {
				t.Errorf("agreement %d: %x", i, f)
			}
		}
	})
}

func TestSpecR35IagreeReportsADeath(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			commtest.Kill(w)
		}
		flag := uint64(1)
		r := w.Iagree(&flag)
		want(t, "wait", waitFor(ctx, r), ulfm.ErrProcFailed)
		if flag != 1 {
			t.Errorf("flag %d", flag)
		}
		want(t, "again", waitFor(ctx, r), comm.ErrInactive)
	})
}

// TestAgreeThatIsGivenUpStillCounts: the contribution stands, and numbers match
// afterwards.
func TestAgreeThatIsGivenUpStillCounts(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			short, cancel := context.WithCancel(ctx)
			gaveUp := make(chan error)
			go func() {
				_, err := w.Agree(short, 6)
				gaveUp <- err
			}()
			for len(door.Engine(w).Proc().Waits()) == 0 { // this member has contributed, the others have not
			}
			cancel()
			want(t, "given up", <-gaveUp, context.Canceled)
			for to := 1; to < 3; to++ {
				ok(t, "go", comm.Send(ctx, w.To(to), []int{0}))
			}
		} else {
			_, err := comm.Recv(ctx, w.From(0), []int{0})
			ok(t, "go", err)
			flag, err := w.Agree(ctx, 3)
			if flag != 2 || err != nil {
				t.Errorf("rank %d: %d, %v", w.Rank(), flag, err)
			}
		}
		flag, err := w.Agree(ctx, 5)
		if flag != 5 || err != nil {
			t.Errorf("rank %d, next: %d, %v", w.Rank(), flag, err)
		}
	})
}

// TestMembersThatCallDifferentThings all get an error.
func TestMembersThatCallDifferentThings(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		var err error
		if w.Rank() == 1 {
			_, err = w.Shrink(ctx)
		} else {
			_, err = w.Agree(ctx, 1)
		}
		want(t, "mixed", err, comm.ErrMismatch)
		works(ctx, t, w)
		flag, err := w.Agree(ctx, 4)
		if flag != 4 || err != nil {
			t.Errorf("afterwards: %d, %v", flag, err)
		}
	})
}

// TestAgreeFailedIsOneGroup though members know different things when they call.
func TestAgreeFailedIsOneGroup(t *testing.T) {
	var groups ledger[comm.Group]
	commtest.Run(t, 6, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 4, 1:
			commtest.Kill(w)
		case 0:
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 2))
		}
		g, err := w.AgreeFailed(ctx)
		ok(t, "agree failed", err)
		groups.note(w.Rank(), g)
	})
	groups.uniform(t, comm.Group.Equal, 0, 2, 3, 5)
	if got := groups.of[0].Processes(); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("agreed on %v", got)
	}
}

// TestSpecR38R39Shrink: the living, in the old order, by their old knowledge.
func TestSpecR38R39Shrink(t *testing.T) {
	commtest.Run(t, 7, func(ctx context.Context, w *comm.Comm) {
		backwards, err := w.Split(ctx, 0, -w.Rank())
		ok(t, "split", err)
		_, err = backwards.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 0, 3)
		s, err := backwards.Shrink(ctx)
		ok(t, "shrink", err)
		if got := s.Group().Processes(); !slices.Equal(got, []int{6, 5, 4, 2, 1}) {
			t.Errorf("members %v", got)
		}
		if s.Rank() != s.Group().Rank() || s.Epoch() != backwards.Epoch()+1 || s.Spawned() {
			t.Errorf("rank %d, epoch %d", s.Rank(), s.Epoch())
		}
		works(ctx, t, s)
	})
}

// TestSpecR42ShrinkWithoutFailure has the same members and messages of its own.
func TestSpecR42ShrinkWithoutFailure(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		ok(t, "old message", comm.Send(ctx, w.To(w.Rank()), []int{1}))
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		if !s.Group().Equal(w.Group()) {
			t.Errorf("members %v", s.Group())
		}
		if _, leaked, _ := comm.Iprobe(s.From(comm.Any)); leaked {
			t.Error("a message of the old communicator leaks")
		}
		_, err = comm.Recv(ctx, w.From(w.Rank()), []int{0})
		ok(t, "the old one", err)
		works(ctx, t, s)
	})
}

// TestSpecR44NothingLeaks into the shrunk communicator: no failure, acknowledgement or revocation;
// the error handler is inherited.
func TestSpecR44NothingLeaks(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		told := 0
		w.SetErrorHandler(func(_ *comm.Comm, err error) error { told++; return err })
		killAndWatch(ctx, t, w, 1)
		ok(t, "acknowledge", w.FailureAck())
		ok(t, "revoke", w.Revoke())
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		if s.IsRevoked() || s.GetFailed().Size() != 0 || s.FailureGetAcked().Size() != 0 || s.Size() != 3 {
			t.Errorf("revoked %v, failed %v, acknowledged %v", s.IsRevoked(), s.GetFailed(), s.FailureGetAcked())
		}
		before := told
		want(t, "wrong rank", comm.Send(ctx, s.To(3), []int{0}), comm.ErrRank)
		if told != before+1 {
			t.Errorf("the handler was told %d times", told-before)
		}
		works(ctx, t, s)
	})
}

// TestSpecR40R41DeathAtEveryFrameOfShrink: no failure error, and one membership at all members that
// return; a member that died during the shrink is found by the next shrink.
func TestSpecR40R41DeathAtEveryFrameOfShrink(t *testing.T) {
	const n, victim = 4, 1
	for frame := uint64(1); ; frame++ {
		var members ledger[string]
		came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
			s, err := w.Shrink(ctx)
			if w.Rank() == victim && errors.Is(err, comm.ErrFenced) {
				return
			}
			if err != nil {
				t.Errorf("frame %d, rank %d: %v", frame, w.Rank(), err)
				return
			}
			members.note(w.Rank(), s.Group().String())
			if w.Rank() == victim {
				commtest.Kill(w)
			}
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			again, err := s.Shrink(ctx)
			if err != nil || again.Size() != n-1 {
				t.Errorf("frame %d, rank %d: the next shrink: %v, %v", frame, w.Rank(), again, err)
				return
			}
			works(ctx, t, again)
		})
		members.uniform(t, same, 0, 2, 3)
		if !came {
			break
		}
	}
}

// TestRepairAgainAndAgain: until one is left; every communicator works, and the
// fencing token grows (F10).
func TestRepairAgainAndAgain(t *testing.T) {
	const n = 6
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		c := w
		for left := n; ; left-- {
			if c.Size() != left || c.Epoch() != uint64(n-left) {
				t.Errorf("size %d, epoch %d, want %d members", c.Size(), c.Epoch(), left)
			}
			works(ctx, t, c)
			if left == 1 {
				return
			}
			if _, err := c.Agree(ctx, 0); err != nil { // all have sent and received
				t.Error(err)
			}
			if c.Rank() == left/2 {
				commtest.Kill(c)
			}
			_, err := comm.Recv(ctx, c.From(left/2), []int{0})
			if !ulfm.Recoverable(err) {
				t.Error(err)
			}
			ok(t, "revoke", c.Revoke())
			s, err := c.Shrink(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			if c != w {
				ok(t, "free", c.Free())
			}
			c = s
		}
	})
}
