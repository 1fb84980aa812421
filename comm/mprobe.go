package comm

import (
	"context"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// A Message is a message that Mprobe has matched, for Mrecv.
type Message struct {
	c     *Comm
	claim *engine.Claim // nil: a message of None
	src   int
}

// Mprobe is Probe that also matches the message, so that no other receive of any goroutine gets it:
// Mrecv receives the message, once. The send counts as matched; an Ssend or a long Send to this
// process waits for Mrecv. The length of the message is Bytes. Mprobe reports failures as Probe
// does (R48). MPI 3.8.
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

// Mrecv receives the message that Mprobe matched into buf, as Recv does. A short message arrives
// even if its sender has died; the rest of a long message may be lost with the sender. Errors:
// those of Recv; ErrInactive when m was received before, or is nil. If ctx is over at the call m
// stays as it is, and a later receive completes. Once Mrecv has begun, the end of ctx has no
// effect: the message has matched. A message of None can be received several times. MPI 3.8.
func Mrecv[T Elem](ctx context.Context, m *Message, buf []T) (Status, error) {
	elem := code[T]()
	if elem == 0 {
		return none(), unsendable[T]("mrecv", m.communicator())
	}
	return mrecv(ctx, m, elem, byteview.Bytes(buf), byteview.Size[T]())
}

// communicator returns nil for a nil message.
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
