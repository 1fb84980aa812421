package comm

import (
	"context"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// A Message is what Mprobe has taken, for MRecv.
type Message struct {
	c     *Comm
	claim *engine.Claim // nil: of no process
	src   int
}

// Mprobe is Probe that also takes the message, so that no other receive gets it, in
// whichever goroutine: MRecv receives it, once. Its sender counts as matched, and a
// Ssend or a long Send to here waits for MRecv. Its length is Bytes. It reports
// failures as Probe does (R48). MPI 3.8.
func Mprobe(ctx context.Context, from Source) (*Message, Status, error) {
	if ctx == nil {
		return nil, Status{}, given(ctx, "mprobe", from.c)
	}
	if from.none() {
		return &Message{c: from.c, src: None}, none(), nil
	}
	if err := from.check(); err != nil {
		return nil, Status{}, fail("mprobe", from.c, nil, err)
	}
	claim, got, err := from.c.e.Mprobe(ctx, engine.Envelope{Rank: from.c.inner(from.rank), Tag: from.tag})
	st := from.c.status(got, 1)
	if err != nil {
		return nil, st, from.fail("mprobe", err)
	}
	return &Message{c: from.c, claim: claim, src: st.Source}, st, nil
}

// MRecv receives the message that Mprobe took into buf, as Recv does, whatever has
// happened to its sender if it was short; the rest of a long one may be lost with
// it. Errors: those of Recv; ErrInactive when m was received before, or is nil. With a
// ctx that is over at the call m stays as it is; later the receive completes. MPI 3.8.
func MRecv[T Elem](ctx context.Context, m *Message, buf []T) (Status, error) {
	elem := code[T]()
	if elem == 0 {
		return none(), unsendable[T]("mrecv", m.communicator())
	}
	return mrecv(ctx, m, elem, byteview.Bytes(buf), byteview.Size[T]())
}

// communicator is nil for no message.
func (m *Message) communicator() *Comm {
	if m == nil {
		return nil
	}
	return m.c
}

func mrecv(ctx context.Context, m *Message, elem uint8, buf []byte, elemBytes int) (Status, error) {
	const op = "mrecv"
	switch {
	case m == nil || m.c == nil:
		return none(), fail(op, nil, nil, ErrInactive)
	case ctx == nil:
		return none(), given(ctx, op, m.c)
	case m.claim == nil:
		return none(), nil
	}
	st, err := m.claim.Recv(ctx, elem, buf)
	if err != nil {
		return m.c.status(st, elemBytes), fail(op, m.c, []int{m.src}, err)
	}
	return m.c.status(st, elemBytes), nil
}
