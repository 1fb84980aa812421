package main

import (
	"context"

	"github.com/goulfm/goulfm/comm"
)

// A courier carries elements to other ranks in buffers, one for each of their parts, and receives
// elements in between. An empty message marks the end of a rank's messages for a level (the pattern
// of the reference's "simple": receives from any source, an empty message as end).
type courier[T comm.Elem] struct {
	c     *comm.Comm
	where []place // by part
	room  int     // elements of a buffer
	out   [][]T   // by part: elements that are not sent yet
	trips [][]trip[T]
	in    []T
	recv  comm.Request // into in, once begun
	begun bool
	ended int // ranks whose messages for this level have ended
	take  func(elements []T)
}

// A trip is a buffer on its way.
type trip[T any] struct {
	buf  []T
	send comm.Request
}

// depth is the most buffers for one part on their way: a busy rank does not make others wait at
// once.
const depth = 8

func newCourier[T comm.Elem](g *graph, room int, take func([]T)) *courier[T] {
	k := &courier[T]{c: g.c, where: g.where, room: room, take: take, in: make([]T, room), trips: make([][]trip[T], g.parts)}
	for range g.parts {
		k.out = append(k.out, make([]T, 0, room))
	}
	return k
}

// send sends the buffer for a part. While the most buffers are on their way, send receives
// messages: two ranks that send to each other do not wait for each other.
func (k *courier[T]) send(ctx context.Context, part int) error {
	t, err := k.spare(ctx, part)
	if err != nil {
		return err
	}
	k.out[part], t.buf = t.buf[:0], k.out[part]
	t.send = comm.Isend(k.c.To(k.where[part].rank), t.buf)
	return k.poll()
}

// spare waits until there is a buffer for a part that is not on its way.
func (k *courier[T]) spare(ctx context.Context, part int) (*trip[T], error) {
	for {
		for i := range k.trips[part] {
			t := &k.trips[part][i]
			_, over, err := t.send.Test()
			if over || err != nil {
				t.send = comm.Request{}
				return t, err
			}
		}
		if len(k.trips[part]) < depth {
			k.trips[part] = append(k.trips[part], trip[T]{buf: make([]T, 0, k.room)})
			return &k.trips[part][len(k.trips[part])-1], nil
		}
		waits := []comm.Request{k.receiving()}
		for _, t := range k.trips[part] {
			waits = append(waits, t.send)
		}
		i, st, err := comm.WaitAny(ctx, waits...)
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			k.received(st)
		default:
			t := &k.trips[part][i-1]
			t.send = comm.Request{}
			return t, nil
		}
	}
}

// flush sends all buffers with elements.
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

// receiving is the receive that is always posted while a level is scanned.
func (k *courier[T]) receiving() comm.Request {
	if !k.begun {
		k.recv, k.begun = comm.Irecv(k.c.From(comm.Any), k.in), true
	}
	return k.recv
}

func (k *courier[T]) received(st comm.Status) {
	k.begun = false
	if st.Count == 0 {
		k.ended++
	} else {
		k.take(k.in[:st.Count])
	}
}

// poll takes one message, if there is one.
func (k *courier[T]) poll() error {
	st, there, err := k.receiving().Test()
	if there && err == nil {
		k.received(st)
	}
	return err
}

// free gives up the receive.
func (k *courier[T]) free() error {
	if k.begun {
		k.recv.Cancel()
	}
	return nil
}

// finish ends a level: it returns when this rank has received all messages of the level.
func (k *courier[T]) finish(ctx context.Context) error {
	if err := k.flush(ctx); err != nil {
		return err
	}
	var ends []comm.Request
	for i := 1; i < k.c.Size(); i++ {
		ends = append(ends, comm.Isend(k.c.To((k.c.Rank()+i)%k.c.Size()), []T{}))
	}
	for k.ended < k.c.Size()-1 {
		st, err := k.receiving().Wait(ctx)
		if err != nil {
			return err
		}
		k.received(st)
	}
	k.ended = 0
	for _, trips := range k.trips {
		for i := range trips {
			ends = append(ends, trips[i].send)
			trips[i].send = comm.Request{}
		}
	}
	for _, r := range ends {
		if _, err := r.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
