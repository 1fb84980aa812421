package main

import (
	"context"

	"github.com/goulfm/goulfm/comm"
)

// A courier carries elements to other ranks in buffers, one for each part that these have, and takes what comes from them in between. An
// empty message says that a rank has no more for a level (the pattern of the reference's "simple": receives from any source, an
// empty message as end).
type courier[T comm.Elem] struct {
	c     *comm.Comm
	where []place // by part
	room  int     // elements of a buffer
	out   [][]T   // by part: what is not sent yet
	sent  [][]T   // what is on its way
	sends []comm.Request
	in    []T
	ended int // ranks that have no more for this level
	take  func(elements []T)
}

func newCourier[T comm.Elem](g *graph, room int, take func([]T)) *courier[T] {
	k := &courier[T]{c: g.c, where: g.where, room: room, take: take, in: make([]T, room), sends: make([]comm.Request, g.parts)}
	for range g.parts {
		k.out, k.sent = append(k.out, make([]T, 0, room)), append(k.sent, make([]T, 0, room))
	}
	return k
}

// send sends the buffer for a part. While the one before is on its way it takes what comes: two ranks that send to each other
// do not wait for each other.
func (k *courier[T]) send(ctx context.Context, part int) error {
	for {
		_, over, err := k.sends[part].Test()
		if err != nil {
			return err
		}
		if over {
			break
		}
		if err := k.poll(ctx); err != nil {
			return err
		}
	}
	k.out[part], k.sent[part] = k.sent[part][:0], k.out[part]
	k.sends[part] = comm.Isend(k.c.To(k.where[part].rank), k.sent[part])
	return k.poll(ctx)
}

// flush sends all buffers in which there is something.
func (k *courier[T]) flush(ctx context.Context) error {
	for part := range k.out {
		if len(k.out[part]) > 0 {
			if err := k.send(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// poll takes one message, if there is one.
func (k *courier[T]) poll(ctx context.Context) error {
	_, there, err := comm.Iprobe(k.c.From(comm.Any))
	if err != nil || !there {
		return err
	}
	return k.receive(ctx)
}

func (k *courier[T]) receive(ctx context.Context) error {
	st, err := comm.Recv(ctx, k.c.From(comm.Any), k.in)
	if err != nil {
		return err
	}
	if st.Count == 0 {
		k.ended++
	} else {
		k.take(k.in[:st.Count])
	}
	return nil
}

// finish ends a level: it returns when all has come that others had for this rank.
func (k *courier[T]) finish(ctx context.Context) error {
	if err := k.flush(ctx); err != nil {
		return err
	}
	sends := k.sends
	for i := 1; i < k.c.Size(); i++ {
		sends = append(sends, comm.Isend(k.c.To((k.c.Rank()+i)%k.c.Size()), []T{}))
	}
	for k.ended < k.c.Size()-1 {
		if err := k.receive(ctx); err != nil {
			return err
		}
	}
	k.ended = 0
	for _, r := range sends {
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
	}
	clear(k.sends)
	return nil
}
