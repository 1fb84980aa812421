package engine

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// TestPendingReceiveThatMatchesWaitsForItsPayload: a receive from any rank is posted; then, before
// its process polls again, 2 dies and 1 announces a long message that matches. The death makes the
// receive pending, the match makes it wait for 1 alone (R50): it must not return before the payload
// is there.
func TestPendingReceiveThatMatchesWaitsForItsPayload(t *testing.T) {
	payload := bytes.Repeat([]byte{7}, 300_000)
	posted, arrived := make(chan struct{}), make(chan struct{})
	run(t, 3, func(c *cluster, w *Comm) error {
		switch w.Rank() {
		case 1:
			<-posted
			h, err := w.Isend(Envelope{Rank: 0}, payload)
			if err != nil {
				return err
			}
			close(arrived)
			_, err = w.p.Wait(bg, h)
			return err
		case 2:
			return nil
		}
		buf := make([]byte, len(payload))
		result := make(chan error)
		go func() {
			_, err := w.Recv(bg, Envelope{Rank: Any}, buf)
			result <- err
		}()
		for len(w.p.Waits()) == 0 { // until it is posted
		}
		w.p.mu.Lock()
		close(posted)
		<-arrived
		c.kill(c.procs[2].World())
		w.p.mu.Unlock()
		if err := <-result; err != nil {
			return err // it had matched
		}
		if !bytes.Equal(buf, payload) {
			t.Error("the receive succeeded without its payload")
		}
		return nil
	})
}

// TestWaitAnyOfNothingActiveReturns: another goroutine may have ended the last request between the
// caller's check and the wait.
func TestWaitAnyOfNothingActiveReturns(t *testing.T) {
	run(t, 1, func(_ *cluster, w *Comm) error {
		h, err := w.Isend(Envelope{Rank: 0}, []byte{1})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		if _, err := w.p.Wait(ctx, h); err != nil {
			return err
		}
		return w.p.WaitAny(ctx, []Handle{h, h})
	})
}
