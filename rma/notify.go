package rma

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// PutNotify is Put that afterwards increments a counter of the target: a member that waits for the
// counter (WaitNotify) finds the data. A counted notification implies its data, whichever members
// die afterwards (W18). Slot is 0 to n-1 of the option Notifications; another slot is ErrBounds.
// Errors as of Put (the notified put of the MPI Forum's proposals).
func (t Target[T]) PutNotify(ctx context.Context, disp int, src []T, slot int) error {
	return t.k.raise(t.k.putNotify(ctx, "put_notify", t.rank, disp, len(src), byteview.Bytes(src), slot))
}

// Notify is PutNotify without data: it comes after all operations of this member on the target
// before it (P1).
func (t Target[T]) Notify(ctx context.Context, slot int) error {
	return t.k.raise(t.k.putNotify(ctx, "notify", t.rank, 0, 0, nil, slot))
}

// WaitNotify returns when this member's counter has reached n, or more. From and errors are as of
// Wait; an invalid slot is ErrBounds.
func (w *Win[T]) WaitNotify(ctx context.Context, slot int, n uint64, from ...int) error {
	return w.k.raise(w.k.waitNotify(ctx, slot, n, from))
}

func (k *core) waitNotify(ctx context.Context, slot int, n uint64, from []int) error {
	const op = "wait_notify"
	if err := k.mayWait(ctx, op, from); err != nil {
		return err
	}
	counter, err := k.counter(op, k.me, slot)
	if err != nil {
		return err
	}
	return k.await(ctx, op, from, func() bool { return segment.Load64(counter) >= n })
}

// Notified returns this member's counter of a slot, from 0 to n-1 of the option Notifications; 0
// for an invalid slot, and after Free.
func (w *Win[T]) Notified(slot int) uint64 {
	if w.k.sight.Load().freed || slot < 0 || slot >= w.k.spec.notifications {
		return 0
	}
	return segment.Load64(w.k.pieces[w.k.me].control.Counter(slot))
}

// TakeNotified is Notified that sets the counter to 0, in one atomic step.
func (w *Win[T]) TakeNotified(slot int) uint64 {
	if w.k.sight.Load().freed || slot < 0 || slot >= w.k.spec.notifications {
		return 0
	}
	return segment.Swap64(w.k.pieces[w.k.me].control.Counter(slot), 0)
}

func (k *core) putNotify(ctx context.Context, op string, rank, disp, n int, src []byte, slot int) error {
	if k.isAway(rank) {
		return k.far(rank).putNotify(ctx, op, disp, n, src, slot)
	}
	dst, err := k.reach(ctx, op, rank, disp, n)
	if err != nil {
		return err
	}
	counter, err := k.counter(op, rank, slot)
	if err != nil {
		k.leave()
		return err
	}
	if n > 0 {
		window.Copy(dst, src)
	}
	segment.Add64(counter, 1)
	k.leave()
	k.ring(rank)
	return nil
}

func (t far) putNotify(ctx context.Context, op string, disp, n int, src []byte, slot int) error {
	at, err := t.locate(ctx, op, disp, n)
	if err != nil {
		return err
	}
	if err := t.k.hasCounter(op, t.rank, slot); err != nil {
		return err
	}
	if err := t.store(ctx, op, at, src); err != nil {
		return err
	}
	return t.tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Notify, At: uint64(slot)})
}

// hasCounter returns an error if a counter's number is invalid.
func (k *core) hasCounter(op string, rank, slot int) error {
	if slot < 0 || slot >= k.spec.notifications {
		return k.fail(op, []int{rank}, fmt.Errorf("%w: counter %d of %d", ErrBounds, slot, k.spec.notifications))
	}
	return nil
}

func (k *core) counter(op string, rank, slot int) (*uint64, error) {
	if err := k.hasCounter(op, rank, slot); err != nil {
		return nil, err
	}
	return k.pieces[rank].control.Counter(slot), nil
}
