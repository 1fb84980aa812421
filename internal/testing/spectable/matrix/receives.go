package matrix

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

func receives() []Call {
	all := receivers(spectable.Named, "from peer", spectable.Peer)
	for _, w := range waits {
		all = append(all, Call{Name: "Irecv from peer, " + w.name, Op: "irecv", Class: spectable.Named, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			err := w.end(ctx, s, comm.Irecv(s.c.From(spectable.Peer), in))
			return errors.Join(err, unless(err != nil || in[0] == 7))
		}}, Call{Name: "RecvInit from peer, " + w.name, Op: "recv_init", Class: spectable.Named, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			err := startAnd(ctx, s, w.end, comm.RecvInit(s.c.From(spectable.Peer), in))
			return errors.Join(err, unless(err != nil || in[0] == 7))
		}})
	}
	return all
}

// receivers returns the calls that inspect messages and leave no request, from a given source.
func receivers(class spectable.Class, name string, rank int) []Call {
	from := func(s *site) comm.Source { return s.c.From(rank) }
	got := func(s *site, st comm.Status, err error) error {
		if err != nil {
			return err
		}
		return unless(st.Source == spectable.Peer || rank == comm.Any && st.Source == spectable.Revoker)
	}
	return []Call{
		{Name: "Recv " + name, Op: "recv", Class: class, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			st, err := comm.Recv(ctx, from(s), in)
			return got(s, st, errors.Join(err, unless(err != nil || in[0] == 7)))
		}},
		{Name: "RecvValue " + name, Op: "recv_value", Class: class, Value: true, Do: func(ctx context.Context, s *site) error {
			v, st, err := comm.RecvValue[int](ctx, from(s))
			return got(s, st, errors.Join(err, unless(err != nil || v == 7)))
		}},
		{Name: "Probe " + name, Op: "probe", Class: class, Do: func(ctx context.Context, s *site) error {
			st, err := comm.Probe(ctx, from(s))
			return got(s, st, err)
		}},
		{Name: "Iprobe " + name, Op: "iprobe", Class: class, Do: func(ctx context.Context, s *site) error {
			return poll(ctx, s, func() (bool, error) {
				st, found, err := comm.Iprobe(from(s))
				return found, errors.Join(err, unless(!found || got(s, st, nil) == nil))
			})
		}},
		{Name: "Mprobe " + name, Op: "mprobe", Class: class, Do: func(ctx context.Context, s *site) error {
			m, st, err := comm.Mprobe(ctx, from(s))
			return got(s, st, errors.Join(err, unless((m != nil) == (err == nil))))
		}},
		{Name: "SendRecv " + name, Op: "sendrecv", Class: class, Do: func(ctx context.Context, s *site) error {
			in := []int{0}
			st, err := comm.SendRecv(ctx, s.c.To(comm.None), []int{1}, from(s), in)
			return got(s, st, err)
		}},
		{Name: "SendRecvReplace " + name, Op: "sendrecv_replace", Class: class, Do: func(ctx context.Context, s *site) error {
			buf := []int{1}
			st, err := comm.SendRecvReplace(ctx, s.c.To(comm.None), from(s), buf)
			return got(s, st, errors.Join(err, unless(err != nil || buf[0] == 7)))
		}},
	}
}
