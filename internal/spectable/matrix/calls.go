package matrix

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/spectable"
	"github.com/goulfm/goulfm/ulfm"
)

// A Call is one call of the API as the table makes it.
type Call struct {
	Name  string
	Op    string // what its errors must call it
	Class spectable.Class
	Value bool // its message is a value, not numbers
	World bool // it is made on the world
	Do    func(ctx context.Context, s *site) error
}

// A site is where a call is made.
type site struct {
	c    *comm.Comm
	rank int
	// polled says that the call has looked once and goes on looking.
	polled func()
	// living are the ranks that are alive when the cell ends.
	living []int
	dead   []int
	// anytime says that the other side's part may come at any time, also after an
	// error has been returned.
	anytime bool
	// revoked says that the communicator is revoked during the call: perhaps only after
	// it has returned because of a death.
	revoked bool
}

// long does not fit what is pushed at once: the send waits for its receive.
const long = 100_000

// errWrong is a result that is not what the call promises.
var errWrong = errors.New("wrong result")

// waits are the ways to end a request.
var waits = []struct {
	name string
	end  func(ctx context.Context, s *site, r comm.Request) error
}{
	{"wait", func(ctx context.Context, _ *site, r comm.Request) error { _, err := r.Wait(ctx); return err }},
	{"wait_all", func(ctx context.Context, _ *site, r comm.Request) error { return comm.WaitAll(ctx, comm.Request{}, r) }},
	{"wait_all of one", func(ctx context.Context, _ *site, r comm.Request) error { return comm.WaitAll(ctx, r) }},
	{"wait_any", func(ctx context.Context, _ *site, r comm.Request) error {
		i, _, err := comm.WaitAny(ctx, comm.Request{}, r)
		return errors.Join(err, unless(i == 1))
	}},
	{"wait_some", func(ctx context.Context, _ *site, r comm.Request) error {
		is, err := comm.WaitSome(ctx, nil, comm.Request{}, r)
		return errors.Join(err, unless(len(is) == 1 && is[0] == 1))
	}},
	{"test", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) { _, over, err := r.Test(); return over, err })
	}},
	{"test_all", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) { return comm.TestAll(comm.Request{}, r) })
	}},
	{"test_any", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) {
			i, _, over, err := comm.TestAny(comm.Request{}, r)
			return over, errors.Join(err, unless(!over || i == 1))
		})
	}},
	{"test_some", func(ctx context.Context, s *site, r comm.Request) error {
		return poll(ctx, s, func() (bool, error) {
			is, err := comm.TestSome(nil, comm.Request{}, r)
			return len(is) == 1, err
		})
	}},
}

func unless(right bool) error {
	if right {
		return nil
	}
	return errWrong
}

// poll calls look until it is over.
func poll(ctx context.Context, s *site, look func() (bool, error)) error {
	for {
		over, err := look()
		if over || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.polled()
		runtime.Gosched()
	}
}

// Calls are all calls of the table.
func Calls() []Call {
	var all []Call
	for _, part := range [][]Call{sends(), receives(), wild(), alone(), verbs(), moreVerbs(), twins(), agreed(), local()} {
		all = append(all, part...)
	}
	return all
}

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

// receivers are the calls that look at messages and leave no request, from a
// source that the caller chooses.
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

// startAnd starts a persistent request and ends it, which leaves it inactive (R64).
func startAnd(ctx context.Context, s *site, end func(ctx context.Context, s *site, r comm.Request) error, r comm.Request) error {
	if err := r.Start(); err != nil {
		return fmt.Errorf("%w: start: %w", errWrong, err)
	}
	err := end(ctx, s, r)
	if _, over, restErr := r.Test(); !over || restErr != nil {
		return fmt.Errorf("%w: afterwards it is not inactive: %w", errWrong, restErr)
	}
	return errors.Join(err, r.Free())
}

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

// stillActive checks that a pending request says so again and can be taken back
// (R49). Where its message may come at any time, it may also complete with it, and where
// the communicator is being revoked, end with that at any moment:
//
//	the peer dies:      the wait says pending
//	the third revokes:  the request ends
//	Cancel:             comes too late, or another wait says that it has ended
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

