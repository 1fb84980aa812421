package enginejob

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// A showing is what one rank does so that the daemons of several nodes know each other: it shows
// that of its node by PMI, and tells it those of the others. It waits for all ranks of the job
// meanwhile, while the rank goes on hearing its daemon: a barrier of PMI never ends after a death.
type showing struct {
	session *pmi.Client
	all     bool // this rank tells its daemon all cards
	done    chan struct{}
	failed  atomic.Pointer[error]
}

// begin begins it. A failure closes conn, for whoever waits there.
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

// end waits until it is over.
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

// tellCards tells the daemon of this node the cards of all ranks.
func (v *visit) tellCards(cs *cards) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: v.name, Net: "unix"})
	if err != nil {
		return err
	}
	defer conn.Close()
	return send(conn, claim{Build: buildid.Build, Cards: cs})
}
