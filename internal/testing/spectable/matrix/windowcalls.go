package matrix

import (
	"context"
	"errors"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/rma"
)

// A WindowCall is one call of package rma in the table.
type WindowCall struct {
	Name  string
	Op    string // the operation in its errors
	Class spectable.WindowClass
	// Leaves is the value of the target's first element after success; 0: not checked.
	Leaves int64
	Pool   bool // the call needs a pool
	Do     func(ctx context.Context, s *windowSite) error
}

// A windowSite is the place of a call on a window.
type windowSite struct {
	c    *comm.Comm // the communicator of the window
	w    *rma.Win[int64]
	t    rma.Target[int64] // rank Peer
	pool *rma.Pool         // of a call that needs one
	ref  rma.Ref[int64]    // this member's object there: objects of others have the same place
}

// objectOf returns a member's object in the pool.
func (s *windowSite) objectOf(rank int) rma.Ref[int64] {
	ref := s.ref
	ref.Rank = int32(rank)
	return ref
}

// The elements of the window, each with its purpose and its initial value.
const (
	dataElement = 0 // initially
	flagElement = 1 // 0; the server of a wait stores flagged
	nameElement = 2 // named, and the rank
	goesElement = 3 // 0; goesOn puts flagged there
	elements    = 4

	initially = 5
	flagged   = 7
	named     = 100
)

// WindowCalls returns all calls of the table of windows.
func WindowCalls() []WindowCall {
	var all []WindowCall
	for _, part := range [][]WindowCall{accesses(), requests(), locks(), windowWaits(), epochs(), makers(), objects(), windowLocals()} {
		all = append(all, part...)
	}
	return all
}

// untouched checks a result buffer: an error must leave the buffer unchanged (W8).
func untouched(err error, got []int64, want ...int64) error {
	if err != nil {
		want = slices.Repeat([]int64{77}, len(got))
	}
	return errors.Join(err, unless(slices.Equal(got, want)))
}

func accesses() []WindowCall {
	return []WindowCall{
		{"Put", "put", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error { return s.t.Put(ctx, dataElement, []int64{9}) }},
		{"Get", "get", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error {
			dst := []int64{77}
			return untouched(s.t.Get(ctx, dataElement, dst), dst, initially)
		}},
		{"Load", "load", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error {
			v, err := s.t.Load(ctx, dataElement)
			return errors.Join(err, unless(err != nil || v == initially))
		}},
		{"Store", "store", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error { return s.t.Store(ctx, dataElement, 9) }},
		{"FetchAndOp", "fetch_and_op", spectable.Access, initially + 4, false, func(ctx context.Context, s *windowSite) error {
			v, err := s.t.FetchAndOp(ctx, dataElement, 4, collectives.Sum)
			return errors.Join(err, unless(err != nil || v == initially))
		}},
		{"FetchAndOp, replace", "fetch_and_op", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error {
			v, err := s.t.FetchAndOp(ctx, dataElement, 9, collectives.Replace)
			return errors.Join(err, unless(err != nil || v == initially))
		}},
		{"CompareAndSwap", "compare_and_swap", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error {
			v, swapped, err := s.t.CompareAndSwap(ctx, dataElement, initially, 9)
			return errors.Join(err, unless(swapped == (err == nil) && (err != nil || v == initially)))
		}},
		{"Accumulate", "accumulate", spectable.Access, initially + 4, false, func(ctx context.Context, s *windowSite) error {
			return s.t.Accumulate(ctx, dataElement, []int64{4}, collectives.Sum)
		}},
		{"GetAccumulate", "get_accumulate", spectable.Access, initially + 4, false, func(ctx context.Context, s *windowSite) error {
			dst := []int64{77}
			return untouched(s.t.GetAccumulate(ctx, dataElement, []int64{4}, dst, collectives.Sum), dst, initially)
		}},
		{"PutNotify", "put_notify", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error {
			return s.t.PutNotify(ctx, dataElement, []int64{9}, 1)
		}},
		{"Notify", "notify", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error { return s.t.Notify(ctx, 1) }},
		{"Flush", "flush", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error { return s.t.Flush(ctx) }},
		{"FlushLocal", "flush_local", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error { return s.t.FlushLocal(ctx) }},
		{"FlushAll", "flush_all", spectable.AllTargets, initially, false, func(ctx context.Context, s *windowSite) error { return s.w.FlushAll(ctx) }},
		{"FlushLocalAll", "flush_local_all", spectable.AllTargets, initially, false, func(ctx context.Context, s *windowSite) error { return s.w.FlushLocalAll(ctx) }},
	}
}

