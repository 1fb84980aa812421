package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestOpenAcrossAShrink: several non-blocking collectives are open when a rank dies,
// and while the others shrink. Each ends, with its result or the error, touches no
// guard, and nothing of it appears in what Shrink returned.
func TestOpenAcrossAShrink(t *testing.T) {
	const n = 4
	for _, length := range []int{3, big} {
		for victim := range n {
			at := fmt.Sprintf("length %d, victim %d", length, victim)
			p := composed(n, length)
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				var rs []comm.Request
				var ds []*desk[uint64]
				for i, verb := range tableVerbs {
					if i == len(tableVerbs)/2 && w.Rank() == victim {
						commtest.Kill(w)
					}
					c := p.trials(verb, (victim+1)%n, w.Rank())[0]
					d := c.desk(p.desks[0].hole)
					rs, ds = append(rs, c.twin(w, inner(d.dst), inner(d.src))), append(ds, d)
				}
				s, err := w.Shrink(ctx)
				if err != nil || s.Size() != n-1 {
					t.Errorf("%s: shrink: %v", at, err)
					return
				}
				works(ctx, t, s, at)
				for i, r := range rs {
					if err := ended(ctx, r); err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
						t.Errorf("%s: rank %d: %s: %v", at, w.Rank(), tableVerbs[i], err)
					}
					if !ds[i].intact() {
						t.Errorf("%s: rank %d: %s wrote beyond its slice", at, w.Rank(), tableVerbs[i])
					}
				}
				works(ctx, t, s, at)
			})
		}
	}
}

// TestRevokedAtAnyStep: a rank revokes at some moment of a collective. All end, with
// success or the error, and touch no guard.
func TestRevokedAtAnyStep(t *testing.T) {
	const n = 4
	steps := 6
	if *longRun {
		steps = 60
	}
	for _, verb := range tableVerbs {
		for step := range steps {
			length := []int{3, big}[step%2]
			at := fmt.Sprintf("%s of %d, revoked after %d turns", verb, length, step)
			p := composed(n, length)
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				c := p.trials(verb, 0, w.Rank())[0]
				over := make(chan struct{})
				go func() {
					defer close(over)
					if w.Rank() != step%n {
						return
					}
					for range step {
						runtime.Gosched()
					}
					if err := w.Revoke(); err != nil {
						t.Error(err)
					}
				}()
				for _, twin := range []bool{false, true} {
					d := c.desk(p.desks[0].hole)
					err := c.call(ctx, w, twin, inner(d.dst), inner(d.src))
					if err != nil && !errors.Is(err, ulfm.ErrRevoked) || !d.intact() {
						t.Errorf("%s: rank %d: %v, guards intact: %v", at, w.Rank(), err, d.intact())
					}
				}
				<-over
				s, err := w.Shrink(ctx)
				if err != nil {
					t.Errorf("%s: %v", at, err)
					return
				}
				works(ctx, t, s, at)
			})
		}
	}
}

// TestKilledInsideTouchesNoGuard kills a rank before some of the frames that the rank moves.
func TestKilledInsideTouchesNoGuard(t *testing.T) {
	const n = 4
	stride := uint64(7)
	if *longRun {
		stride = 1
	}
	for i, verb := range tableVerbs {
		for frame := uint64(1 + i%3); ; frame += stride {
			victim, length := int(frame)%n, []int{3, big}[i%2]
			at := fmt.Sprintf("%s of %d, rank %d killed before frame %d", verb, length, victim, frame)
			p := composed(n, length)
			came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
				c := p.trials(verb, 1, w.Rank())[0]
				for _, twin := range []bool{false, true} {
					d := c.desk(p.desks[0].hole)
					err := c.call(ctx, w, twin, inner(d.dst), inner(d.src))
					if w.Rank() != victim && err != nil && !errors.Is(err, ulfm.ErrProcFailed) || !d.intact() {
						t.Errorf("%s: rank %d: %v, guards intact: %v", at, w.Rank(), err, d.intact())
					}
				}
				_, _ = w.Agree(ctx, 1)
			})
			if !came || t.Failed() {
				break
			}
		}
	}
}

// TestRevokeEndsWhatIsOpen: a collective in which the other never comes ends with a revocation.
func TestRevokeEndsWhatIsOpen(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if w.Rank() == 0 { // the other never comes
			rs := []comm.Request{collectives.Ibarrier(d), collectives.Iallreduce(d, []int{1}, []int{1}, collectives.Sum)}
			if err := d.Revoke(); err != nil {
				t.Error(err)
			}
			for i, op := range []string{"ibarrier", "iallreduce"} {
				wants(t, "ended", ended(ctx, rs[i]), ulfm.ErrRevoked, op, "dup of world")
			}
		}
		works(ctx, t, w, "after the end of another")
	})
}

