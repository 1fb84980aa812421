package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/nodecoll"
	"github.com/goulfm/goulfm/internal/view"
)

// Bcast copies buf of the root into buf of every member. The lengths must be
// equal: ErrMismatch where a message of another length arrives. Errors: ErrRoot,
// and those of all collectives. MPI 6.4.
func Bcast[T comm.Elem](ctx context.Context, c *comm.Comm, root int, buf []T) error {
	b := view.Bytes(buf)
	if shared(c, bcast, root) && !(c.Size() == 2 && len(b) > pairBytes && c.Engine().Direct()) {
		return inMemory(ctx, c, header{kind: bcast, what: root & (1<<whatBits - 1)}, elemOf[T](), len(b),
			func(g *nodecoll.Group, what uint64) { g.Bcast(what, root, b) })
	}
	x, err := begin(ctx, c, bcast, root, elemOf[T]())
	if err != nil {
		return err
	}
	if err := x.byMessages(len(b)); err != nil {
		return x.end(err)
	}
	return x.end(x.bcast(root, b))
}

// pairBytes is from where on a message between two processes, which goes straight
// from memory to memory, is faster than two copies through shared memory.
const pairBytes = 16 << 10

// bcast goes down a binomial tree over the ranks counted from the root: the
// member at place v hears from the place without v's lowest bit, and passes on
// to the places with one lower bit more, the largest subtree first.
func (x *call) bcast(root int, buf []byte) error {
	place := (x.me - root + x.n) % x.n
	bit := 1
	for ; bit < x.n; bit <<= 1 {
		if place&bit != 0 {
			if err := x.recv((place-bit+root)%x.n, buf); err != nil {
				return err
			}
			break
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if place+bit < x.n {
			if err := x.send((place+bit+root)%x.n, buf); err != nil {
				return err
			}
		}
	}
	return nil
}