// requests returns the accesses that end with a wait (W3).
func requests() []WindowCall {
	wait := func(ctx context.Context, r comm.Request) error {
		_, err := r.Wait(ctx)
		return err
	}
	return []WindowCall{
		{"Iput", "put", spectable.Access, 9, false, func(ctx context.Context, s *windowSite) error {
			return wait(ctx, s.t.Iput(ctx, dataElement, []int64{9}))
		}},
		{"Iget", "get", spectable.Access, initially, false, func(ctx context.Context, s *windowSite) error {
			dst := []int64{77}
			return untouched(wait(ctx, s.t.Iget(ctx, dataElement, dst)), dst, initially)
		}},
		{"Iaccumulate", "accumulate", spectable.Access, initially + 4, false, func(ctx context.Context, s *windowSite) error {
			return wait(ctx, s.t.Iaccumulate(ctx, dataElement, []int64{4}, collectives.Sum))
		}},
		{"IgetAccumulate", "get_accumulate", spectable.Access, initially + 4, false, func(ctx context.Context, s *windowSite) error {
			dst := []int64{77}
			return untouched(wait(ctx, s.t.IgetAccumulate(ctx, dataElement, []int64{4}, dst, collectives.Sum)), dst, initially)
		}},
	}
}

func locks() []WindowCall {
	lock := func(name string, c spectable.WindowClass, m rma.LockMode) WindowCall {
		return WindowCall{name, "lock", c, 0, false, func(ctx context.Context, s *windowSite) error { return s.t.Lock(ctx, m) }}
	}
	return []WindowCall{
		lock("Lock, shared", spectable.Locking, rma.LockShared),
		lock("Lock, exclusive", spectable.Locking, rma.LockExclusive),
		lock("Lock, mend", spectable.Mending, rma.LockMend),
		{"Unlock", "unlock", spectable.Unlocking, 0, false, func(ctx context.Context, s *windowSite) error { return s.t.Unlock(ctx) }},
		{"LockAll", "lock_all", spectable.LockingAll, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.LockAll(ctx) }},
		{"UnlockAll", "unlock_all", spectable.UnlockingAll, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.UnlockAll(ctx) }},
		{"Unlock, not held", "unlock", spectable.Misusing, 0, false, func(ctx context.Context, s *windowSite) error { return s.t.Unlock(ctx) }},
		{"UnlockAll, not held", "unlock_all", spectable.Misusing, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.UnlockAll(ctx) }},
	}
}

func windowWaits() []WindowCall {
	wait := func(c spectable.WindowClass, name string, from ...int) []WindowCall {
		return []WindowCall{
			{"Wait, " + name, "wait", c, 0, false, func(ctx context.Context, s *windowSite) error {
				v, err := s.w.Wait(ctx, flagElement, func(v int64) bool { return v == flagged }, from...)
				return errors.Join(err, unless(err != nil || v == flagged))
			}},
			{"WaitNotify, " + name, "wait_notify", c, 0, false, func(ctx context.Context, s *windowSite) error {
				err := s.w.WaitNotify(ctx, 0, 1, from...)
				return errors.Join(err, unless(err != nil || s.w.Local()[flagElement] == flagged)) // W18
			}},
		}
	}
	return slices.Concat(wait(spectable.WaitingFor, "from target", spectable.Peer), wait(spectable.WaitingAny, "from any"))
}

func epochs() []WindowCall {
	return []WindowCall{
		{"Post", "post", spectable.Owning, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.Post(ctx, only(s.c, spectable.Peer)) }},
		{"Start", "start", spectable.Starting, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.Start(ctx, only(s.c, spectable.Peer)) }},
		{"Complete", "complete", spectable.Completing, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.Complete(ctx) }},
		{"WaitPosted", "wait_posted", spectable.WaitingPosted, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.WaitPosted(ctx) }},
		{"TestPosted", "test_posted", spectable.TestingPosted, 0, false, func(_ context.Context, s *windowSite) error {
			over, err := s.w.TestPosted()
			return errors.Join(err, unless(err != nil || !over))
		}},
		{"Complete, not started", "complete", spectable.Misusing, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.Complete(ctx) }},
		{"WaitPosted, not posted", "wait_posted", spectable.Misusing, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.WaitPosted(ctx) }},
		{"TestPosted, not posted", "test_posted", spectable.Misusing, 0, false, func(_ context.Context, s *windowSite) error {
			_, err := s.w.TestPosted()
			return err
		}},
	}
}

// only returns the group of one rank.
func only(c *comm.Comm, rank int) comm.Group {
	g, _ := c.Group().Incl(rank) // the rank is a member
	return g
}

