package matrix

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/ulfm"
)

// alone returns the calls with no process and with the caller itself.
func alone() []Call {
	all := []Call{
		{Name: "Send to none", Op: "send", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error { return comm.Send(ctx, s.c.To(comm.None), []int{1}) }},
		{Name: "Ssend to none", Op: "ssend", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error { return comm.Ssend(ctx, s.c.To(comm.None), []int{1}) }},
		{Name: "SendValue to none", Op: "send_value", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error { return comm.SendValue(ctx, s.c.To(comm.None), 1) }},
		{Name: "Recv from none", Op: "recv", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			st, err := comm.Recv(ctx, s.c.From(comm.None), []int{1})
			return errors.Join(err, unless(st.Count == 0 && st.Source == comm.None))
		}},
		{Name: "RecvValue from none", Op: "recv_value", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			_, _, err := comm.RecvValue[int](ctx, s.c.From(comm.None))
			return err
		}},
		{Name: "Probe none", Op: "probe", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			_, err := comm.Probe(ctx, s.c.From(comm.None))
			return err
		}},
		{Name: "Iprobe none", Op: "iprobe", Class: spectable.NoProcess, Do: func(_ context.Context, s *site) error {
			_, found, err := comm.Iprobe(s.c.From(comm.None))
			return errors.Join(err, unless(found))
		}},
		{Name: "SendRecv none", Op: "sendrecv", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			_, err := comm.SendRecv(ctx, s.c.To(comm.None), []int{1}, s.c.From(comm.None), []int{1})
			return err
		}},
		{Name: "SendRecvReplace none", Op: "sendrecv_replace", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			buf := []int{1}
			_, err := comm.SendRecvReplace(ctx, s.c.To(comm.None), s.c.From(comm.None), buf)
			return errors.Join(err, unless(buf[0] == 1))
		}},
		{Name: "Isend to none", Op: "isend", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			_, err := comm.Isend(s.c.To(comm.None), []int{1}).Wait(ctx)
			return err
		}},
		{Name: "Irecv from none", Op: "irecv", Class: spectable.NoProcess, Do: func(ctx context.Context, s *site) error {
			_, err := comm.Irecv(s.c.From(comm.None), []int{1}).Wait(ctx)
			return err
		}},
		{Name: "Send and Recv, self", Op: "send", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			if err := comm.Send(ctx, s.c.To(s.rank), []int{1}); err != nil {
				return err
			}
			in := []int{0}
			_, err := comm.Recv(ctx, s.c.From(s.rank), in)
			return errors.Join(err, unless(err != nil || in[0] == 1))
		}},
		{Name: "Mprobe and Mrecv, self", Op: "mprobe", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			_ = comm.Send(ctx, s.c.To(s.rank), []int{1}) // the probe returns its error
			m, _, err := comm.Mprobe(ctx, s.c.From(s.rank))
			if err != nil {
				return err
			}
			in := []int{0}
			if _, err = comm.Mrecv(ctx, m, in); errors.Is(err, ulfm.ErrRevoked) {
				return nil // the revocation came between the two
			}
			return errors.Join(err, unless(err != nil || in[0] == 1))
		}},
		{Name: "SendRecvReplace self", Op: "sendrecv_replace", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			_, err := comm.SendRecvReplace(ctx, s.c.To(s.rank), s.c.From(s.rank), make([]int, long))
			return err
		}},
		{Name: "SendRecv self", Op: "sendrecv", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			_, err := comm.SendRecv(ctx, s.c.To(s.rank), make([]int, long), s.c.From(s.rank), make([]int, long))
			return err
		}},
	}
	for _, w := range waits {
		all = append(all, Call{Name: "Irecv from self, " + w.name, Op: "irecv", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			r := comm.Irecv(s.c.From(s.rank), []int{0})
			_ = comm.Send(ctx, s.c.To(s.rank), []int{1}) // the receive returns its error
			return w.end(ctx, s, r)
		}})
	}
	return all
}