// alone are the calls with no process and with oneself.
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
		{Name: "Mprobe and MRecv, self", Op: "mprobe", Class: spectable.Self, Do: func(ctx context.Context, s *site) error {
			_ = comm.Send(ctx, s.c.To(s.rank), []int{1}) // its error is that of the probe
			m, _, err := comm.Mprobe(ctx, s.c.From(s.rank))
			if err != nil {
				return err
			}
			in := []int{0}
			if _, err = comm.MRecv(ctx, m, in); errors.Is(err, ulfm.ErrRevoked) {
				return nil // it came between the two
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
			_ = comm.Send(ctx, s.c.To(s.rank), []int{1}) // its error is that of the receive
			return w.end(ctx, s, r)
		}})
	}
	return all
}

func verbs() []Call {
	sum := collectives.Sum[int]
	all := []Call{
		{Name: "Barrier", Op: "barrier", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error { return collectives.Barrier(ctx, s.c) }},
		{Name: "Allreduce", Op: "allreduce", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allreduce(ctx, s.c, []int{0}, []int{1}, sum)
		}},
		{Name: "AllgatherValue", Op: "allgather_value", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			all, err := collectives.AllgatherValue(ctx, s.c, s.rank)
			return errors.Join(err, unless((len(all) == spectable.Ranks) == (err == nil)))
		}},
		{Name: "AlltoallValue", Op: "alltoall_value", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			all, err := collectives.AlltoallValue(ctx, s.c, make([]int, spectable.Ranks))
			return errors.Join(err, unless((len(all) == spectable.Ranks) == (err == nil)))
		}},
		{Name: "ScatterValue", Op: "scatter_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.ScatterValue(ctx, s.c, 0, []int{5, 6, 7, 8})
			return errors.Join(err, unless(err != nil || v == 5+s.rank))
		}},
		{Name: "ReduceValue", Op: "reduce_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			_, err := collectives.ReduceValue(ctx, s.c, 0, 1, func(a, b int) int { return a + b })
			return err
		}},
		{Name: "AllreduceOne", Op: "allreduce", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.AllreduceOne(ctx, s.c, 1, sum)
			return errors.Join(err, unless((v != 0) == (err == nil)))
		}},
		{Name: "ScanOne", Op: "scan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.ScanOne(ctx, s.c, 1, sum)
			return errors.Join(err, unless(err != nil || v == s.rank+1))
		}},
		{Name: "BcastOne", Op: "bcast", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.BcastOne(ctx, s.c, 0, s.rank+5)
			return errors.Join(err, unless(err != nil || v == 5))
		}},
		{Name: "ReduceOne", Op: "reduce", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			_, err := collectives.ReduceOne(ctx, s.c, 0, 1, sum)
			return err
		}},
		{Name: "Allgather", Op: "allgather", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allgather(ctx, s.c, make([]int, spectable.Ranks), []int{1})
		}},
		{Name: "Alltoall", Op: "alltoall", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Alltoall(ctx, s.c, make([]int, spectable.Ranks), make([]int, spectable.Ranks))
		}},
	}
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		all = append(all,
			Call{Name: "Bcast" + at, Op: "bcast", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error { return collectives.Bcast(ctx, s.c, root, []int{1}) }},
			Call{Name: "BcastValue" + at, Op: "bcast_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				v := "v"
				return collectives.BcastValue(ctx, s.c, root, &v)
			}},
			Call{Name: "Reduce" + at, Op: "reduce", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Reduce(ctx, s.c, root, []int{0}, []int{1}, sum)
			}},
			Call{Name: "Gather" + at, Op: "gather", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Gather(ctx, s.c, root, make([]int, spectable.Ranks), []int{1})
			}},
			Call{Name: "GatherValue" + at, Op: "gather_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				_, err := collectives.GatherValue(ctx, s.c, root, "v")
				return err
			}},
			Call{Name: "Scatter" + at, Op: "scatter", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Scatter(ctx, s.c, root, []int{0}, make([]int, spectable.Ranks))
			}},
		)
	}
	return all
}

// ones are the counts of parts of one element each.
func ones() []int {
	counts := make([]int, spectable.Ranks)
	for i := range counts {
		counts[i] = 1
	}
	return counts
}

// all is room for one element of each rank.
func all() []int { return make([]int, spectable.Ranks) }

