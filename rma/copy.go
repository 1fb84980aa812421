package rma

import (
	"context"

	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/window"
)

func (k *core) put(ctx context.Context, op string, rank, disp, n int, src []byte) error {
	if k.isAway(rank) {
		return k.far(rank).put(ctx, op, disp, n, src)
	}
	dst, err := k.reach(ctx, op, rank, disp, n)
	if err != nil {
		return err
	}
	window.Copy(dst, src)
	k.leave()
	return nil
}

func (k *core) get(ctx context.Context, op string, rank, disp, n int, dst []byte) error {
	if k.isAway(rank) {
		return k.far(rank).get(ctx, op, disp, n, dst)
	}
	src, err := k.reach(ctx, op, rank, disp, n)
	if err != nil {
		return err
	}
	copy(dst, src)
	k.leave()
	return nil
}

func (k *core) salvage(rank, disp int, dst []byte, n int) error {
	const op = "salvage"
	if err := k.there(op, rank); err != nil {
		return err
	}
	p := &k.pieces[rank]
	if !p.has(disp, n) {
		return k.failBounds(op, rank, disp, n)
	}
	if k.isAway(rank) {
		return k.failAway(op, rank)
	}
	k.sees() // the dead are silenced before their memory is read
	copy(dst, p.data[disp*k.unit:])
	return nil
}

// fence returns when others see the stores of this goroutine.
func fence() { publish.Fence() }
