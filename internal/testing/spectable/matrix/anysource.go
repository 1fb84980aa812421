package matrix

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/ulfm"
)

func wild() []Call {
	all := receivers(spectable.Wild, "from any", comm.Any)
	for _, w := range waits {
		all = append(all, Call{Name: "Irecv from any, " + w.name, Op: "irecv", Class: spectable.WildPosted, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			r := comm.Irecv(s.c.From(comm.Any), in)
			err := w.end(ctx, s, r)
			if errors.Is(err, ulfm.ErrProcFailedPending) {
				return errors.Join(err, stillActive(ctx, s, r, in))
			}
			return errors.Join(err, unless(err != nil || in[0] == 7))
		}}, Call{Name: "RecvInit from any, " + w.name, Op: "recv_init", Class: spectable.WildPosted, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			r := comm.RecvInit(s.c.From(comm.Any), in)
			pending := func(ctx context.Context, s *site, r comm.Request) error {
				err := w.end(ctx, s, r)
				if errors.Is(err, ulfm.ErrProcFailedPending) {
					err = errors.Join(err, stillActive(ctx, s, r, in))
				}
				return err
			}
			err := startAnd(ctx, s, pending, r)
			return errors.Join(err, unless(err != nil || in[0] == 7))
		}})
	}
	return all
}

// stillActive checks that a pending request reports this again and can be cancelled (R49). If its
// message may come at any time, the request may also complete with the message. If the communicator
// is being revoked, the request may also end with the revocation at any moment:
//
//	the peer dies:      the wait returns pending
//	the third revokes:  the request ends
//	Cancel:             comes too late, or another wait reports the end
func stillActive(ctx context.Context, s *site, r comm.Request, in []int) error {
	switch _, err := r.Wait(ctx); {
	case err == nil && s.anytime:
		return unless(in[0] == 7)
	case err == nil:
		return fmt.Errorf("%w: waited for again, the pending request was complete", errWrong)
	case s.revoked && errors.Is(err, ulfm.ErrRevoked):
		return nil
	case !errors.Is(err, ulfm.ErrProcFailedPending):
		return fmt.Errorf("%w: waited for again, the pending request gave %w", errWrong, err)
	}
	if r.Cancel() {
		return nil
	}
	switch _, err := r.Wait(ctx); {
	case err == nil && s.anytime:
		return unless(in[0] == 7)
	case s.revoked && errors.Is(err, ulfm.ErrRevoked):
		return nil
	}
	return fmt.Errorf("%w: the pending request cannot be cancelled", errWrong)
}
