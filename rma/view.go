package rma

import (
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// View returns a window of n elements of U at each member, which are the bytes of w from off on: a
// single window can thus hold elements of several types, as a heap does. View is local, costs only
// a few words of memory for each member, and shares all other state with w: the communicator,
// locks, counters of notifications, epochs, and the end. Freeing w ends its views; Free and Rebuild
// of a view return comm.ErrArgument.
//
// Errors: comm.ErrType for elements that have no fixed size or hold pointers, comm.ErrArgument for
// a negative n, and for an off that is no multiple of the alignment of U (View does not check where
// the memory of w begins: a View or memory of Create may begin at less), ErrBounds if there are not
// as many bytes at every member, comm.ErrFreed.
func View[U, T comm.Elem](w *Win[T], off, n int) (*Win[U], error) {
	k := w.k
	s := specOf[U]("view", n, nil)
	switch {
	case k.sight.Load().freed:
		s.err = comm.ErrFreed
	case s.err != nil:
	case off%byteview.Align[U]() != 0:
		s.err = fmt.Errorf("%w: byte %d, for elements that begin at multiples of %d", comm.ErrArgument, off, byteview.Align[U]())
	}
	if s.err != nil {
		return nil, k.raise(k.fail(s.op, nil, s.err))
	}
	v := &core{base: k.base, spec: s, unit: s.unit, elem: window.ElemOf(s.code), view: true, pieces: make([]piece, k.n)}
	v.spec.notifications = k.spec.notifications
	for rank, p := range k.pieces {
		bytes := n * s.unit
		if has := p.n * k.unit; off < 0 || off > has || bytes > has-off {
			return nil, k.raise(k.fail(s.op, []int{rank}, fmt.Errorf("%w: bytes %d to %d of %d", ErrBounds, off, off+bytes, has)))
		}
		v.pieces[rank] = piece{n: n, at: p.at + off, control: p.control, stripes: p.stripes, source: p.source}
		if !k.isAway(rank) {
			v.pieces[rank].data = p.data[off : off+bytes : off+bytes]
		}
	}
	return &Win[U]{k: v}, nil
}
