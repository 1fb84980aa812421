package enginejob

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// A showing is one rank's exchange of the daemons' cards: it publishes the card of its node's
// daemon by PMI, and passes the cards of the others to that daemon. The exchange waits for all
// ranks of the job in a goroutine of its own, while the rank keeps receiving from its daemon: a
// barrier of PMI never ends after a death.
type showing struct {
	session *pmi.Client
	all     bool // this rank passes all cards to its daemon
	done    chan struct{}
	failed  atomic.Pointer[error]
}

// begin begins the exchange. A failure closes conn, and so ends the rank's wait there.
func (s *showing) begin(ctx context.Context, v *visit, conn *net.UnixConn, card string) {
	if s == nil || s.done != nil {
		return
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		cs, err := exchangeCards(ctx, s.session, &v.claim, card, s.all)
		if err == nil && cs != nil {
			err = v.tellCards(cs)
		}
		if err != nil {
			s.failed.Store(&err)
			conn.Close()
		}
	}()
}

func (s *showing) hasBegun() bool { return s != nil && s.done != nil }

func (s *showing) failure() error {
	if s == nil {
		return nil
	}
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// end waits until the exchange is over.
func (s *showing) end(ctx context.Context) error {
	if !s.hasBegun() {
		return nil
	}
	select {
	case <-s.done:
		return s.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tellCards sends the cards of all ranks to the daemon of this node.
func (v *visit) tellCards(cs *cards) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: v.name, Net: "unix"})
	if err != nil {
		return err
	}
	defer conn.Close()
	return send(conn, claim{Build: buildid.Build, Cards: cs})
}
