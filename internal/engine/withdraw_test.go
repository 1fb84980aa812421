package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/ulfm"
)

// creditAfter has process 0 of two send while nothing leaves the ring to process 1, and compares
// the credit that is left with that of the sends that body reports as out.
func creditAfter(t *testing.T, body func(w *Comm, q *peerState) (sent int, err error)) {
	t.Helper()
	locked, over := make(chan struct{}), make(chan struct{})
	run(t, 2, func(_ *cluster, w *Comm) error {
		if w.Rank() == 1 {
			w.p.mu.Lock() // so that its background loop takes nothing out of the ring
			close(locked)
			<-over
			w.p.mu.Unlock()
			return nil
		}
		<-locked
		defer close(over)
		q := w.p.peers.At(1)
		sent, err := body(w, q)
		w.p.mu.Lock()
		defer w.p.mu.Unlock()
		want := match.Limit(match.DefaultLimitBytes, 2) - uint64(sent*match.Charge(8))
		if got := q.credit.Left(); got != want {
			t.Errorf("%d sends are out and leave %d of credit, want %d", sent, got, want)
		}
		return err
	})
}

// TestRevokedSendsGiveTheirCreditBack: a small send that waits for room has taken
// credit, and ends unpublished.
func TestRevokedSendsGiveTheirCreditBack(t *testing.T) {
	creditAfter(t, func(w *Comm, q *peerState) (sent int, err error) {
		for len(q.pushes) == 0 {
			if _, err := w.Isend(Envelope{Rank: 1}, make([]byte, 8)); err != nil {
				return sent, err
			}
			sent++
		}
		return sent - 1, w.Revoke()
	})
}

// TestCancelledSendsGiveTheirCreditBack: the same, by the end of their context.
func TestCancelledSendsGiveTheirCreditBack(t *testing.T) {
	creditAfter(t, func(w *Comm, _ *peerState) (sent int, err error) {
		for cancelled := 0; cancelled < 3; {
			ctx, cancel := context.WithCancel(bg)
			result := make(chan error, 1)
			go func() { result <- w.Send(ctx, Envelope{Rank: 1}, make([]byte, 8)) }()
			for len(result) == 0 && len(w.p.Waits()) == 0 {
			}
			cancel()
			switch err := <-result; {
			case err == nil:
				sent++
			case errors.Is(err, context.Canceled):
				cancelled++
			default:
				return sent, err
			}
		}
		return sent, nil
	})
}

// TestDroppedClaimsGiveTheirCreditBack: a revocation comes between a matched probe
// and its receive.
func TestDroppedClaimsGiveTheirCreditBack(t *testing.T) {
	run(t, 2, func(_ *cluster, w *Comm) error {
		if w.Rank() == 1 {
			return w.Send(bg, Envelope{Rank: 0}, make([]byte, 8))
		}
		cl, _, err := w.Mprobe(bg, Envelope{Rank: 1})
		if err != nil {
			return err
		}
		p := w.p
		if got := p.peers.At(1).released; got != 0 {
			t.Errorf("%d bytes were let go of a message that is still here", got)
		}
		if err := w.Revoke(); err != nil {
			return err
		}
		if got, want := p.peers.At(1).released, uint64(match.Charge(8)); got != want || len(w.claims) != 0 {
			t.Errorf("%d bytes were let go, want %d; %d claims", got, want, len(w.claims))
		}
		if _, err := cl.Recv(bg, 0, make([]byte, 8)); !errors.Is(err, ulfm.ErrRevoked) {
			t.Errorf("receive: %v", err)
		}
		return nil
	})
}
