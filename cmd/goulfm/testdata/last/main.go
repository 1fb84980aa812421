// Last spawns four processes. All members of both worlds make one operation between the worlds and
// return. Every member must get nil: a member that has completed the operation and has left is no
// failure for one that still completes it.
//
//	last allreduce | barrier | bcast | merged | window | long | disconnect
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

const children = 4

func main() {
	operations := map[string]func(context.Context, *comm.Intercomm, bool) error{
		"allreduce": allreduce, "barrier": barrier, "bcast": bcast, "merged": merged, "window": window, "long": long, "disconnect": disconnect,
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		inter := w.Parent()
		child := inter != nil
		if !child {
			var err error
			if inter, err = w.Spawn(ctx, comm.SpawnSpec{N: children, Args: os.Args[1:]}); err != nil {
				return err
			}
		}
		return operations[os.Args[1]](ctx, inter, child)
	})
}

func allreduce(ctx context.Context, inter *comm.Intercomm, _ bool) error {
	v := []int{1}
	err := collectives.InterAllreduce(ctx, inter, v, v, collectives.Sum)
	if err == nil && v[0] != inter.RemoteSize() {
		err = fmt.Errorf("sum %d of %d", v[0], inter.RemoteSize())
	}
	return err
}

func barrier(ctx context.Context, inter *comm.Intercomm, _ bool) error {
	return collectives.InterBarrier(ctx, inter)
}

// bcast: the root may have left before others begin to receive.
func bcast(ctx context.Context, inter *comm.Intercomm, child bool) error {
	root, v := 0, []int{0}
	if child {
		root = comm.None
		if inter.Rank() == 0 {
			root, v[0] = collectives.Root, 7
		}
	}
	err := collectives.InterBcast(ctx, inter, root, v)
	if err == nil && !child && v[0] != 7 {
		err = fmt.Errorf("received %d", v[0])
	}
	return err
}

func merged(ctx context.Context, inter *comm.Intercomm, child bool) error {
	c, err := inter.Merge(ctx, child)
	if err != nil {
		return err
	}
	v := []int{1}
	err = collectives.Allreduce(ctx, c, v, v, collectives.Sum)
	if err == nil && v[0] != c.Size() {
		err = fmt.Errorf("sum %d of %d", v[0], c.Size())
	}
	return err
}

func window(ctx context.Context, inter *comm.Intercomm, child bool) error {
	c, err := inter.Merge(ctx, child)
	if err != nil {
		return err
	}
	w, err := rma.Allocate[int](ctx, c, c.Size())
	if err != nil {
		return err
	}
	for rank := range c.Size() {
		err = errors.Join(err, w.At(rank).Put(ctx, c.Rank(), []int{rank + 1}))
	}
	return errors.Join(err, w.Fence(ctx), w.Free())
}

// long: a child leaves when it has received a long message, which its sender may not have seen yet.
func long(ctx context.Context, inter *comm.Intercomm, child bool) error {
	data := make([]int64, 1<<18)
	if child {
		_, err := comm.Recv(ctx, inter.From(0), data)
		return err
	}
	if inter.Rank() != 0 {
		return nil
	}
	for rank := range children {
		if err := comm.Send(ctx, inter.To(rank), data); err != nil {
			return err
		}
	}
	return nil
}

// disconnect: the children leave at once, and the parents go on without a failure. A long message
// is under way.
func disconnect(ctx context.Context, inter *comm.Intercomm, child bool) error {
	merged, err := inter.Merge(ctx, child)
	if err != nil {
		return err
	}
	data := make([]int64, 1<<18)
	var under comm.Request
	if child {
		under = comm.Irecv(inter.From(inter.Rank()%inter.RemoteSize()), data)
	} else {
		for rank := inter.Rank(); rank < inter.RemoteSize(); rank += inter.Size() {
			data[1] = 5
			under = comm.Isend(inter.To(rank), data)
		}
	}
	if err := errors.Join(merged.Disconnect(ctx), inter.Disconnect(ctx)); err != nil {
		return err
	}
	if child {
		if _, err := under.Wait(ctx); err != nil || data[1] != 5 {
			return fmt.Errorf("received %d: %w", data[1], err)
		}
	}
	return nil
}
