package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/goulfm/goulfm/internal/match"
)

// TestQueuedSendsGiveTheirCreditBack: the ring is full; a small send that waits for
// room has taken credit, and ends unpublished: by its context, or by a revocation.
func TestQueuedSendsGiveTheirCreditBack(t *testing.T) {
	locked, full := make(chan struct{}), make(chan struct{})
	run(t, 2, func(_ *cluster, w *Comm) error {
		if w.Rank() == 1 {
			w.p.mu.Lock() // so that its background loop takes nothing out of the ring
			close(locked)
			<-full
			w.p.mu.Unlock()
			return nil
		}
		<-locked
		defer close(full)
		buf, q := make([]byte, 8), &w.p.peers[1]
		sent := 0
		for ; len(q.pushes) == 0; sent++ {
			if _, err := w.Isend(Envelope{Rank: 1}, buf); err != nil {
				return err
			}
		}
		left := q.credit.Left()
		if want := match.Limit(match.DefaultLimitBytes, 2) - uint64(sent*match.Charge(len(buf))); left != want {
			t.Errorf("%d sends left %d of credit, want %d", sent, left, want)
		}
		// While one is queued the next is announced: without its own queue each is.
		if err := w.Revoke(); err != nil {
			return err
		}
		if got, want := q.credit.Left(), left+uint64(match.Charge(len(buf))); got != want {
			t.Errorf("after a revocation %d bytes are left, want %d", got, want)
		}
		return nil
	})
}

// TestCancelledSendsGiveTheirCreditBack: as above, each by the end of its context.
func TestCancelledSendsGiveTheirCreditBack(t *testing.T) {
	locked, full := make(chan struct{}), make(chan struct{})
	run(t, 2, func(_ *cluster, w *Comm) error {
		if w.Rank() == 1 {
			w.p.mu.Lock()
			close(locked)
			<-full
			w.p.mu.Unlock()
			return nil
		}
		<-locked
		defer close(full)
		buf, q := make([]byte, 8), &w.p.peers[1]
		full := match.Limit(match.DefaultLimitBytes, 2)
		sent := 0
		for cancelled := 0; cancelled < 3; {
			ctx, cancel := context.WithCancel(bg)
			result := make(chan error, 1)
			go func() { result <- w.Send(ctx, Envelope{Rank: 1}, buf) }()
			for len(result) == 0 && len(w.p.Waits()) == 0 {
			}
			cancel()
			switch err := <-result; {
			case err == nil:
				sent++
			case errors.Is(err, context.Canceled):
				cancelled++
			default:
				return err
			}
		}
		if got, want := q.credit.Left(), full-uint64(sent*match.Charge(len(buf))); got != want {
			t.Errorf("%d sends and 3 withdrawn ones left %d of credit, want %d", sent, got, want)
		}
		return nil
	})
}