// moreVerbs are the collectives that always go by messages.
func moreVerbs() []Call {
	sum := collectives.Sum[int]
	calls := []Call{
		{Name: "Allgatherv", Op: "allgatherv", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allgatherv(ctx, s.c, all(), ones(), nil, []int{1})
		}},
		{Name: "Alltoallv", Op: "alltoallv", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Alltoallv(ctx, s.c, all(), ones(), nil, all(), ones(), nil)
		}},
		{Name: "ReduceScatterBlock", Op: "reduce_scatter_block", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.ReduceScatterBlock(ctx, s.c, []int{0}, all(), sum)
		}},
		{Name: "ReduceScatter", Op: "reduce_scatter", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.ReduceScatter(ctx, s.c, []int{0}, all(), ones(), sum)
		}},
		{Name: "AllreduceLoc", Op: "allreduce_loc", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			v := []collectives.Loc[int]{{Value: 1, Index: s.rank}}
			return collectives.AllreduceLoc(ctx, s.c, v, v, collectives.MinLoc)
		}},
		{Name: "Scan", Op: "scan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			return collectives.Scan(ctx, s.c, []int{0}, []int{1}, sum)
		}},
		{Name: "Exscan", Op: "exscan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			return collectives.Exscan(ctx, s.c, []int{0}, []int{1}, sum)
		}},
	}
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		calls = append(calls,
			Call{Name: "Gatherv" + at, Op: "gatherv", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Gatherv(ctx, s.c, root, all(), ones(), nil, []int{1})
			}},
			Call{Name: "Scatterv" + at, Op: "scatterv", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Scatterv(ctx, s.c, root, []int{0}, all(), ones(), nil)
			}},
			Call{Name: "ReduceLoc" + at, Op: "reduce_loc", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				v := []collectives.Loc[int]{{Value: 1, Index: s.rank}}
				return collectives.ReduceLoc(ctx, s.c, root, v, v, collectives.MaxLoc)
			}},
		)
	}
	return calls
}

// twins are the collectives that do not block, each ended by a wait, and one of each class
// every way there is.
func twins() []Call {
	sum := collectives.Sum[int]
	var calls []Call
	add := func(name, op string, class spectable.Class, start func(s *site) comm.Request) {
		for _, w := range waits {
			if w.name == "wait" || op == "ibarrier" || name == "Ibcast at 1" {
				calls = append(calls, Call{Name: name + ", " + w.name, Op: op, Class: class, Do: func(ctx context.Context, s *site) error { return w.end(ctx, s, start(s)) }})
			}
		}
	}
	add("Ibarrier", "ibarrier", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Ibarrier(s.c) })
	add("Iallreduce", "iallreduce", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Iallreduce(s.c, []int{0}, []int{1}, sum) })
	add("Iallgather", "iallgather", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Iallgather(s.c, all(), []int{1}) })
	add("Iallgatherv", "iallgatherv", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.Iallgatherv(s.c, all(), ones(), nil, []int{1})
	})
	add("Ialltoall", "ialltoall", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Ialltoall(s.c, all(), all()) })
	add("Ialltoallv", "ialltoallv", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.Ialltoallv(s.c, all(), ones(), nil, all(), ones(), nil)
	})
	add("IreduceScatterBlock", "ireduce_scatter_block", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.IreduceScatterBlock(s.c, []int{0}, all(), sum)
	})
	add("IreduceScatter", "ireduce_scatter", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.IreduceScatter(s.c, []int{0}, all(), ones(), sum)
	})
	add("Iscan", "iscan", spectable.Loose, func(s *site) comm.Request { return collectives.Iscan(s.c, []int{0}, []int{1}, sum) })
	add("Iexscan", "iexscan", spectable.Loose, func(s *site) comm.Request { return collectives.Iexscan(s.c, []int{0}, []int{1}, sum) })
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		add("Ibcast"+at, "ibcast", spectable.Loose, func(s *site) comm.Request { return collectives.Ibcast(s.c, root, []int{1}) })
		add("Ireduce"+at, "ireduce", spectable.Loose, func(s *site) comm.Request {
			return collectives.Ireduce(s.c, root, []int{0}, []int{1}, sum)
		})
		add("Igather"+at, "igather", spectable.Loose, func(s *site) comm.Request { return collectives.Igather(s.c, root, all(), []int{1}) })
		add("Igatherv"+at, "igatherv", spectable.Loose, func(s *site) comm.Request {
			return collectives.Igatherv(s.c, root, all(), ones(), nil, []int{1})
		})
		add("Iscatter"+at, "iscatter", spectable.Loose, func(s *site) comm.Request { return collectives.Iscatter(s.c, root, []int{0}, all()) })
		add("Iscatterv"+at, "iscatterv", spectable.Loose, func(s *site) comm.Request {
			return collectives.Iscatterv(s.c, root, []int{0}, all(), ones(), nil)
		})
	}
	return calls
}
