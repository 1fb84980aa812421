package collectives_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// wants checks class, operation, communicator and ranks of an error.
func wants(t *testing.T, at string, err, class error, op, name string, ranks ...int) {
	t.Helper()
	var e *ulfm.Error
	if !errors.Is(err, class) || !errors.As(err, &e) {
		t.Errorf("%s: %v, want %v", at, err, class)
		return
	}
	if e.Op != op || e.Comm != name || ranks != nil && !slices.Equal(e.Ranks, ranks) {
		t.Errorf("%s: error of %q on %q with ranks %v, want %q on %q with %v", at, e.Op, e.Comm, e.Ranks, op, name, ranks)
	}
}

// TestSpecR55FailsAtEntry at every rank that knows of a death, before anything is
// sent: a member that does not call at all is not waited for.
func TestSpecR55FailsAtEntry(t *testing.T) {
	over := make(chan struct{})
	var callers sync.WaitGroup
	callers.Add(2)
	go func() { callers.Wait(); close(over) }()
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 3 {
			commtest.Kill(w)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
		if w.Rank() == 2 {
			<-over // this rank makes no call while the others make theirs
			return
		}
		for _, v := range everyVerb {
			for range 2 {
				wants(t, v.name, v.call(ctx, w, big), ulfm.ErrProcFailed, v.name, "world", 3)
			}
		}
		callers.Done()
	})
}

// TestSpecR23AcknowledgingHelpsNoCollective although agreements succeed after an acknowledgement.
func TestSpecR23AcknowledgingHelpsNoCollective(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
		if err := w.FailureAck(); err != nil {
			t.Error(err)
		}
		if _, err := w.Agree(ctx, 1); err != nil {
			t.Error(err)
		}
		for _, v := range everyVerb {
			wants(t, v.name, v.call(ctx, w, short), ulfm.ErrProcFailed, v.name, "world", 1)
		}
	})
}

// TestSpecR16InnerMessagesAreRevokedToo: a collective has messages of its own, apart
// from the program's, and a revocation ends both, in this communicator alone.
func TestSpecR16InnerMessagesAreRevokedToo(t *testing.T) {
	for _, v := range everyVerb {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			if d.Rank() == 1 {
				if err := d.Revoke(); err != nil {
					t.Error(err)
				}
			}
			err = v.call(ctx, d, big)
			if err != nil || v.synchronizes || d.Rank() == 1 {
				wants(t, v.name, err, ulfm.ErrRevoked, v.name, "dup of world")
			}
			works(ctx, t, w, v.name)
		})
	}
}

// TestSpecR13R7RevokedBeforeEachCollective: a member that knows of the revocation fails at entry;
// no call waits, and an additional death changes nothing (R7).
func TestSpecR13R7RevokedBeforeEachCollective(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
		if err := w.Revoke(); err != nil {
			t.Error(err)
		}
		for _, v := range everyVerb {
			wants(t, v.name, v.call(ctx, w, big), ulfm.ErrRevoked, v.name, "world")
		}
	})
}

// TestSpecC2R2ErrorsAreLocal: a member that has completed its part of a collective has succeeded,
// and is neither notified nor disturbed when the collective fails at another member; nothing is
// revoked automatically.
func TestSpecC2R2ErrorsAreLocal(t *testing.T) {
	sent := make(chan struct{})
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 1: // rank 1 has sent its part to the root before any death
			if err := collectives.Gather(ctx, w, 0, nil, []int{1}); err != nil {
				t.Error(err)
			}
			close(sent)
		case 2, 3:
			<-sent
			if w.Rank() == 3 {
				commtest.Kill(w)
			}
		case 0:
			<-sent
			wants(t, "the root", collectives.Gather(ctx, w, 0, make([]int, 4), []int{1}), ulfm.ErrProcFailed, "gather", "world", 3)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
		if w.IsRevoked() {
			t.Errorf("rank %d: an error has revoked the communicator", w.Rank())
		}
		if w.Rank() > 0 { // messages between others continue
			other, in := 3-w.Rank(), []int{0}
			if _, err := comm.SendRecv(ctx, w.To(other), []int{5}, w.From(other), in); err != nil || in[0] != 5 {
				t.Errorf("rank %d: %v", w.Rank(), err)
			}
		}
	})
}

// TestSpecR68CollectivesOfSeveralGoroutines: each on a communicator of its own while
// one of these loses a member and another is revoked.
func TestSpecR68CollectivesOfSeveralGoroutines(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		var safe, revoked, hurt *comm.Comm
		var err error
		if safe, err = w.Split(ctx, min(w.Rank(), 1), 0); err == nil { // rank 0 apart
			revoked, err = safe.Dup(ctx)
		}
		if err == nil {
			hurt, err = w.Dup(ctx)
		}
		if err == nil { // all have made the calls; rank 0 may have ended before the others learn that (R34)
			_, err = w.Agree(ctx, 0)
		}
		if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
			t.Error(err)
			return
		}
		if w.Rank() == 0 {
			commtest.Kill(w)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 50 {
				works(ctx, t, safe, "without the dead")
			}
		})
		wg.Go(func() {
			wants(t, "with the dead", collectives.Barrier(ctx, hurt), ulfm.ErrProcFailed, "barrier", "dup of world", 0)
		})
		wg.Go(func() {
			if w.Rank() == 2 {
				if err := revoked.Revoke(); err != nil {
					t.Error(err)
				}
			}
			if err := collectives.Barrier(ctx, revoked); !errors.Is(err, ulfm.ErrRevoked) {
				t.Errorf("revoked: %v", err)
			}
		})
		wg.Wait()
	})
}

// TestSpecContextBeforeACollective: the others would wait for ever for a member
// whose context is over, so its communicator is revoked, and no other.
func TestSpecContextBeforeACollective(t *testing.T) {
	for _, v := range verbs {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			if d.Rank() == 1 {
				over, cancel := context.WithCancel(ctx)
				cancel()
				wants(t, v.name, v.call(over, d, big), context.Canceled, v.name, "dup of world")
			} else if err := v.call(ctx, d, big); err != nil || v.synchronizes {
				wants(t, v.name, err, ulfm.ErrRevoked, v.name, "dup of world")
			}
			for !d.IsRevoked() && ctx.Err() == nil {
				runtime.Gosched()
			}
			works(ctx, t, w, v.name)
		})
	}
}

// TestSpecContextInsideACollective: also where nobody but the root would notice.
func TestSpecContextInsideACollective(t *testing.T) {
	for _, v := range verbs {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			quitter := 0 // the root waits for the others, or they wait for the root
			if slices.Contains([]string{"bcast", "bcast_value", "scatter_value", "scatter", "scatterv", "scan", "exscan"}, v.name) {
				quitter = 1
			}
			if d.Rank() != quitter { // never enters; learns of the revocation
				if _, err := comm.Recv(ctx, d.From(quitter), []int{0}); !errors.Is(err, ulfm.ErrRevoked) {
					t.Errorf("%s: rank %d: %v", v.name, w.Rank(), err)
				}
				return
			}
			short, cancel := context.WithCancel(ctx)
			defer cancel()
			returned := make(chan error, 1)
			go func() { returned <- v.call(short, d, big) }()
			for len(door.Engine(d).Proc().Waits()) == 0 && ctx.Err() == nil {
				runtime.Gosched()
			}
			cancel()
			wants(t, v.name, <-returned, context.Canceled, v.name, "dup of world")
			if !d.IsRevoked() || w.IsRevoked() {
				t.Errorf("%s: revoked %v, its parent %v", v.name, d.IsRevoked(), w.IsRevoked())
			}
		})
	}
}
