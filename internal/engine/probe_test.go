package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goulfm/goulfm/ulfm"
)

// TestProbeSeesWhatOtherCallsBringIn. A probe waits. The awaited message comes in by a call of
// another goroutine of the same process, so that the leader's next poll finds nothing new. The
// probe must nevertheless be notified.
func TestProbeSeesWhatOtherCallsBringIn(t *testing.T) {
	byte1 := []byte{1}
	for _, c := range []struct {
		name  string
		from  Envelope
		err   error
		bring func(c *cluster, w *Comm) error // with the lock of process 0 held
	}{
		{"a receive takes two messages out of the ring", Envelope{Rank: 1, Tag: 5}, nil, func(c *cluster, w *Comm) error {
			for _, tag := range []int{5, 6} {
				if err := c.procs[1].World().Send(bg, Envelope{Rank: 0, Tag: tag}, byte1); err != nil {
					return err
				}
			}
			r, err := w.recv(bg, Envelope{Rank: 1, Tag: 6}, make([]byte, 1), "recv", true)
			if w.p.drain(1); err == nil && !r.done() {
				err = errors.New("the receive did not find its message")
			}
			return err
		}},
		{"a send to itself", Envelope{Rank: 0, Tag: 5}, nil, func(_ *cluster, w *Comm) error {
			_, err := w.send(bg, Envelope{Rank: 0, Tag: 5}, byte1, "send")
			return err
		}},
		{"a synchronous send to itself", Envelope{Rank: Any, Tag: 5}, nil, func(_ *cluster, w *Comm) error {
			_, err := w.send(bg, Envelope{Rank: 0, Tag: 5, Sync: true}, byte1, "ssend")
			return err
		}},
		{"a send meets a death", Envelope{Rank: 2, Tag: 5}, ulfm.ErrProcFailed, func(c *cluster, w *Comm) error {
			c.kill(c.procs[2].World())
			if _, err := w.send(bg, Envelope{Rank: 2}, byte1, "send"); !errors.Is(err, ulfm.ErrProcFailed) {
				return errors.New("the send did not meet the death")
			}
			return nil
		}},
	} {
		run(t, 3, func(cl *cluster, w *Comm) error {
			if w.Rank() != 0 {
				return nil
			}
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			result := make(chan error)
			go func() {
				_, err := w.Probe(ctx, c.from)
				result <- err
			}()
			for len(w.p.Waits()) == 0 { // until the probe waits
			}
			w.p.mu.Lock()
			err := c.bring(cl, w)
			w.p.mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if err := <-result; !errors.Is(err, c.err) {
				t.Errorf("%s: %v", c.name, err)
			}
			return nil
		})
	}
}
