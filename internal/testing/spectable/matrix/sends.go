package matrix

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

func sends() []Call {
	to := func(s *site) comm.Dest { return s.c.To(spectable.Peer) }
	all := []Call{
		{Name: "Send", Op: "send", Class: spectable.Buffered, Do: func(ctx context.Context, s *site) error { return comm.Send(ctx, to(s), []int{7}) }},
		{Name: "SendValue", Op: "send_value", Class: spectable.Buffered, Value: true, Do: func(ctx context.Context, s *site) error { return comm.SendValue(ctx, to(s), 7) }},
		{Name: "Send, long", Op: "send", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error { return comm.Send(ctx, to(s), make([]int, long)) }},
		{Name: "SendValue, long", Op: "send_value", Class: spectable.Synchronous, Value: true, Do: func(ctx context.Context, s *site) error {
			return comm.SendValue(ctx, to(s), string(make([]byte, long)))
		}},
		{Name: "Ssend", Op: "ssend", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error { return comm.Ssend(ctx, to(s), []int{7}) }},
		{Name: "SendRecv to peer, long", Op: "sendrecv", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error {
			_, err := comm.SendRecv(ctx, to(s), make([]int, long), s.c.From(comm.None), []int{0})
			return err
		}},
		{Name: "SendRecvReplace to peer, long", Op: "sendrecv_replace", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error {
			_, err := comm.SendRecvReplace(ctx, to(s), s.c.From(comm.None), make([]int, long))
			return err
		}},
	}
	for _, w := range waits {
		all = append(all,
			Call{Name: "Isend, " + w.name, Op: "isend", Class: spectable.Buffered, Do: func(ctx context.Context, s *site) error { return w.end(ctx, s, comm.Isend(to(s), []int{7})) }},
			Call{Name: "IsendValue, " + w.name, Op: "isend_value", Class: spectable.Buffered, Value: true, Do: func(ctx context.Context, s *site) error {
				return w.end(ctx, s, comm.IsendValue(to(s), 7))
			}},
			Call{Name: "Isend, long, " + w.name, Op: "isend", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error {
				return w.end(ctx, s, comm.Isend(to(s), make([]int, long)))
			}},
			Call{Name: "SendInit, " + w.name, Op: "send_init", Class: spectable.Buffered, Do: func(ctx context.Context, s *site) error {
				return startAnd(ctx, s, w.end, comm.SendInit(to(s), []int{7}))
			}},
			Call{Name: "Issend, " + w.name, Op: "issend", Class: spectable.Synchronous, Do: func(ctx context.Context, s *site) error { return w.end(ctx, s, comm.Issend(to(s), []int{7})) }},
		)
	}
	return all
}