func makers() []WindowCall {
	// made frees a new window. An error must come without one.
	made := func(w *rma.Win[int64], err error) error {
		if err != nil {
			return errors.Join(err, unless(w == nil))
		}
		return w.Free()
	}
	return []WindowCall{
		{"Fence", "fence", spectable.Fencing, 0, false, func(ctx context.Context, s *windowSite) error { return s.w.Fence(ctx) }},
		{"Allocate", "allocate", spectable.Creating, 0, false, func(ctx context.Context, s *windowSite) error {
			return made(rma.Allocate[int64](ctx, s.c, 3, rma.Notifications(1), rma.Populate()))
		}},
		{"Create", "create", spectable.Creating, 0, false, func(ctx context.Context, s *windowSite) error {
			return made(rma.Create(ctx, s.c, make([]int64, 3)))
		}},
		{"Rebuild", "rebuild", spectable.Rebuilding, 0, false, func(ctx context.Context, s *windowSite) error {
			return made(rma.Rebuild(ctx, s.c, s.w))
		}},
		{"Rebuild, fresh", "rebuild", spectable.Creating, 0, false, func(ctx context.Context, s *windowSite) error {
			return made(rma.Rebuild[int64](ctx, s.c, nil, rma.Fresh(2)))
		}},
		{"NewPool", "allocate", spectable.Creating, 0, false, func(ctx context.Context, s *windowSite) error {
			p, err := rma.NewPool(ctx, s.c, 4096)
			if err != nil {
				return errors.Join(err, unless(p == nil))
			}
			return p.Free()
		}},
		{"Heirs", "allreduce", spectable.AskingAll, 0, false, func(ctx context.Context, s *windowSite) error {
			heirs, err := rma.Heirs(ctx, s.c, s.w, []int{spectable.Peer})
			if err != nil {
				return errors.Join(err, unless(heirs == nil))
			}
			// The peer is alive, and has its memory.
			return unless(slices.Equal(heirs, []int{spectable.Peer}))
		}},
	}
}

// objects returns the calls on objects of a pool.
func objects() []WindowCall {
	return []WindowCall{
		{"Deref", "load", spectable.Access, 0, true, func(ctx context.Context, s *windowSite) error {
			t, err := rma.Deref(ctx, s.pool, s.objectOf(spectable.Peer))
			return errors.Join(err, unless(err != nil || t != rma.Target[int64]{}))
		}},
		{"Grow", "store", spectable.Owning, 0, true, func(ctx context.Context, s *windowSite) error {
			ref, err := rma.Grow[int32](ctx, s.pool, 2)
			return errors.Join(err, unless(err != nil || ref.Len == 2))
		}},
		{"Detach", "store", spectable.Owning, 0, true, func(ctx context.Context, s *windowSite) error { return rma.Detach(ctx, s.pool, s.ref) }},
		{"Own", "load", spectable.Owning, 0, true, func(ctx context.Context, s *windowSite) error {
			all, err := rma.Own(ctx, s.pool, s.ref)
			return errors.Join(err, unless(err != nil || len(all) == 1))
		}},
		{"SalvageObject", "salvage", spectable.Reading, 0, true, func(_ context.Context, s *windowSite) error {
			dst := []int64{77}
			return untouched(rma.SalvageObject(s.pool, s.objectOf(spectable.Peer), dst), dst, 0)
		}},
	}
}

func windowLocals() []WindowCall {
	do := func(name, op string, c spectable.WindowClass, f func(s *windowSite) error) WindowCall {
		return WindowCall{name, op, c, 0, false, func(_ context.Context, s *windowSite) error { return f(s) }}
	}
	return []WindowCall{
		do("Slice", "slice", spectable.Reading, func(s *windowSite) error {
			all, err := s.w.Slice(spectable.Peer)
			return errors.Join(err, unless(err != nil && all == nil || len(all) == elements))
		}),
		do("Salvage", "salvage", spectable.Reading, func(s *windowSite) error {
			dst := []int64{77}
			return untouched(s.w.Salvage(spectable.Peer, nameElement, dst), dst, named+spectable.Peer)
		}),
		do("View", "view", spectable.Viewing, func(s *windowSite) error {
			v, err := rma.View[uint32](s.w, 8, 2)
			return errors.Join(err, unless(err != nil || v.Len(spectable.Peer) == 2))
		}),
		do("Len", "", spectable.Attending, func(s *windowSite) error {
			n := s.w.Len(spectable.Peer)
			return unless(n == elements || s.w.Local() == nil && n == 0)
		}),
		do("Local", "", spectable.Attending, func(s *windowSite) error {
			all := s.w.Local()
			return unless(all == nil || len(all) == elements)
		}),
		do("At", "", spectable.Attending, func(s *windowSite) error { _ = s.w.At(spectable.Third); return nil }),
		do("Comm", "", spectable.Attending, func(s *windowSite) error { return unless(s.w.Comm() != nil) }),
		do("Notified", "", spectable.Attending, func(s *windowSite) error { return unless(s.w.Notified(1) == 0) }),
		do("TakeNotified", "", spectable.Attending, func(s *windowSite) error { return unless(s.w.TakeNotified(1) == 0) }),
		do("Sync", "", spectable.Attending, func(s *windowSite) error { s.w.Sync(); return nil }),
		do("Revoke", "revoke", spectable.GivingUp, func(s *windowSite) error { return s.w.Revoke() }),
		do("Free", "free", spectable.GivingUp, func(s *windowSite) error { return s.w.Free() }),
	}
}
