package comm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// SendRecv sends out and receives into in at once; neither waits for the other. out and in must not
// share memory: an arriving message would change a message that is still being sent. If they share
// memory, nothing is sent or received and the error Is ErrBuffer, also if a half has the peer None.
// SendRecvReplace uses one buffer for both. MPI 3.10.
//
// SendRecv ends with an error as soon as one half cannot complete, or ctx ends. The other half is
// then withdrawn, unless already matched: a matched half completes, and the status describes the
// received message. The message of a send that could be buffered at once stays sent. A received
// message that does not fit is an error that does not affect the send. If ctx is over at the call,
// nothing is sent or received.
func SendRecv[T, U Elem](ctx context.Context, to Dest, out []T, from Source, in []U) (Status, error) {
	sent, received := code[T](), code[U]()
	switch {
	case sent == 0:
		return Status{}, unsendable[T]("sendrecv", to.c)
	case received == 0:
		return Status{}, unsendable[U]("sendrecv", from.c)
	}
	return sendRecv(ctx, to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: sent}, byteview.Bytes(out),
		from, engine.Envelope{Rank: from.rank, Tag: from.tag, Elem: received}, byteview.Bytes(in), byteview.Size[U]())
}

func sendRecv(ctx context.Context, to Dest, outEnv engine.Envelope, out []byte, from Source, inEnv engine.Envelope, in []byte, elemBytes int) (Status, error) {
	const op = "sendrecv"
	if byteview.Overlap(out, in) {
		return Status{}, fail(op, to.c, nil, fmt.Errorf("%w: what is sent and what is received share memory: use two buffers, or SendRecvReplace", ErrBuffer))
	}
	return exchange(ctx, op, to, outEnv, out, from, inEnv, in, elemBytes)
}

// SendRecvReplace sends buf and replaces its content with the received message: a SendRecv of one
// buffer. The outgoing message is copied first, so with an error buf may hold either message, or a
// part of the received one. Errors are those of SendRecv. MPI 3.10 (MPI_Sendrecv_replace).
func SendRecvReplace[T Elem](ctx context.Context, to Dest, from Source, buf []T) (Status, error) {
	elem := code[T]()
	if elem == 0 {
		return Status{}, unsendable[T]("sendrecv_replace", to.c)
	}
	return sendRecvReplace(ctx, to, from, elem, byteview.Bytes(buf), byteview.Size[T]())
}

func sendRecvReplace(ctx context.Context, to Dest, from Source, elem uint8, buf []byte, elemBytes int) (Status, error) {
	out := copies.Get().(*[]byte)
	*out = append((*out)[:0], buf...)
	st, err := exchange(ctx, "sendrecv_replace", to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, *out,
		from, engine.Envelope{Rank: from.rank, Tag: from.tag, Elem: elem}, buf, elemBytes)
	if cap(*out) <= maxKeptCopy {
		copies.Put(out) // both halves are over, also after an error: out has no reader any more
	}
	return st, err
}

// copies are the send buffers of SendRecvReplace, kept so that a small send allocates nothing.
var copies = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptCopy is the largest copy that is kept, in bytes.
const maxKeptCopy = 1 << 20

// exchange makes a SendRecv; the caller has checked that the memory does not overlap, or has copied
// it.
func exchange(ctx context.Context, op string, to Dest, outEnv engine.Envelope, out []byte, from Source, inEnv engine.Envelope, in []byte, elemBytes int) (Status, error) {
	if ctx == nil {
		return Status{}, given(ctx, op, to.c)
	}
	// Check both halves before either starts. Otherwise the message would be sent although the call
	// fails, or the receive would wait although the call has failed.
	if !to.none() {
		if err := to.check(); err != nil {
			return Status{}, fail(op, to.c, nil, err)
		}
	}
	if !from.none() {
		if err := from.check(); err != nil {
			return Status{}, fail(op, from.c, nil, err)
		}
	}
	switch {
	case to.none():
		return recv(ctx, op, from, inEnv, in, elemBytes)
	case from.none():
		return Status{Source: None, Tag: Any}, send(ctx, op, to, outEnv, out)
	case to.c.w.proc != from.c.w.proc:
		return Status{}, fail(op, to.c, nil, fmt.Errorf("%w: the halves are in two worlds", ErrUnsupported))
	}
	outEnv.Rank, inEnv.Rank = to.c.inner(to.rank), from.c.inner(from.rank)
	st, sendErr, recvErr := to.c.e.SendRecv(ctx, outEnv, out, from.c.e, inEnv, in)
	status := from.c.status(st, elemBytes)
	switch {
	case sendErr == nil && recvErr == nil:
		return status, nil
	case sendErr == nil:
		return status, from.fail(op, recvErr)
	case errors.Is(recvErr, sendErr) && to.c == from.c && from.rank != Any && from.rank != to.rank:
		return status, fail(op, to.c, []int{to.rank, from.rank}, sendErr) // both halves wait
	}
	return status, fail(op, to.c, []int{to.rank}, sendErr)
}