// TestSpecContextWaitForACollective: when the context of a wait ends the collective continues.
func TestSpecContextWaitForACollective(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			r := collectives.Ibarrier(w)
			over, cancel := context.WithCancel(ctx)
			cancel()
			_, err := r.Wait(over)
			wants(t, "wait", err, context.Canceled, "ibarrier", "world", 1)
			if r.Cancel() {
				t.Error("a collective was cancelled")
			}
			if err := comm.Send(ctx, w.To(1), []int{1}); err != nil {
				t.Error(err)
			}
			if _, over, err := r.Test(); err != nil && over {
				t.Error(err)
			}
			if err := comm.WaitAll(ctx, r); err != nil && !errors.Is(err, comm.ErrInactive) {
				t.Error(err)
			}
		} else {
			if _, err := comm.Recv(ctx, w.From(0), []int{0}); err != nil {
				t.Error(err)
			}
			if err := ended(ctx, collectives.Ibarrier(w)); err != nil {
				t.Error(err)
			}
		}
		works(ctx, t, w, "afterwards")
	})
}

// TestGivenUpRequestsGoOn: Free of the request is not the end of the collective.
func TestGivenUpRequestsGoOn(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		for range 20 {
			all := make([]int, 3*big)
			r := collectives.Iallgather(w, all, slices.Repeat([]int{w.Rank()}, big))
			if w.Rank() == 1 {
				if err := r.Free(); err != nil {
					t.Error(err)
				}
			} else if err := ended(ctx, r); err != nil || all[big] != 1 || all[2*big] != 2 {
				t.Errorf("rank %d: %v", w.Rank(), err)
			}
			works(ctx, t, w, "after one that was given up")
		}
	})
}

// TestHandlerSeesTwins: each error once, when it is reported, with the twin's name.
func TestHandlerSeesTwins(t *testing.T) {
	var seen atomic.Int32
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		w.SetErrorHandler(func(_ *comm.Comm, err error) error {
			seen.Add(1)
			return fmt.Errorf("handled: %w", err)
		})
		r := collectives.Iallreduce(w, []int{1}, []int{1, 2}, collectives.Sum)
		for range 2 {
			_, err := r.Wait(ctx)
			if !errors.Is(err, comm.ErrLength) && !errors.Is(err, comm.ErrInactive) {
				t.Error(err)
			}
		}
	})
	if seen.Load() < 2 {
		t.Errorf("the handlers saw %d errors", seen.Load())
	}
}

// wrongTwins are wrong calls of new verbs and of twins.
func wrongTwins(n int) []wrong {
	ints := func(length int) []int { return make([]int, length) }
	sum := collectives.Sum[int]
	type C = context.Context
	return []wrong{
		{"ibcast", comm.ErrRoot, func(ctx C, w *comm.Comm, l int) error { return ended(ctx, collectives.Ibcast(w, n, ints(l))) }},
		{"iallgather", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return ended(ctx, collectives.Iallgather(w, ints(l*n+1), ints(l)))
		}},
		{"iallreduce", comm.ErrUnsupported, func(ctx C, w *comm.Comm, l int) error {
			return ended(ctx, collectives.Iallreduce(w, ints(l), ints(l), nil))
		}},
		{"ialltoall", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return ended(ctx, collectives.Ialltoall(w, ints(l*n+1), ints(l*n+1)))
		}},
		{"gatherv", comm.ErrRoot, func(ctx C, w *comm.Comm, l int) error {
			return collectives.Gatherv(ctx, w, n, ints(l), collectives.Blocks{}, ints(l))
		}},
		{"allgatherv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return collectives.Allgatherv(ctx, w, ints(l*n), collectives.Blocks{Counts: make([]int, n-1)}, ints(l))
		}},
		{"allgatherv", comm.ErrBuffer, func(ctx C, w *comm.Comm, l int) error {
			counts, total := unevenly(w, l)
			return collectives.Allgatherv(ctx, w, ints(total-1), collectives.Blocks{Counts: counts}, ints(counts[w.Rank()]))
		}},
		{"allgatherv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			counts, total := unevenly(w, l)
			return collectives.Allgatherv(ctx, w, ints(total), collectives.Blocks{Counts: counts}, ints(counts[w.Rank()]+1))
		}},
		{"alltoallv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return collectives.Alltoallv(ctx, w, ints(l), collectives.Blocks{Counts: slices.Repeat([]int{-1}, n)}, ints(l), collectives.Blocks{Counts: make([]int, n)})
		}},
		{"alltoallv", comm.ErrBuffer, func(ctx C, w *comm.Comm, l int) error {
			return collectives.Alltoallv(ctx, w, ints(l), collectives.Blocks{Counts: make([]int, n), Displs: slices.Repeat([]int{l + 1}, n)}, ints(l), collectives.Blocks{Counts: make([]int, n)})
		}},
		{"alltoallv", comm.ErrBuffer, func(ctx C, w *comm.Comm, l int) error {
			return collectives.Alltoallv(ctx, w, ints(l), collectives.Blocks{Counts: make([]int, n), Displs: slices.Repeat([]int{-1}, n)}, ints(l), collectives.Blocks{Counts: make([]int, n)})
		}},
		{"alltoallv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			mine, theirs := make([]int, n), make([]int, n)
			mine[w.Rank()] = 1
			return collectives.Alltoallv(ctx, w, ints(l+1), collectives.Blocks{Counts: mine}, ints(l), collectives.Blocks{Counts: theirs})
		}},
		{"ialltoallv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return ended(ctx, collectives.Ialltoallv(w, ints(l), collectives.Blocks{}, ints(l), collectives.Blocks{}))
		}},
		{"reduce_scatter_block", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return collectives.ReduceScatterBlock(ctx, w, ints(l), ints(l*n+1), sum)
		}},
		{"reduce_scatter", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			counts, total := unevenly(w, l)
			return collectives.ReduceScatter(ctx, w, ints(counts[w.Rank()]), ints(total+1), counts, sum)
		}},
		{"reduce_scatter", comm.ErrUnsupported, func(ctx C, w *comm.Comm, l int) error {
			counts, total := unevenly(w, l)
			return collectives.ReduceScatter(ctx, w, ints(counts[w.Rank()]), ints(total), counts, nil)
		}},
		{"allreduce_loc", comm.ErrUnsupported, func(ctx C, w *comm.Comm, l int) error {
			return collectives.AllreduceLoc[int](ctx, w, make([]collectives.Loc[int], l), make([]collectives.Loc[int], l), nil)
		}},
		{"scan", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error { return collectives.Scan(ctx, w, ints(l+1), ints(l), sum) }},
		{"exscan", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error { return collectives.Exscan(ctx, w, ints(l), ints(l+1), sum) }},
		{"neighbor_allgather", comm.ErrUnsupported, func(ctx C, w *comm.Comm, l int) error {
			return collectives.NeighborAllgather(ctx, w, ints(l), ints(l)) // no topology
		}},
		{"neighbor_allgather", comm.ErrRank, func(ctx C, w *comm.Comm, l int) error {
			return collectives.NeighborAllgatherOn(ctx, w, []int{n}, nil, ints(l), ints(l))
		}},
		{"neighbor_alltoall", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return collectives.NeighborAlltoallOn(ctx, w, []int{0, 1}, []int{0, 1}, ints(2*l+1), ints(2*l+1))
		}},
		{"neighbor_alltoallv", comm.ErrLength, func(ctx C, w *comm.Comm, l int) error {
			return collectives.NeighborAlltoallvOn(ctx, w, []int{0, 1}, nil, ints(l), collectives.Blocks{Counts: []int{1}}, nil, collectives.Blocks{})
		}},
	}
}

// TestWrongTwinAtOne: ranks that wait for the rank with the wrong argument get an error, no rank
// hangs, and the next call works at all.
func TestWrongTwinAtOne(t *testing.T) {
	const n = 5
	for _, length := range []int{1, big} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			for i, c := range wrongTwins(n) {
				offender := i % n
				at := fmt.Sprintf("%s of %d, wrong at rank %d", c.name, length, offender)
				v := everyVerb[slices.IndexFunc(everyVerb, func(v verb) bool { return v.name == c.name })]
				if w.Rank() == offender {
					wants(t, at, c.call(ctx, w, length), c.want, c.name, "world")
				} else {
					err := v.call(ctx, w, length)
					if err != nil {
						wants(t, at, err, comm.ErrPeerArgument, c.name, "world", offender)
					} else if v.synchronizes {
						t.Errorf("%s: rank %d succeeded", at, w.Rank())
					}
				}
				works(ctx, t, w, "after "+at)
			}
		})
	}
}

// TestPanicOfAnOperation: a blocking call panics with the value of the operation's panic, a
// non-blocking call returns an error, and the others are notified.
func TestPanicOfAnOperation(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		bad := collectives.Custom(func(acc, in []int) {
			if w.Rank() == 0 {
				panic("no sum")
			}
			acc[0] += in[0]
		}, true)
		func() {
			defer func() {
				if v := recover(); (v == "no sum") != (w.Rank() == 0) {
					t.Errorf("rank %d: panic: %v", w.Rank(), v)
				}
			}()
			if err := collectives.Allreduce(ctx, w, []int{0}, []int{1}, bad); err != nil { // some need no sum of rank 0
				wants(t, "allreduce", err, comm.ErrPeerArgument, "allreduce", "world", 0)
			}
		}()
		works(ctx, t, w, "after a panic")
		err := ended(ctx, collectives.Iallreduce(w, []int{0}, []int{1}, bad))
		if w.Rank() == 0 {
			wants(t, "iallreduce", err, comm.ErrUnsupported, "iallreduce", "world")
		} else if err != nil {
			wants(t, "iallreduce", err, comm.ErrPeerArgument, "iallreduce", "world", 0)
		}
		works(ctx, t, w, "after another")
	})
}
