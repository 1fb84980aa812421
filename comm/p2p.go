package comm

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// Send sends buf and returns when buf may be used again, which may be before the message is
// received. Errors: ErrRank, ErrTag, ErrType; ErrNoRoom for a message of 1 TiB or more;
// ErrProcFailed when the receiver is dead (a message to a process that dies later may be lost
// without an error, R45); ErrRevoked; ErrFreed and ErrFinalized, also when the send waits for a
// receiver that has freed the communicator or is in Finalize; ctx's error: no receive gets the
// message. MPI 3.4.
func Send[T Elem](ctx context.Context, to Dest, buf []T) error {
	elem := code[T]()
	if elem == 0 {
		return unsendable[T]("send", to.c)
	}
	return send(ctx, "send", to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, byteview.Bytes(buf))
}

// Ssend is Send that returns only once a receive has matched. MPI 3.4.
func Ssend[T Elem](ctx context.Context, to Dest, buf []T) error {
	elem := code[T]()
	if elem == 0 {
		return unsendable[T]("ssend", to.c)
	}
	return send(ctx, "ssend", to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem, Sync: true}, byteview.Bytes(buf))
}

func send(ctx context.Context, op string, to Dest, env engine.Envelope, buf []byte) error {
	if ctx == nil {
		return given(ctx, op, to.c)
	}
	if to.none() {
		return nil
	}
	if err := to.check(); err != nil {
		return fail(op, to.c, nil, err)
	}
	env.Rank = to.c.inner(to.rank)
	if err := to.c.e.Send(ctx, env, buf); err != nil {
		return fail(op, to.c, []int{to.rank}, err)
	}
	return nil
}

// Recv receives a message into buf. A message longer than buf fills buf and gives ErrTruncated.
// Messages of one sender arrive in their order (MPI 3.5). Errors: ErrRank, ErrTag, ErrType;
// ErrProcFailed when the sender is dead, or, with Any, when a member has failed that is not
// acknowledged (R46, R48); ErrRevoked; ErrFreed; ErrFinalized, also when the sender is in Finalize;
// ctx's error: no message has matched, and the receive is withdrawn.
func Recv[T Elem](ctx context.Context, from Source, buf []T) (Status, error) {
	elem := code[T]()
	if elem == 0 {
		return Status{}, unsendable[T]("recv", from.c)
	}
	return recv(ctx, "recv", from, engine.Envelope{Rank: from.rank, Tag: from.tag, Elem: elem}, byteview.Bytes(buf), byteview.Size[T]())
}

func recv(ctx context.Context, op string, from Source, env engine.Envelope, buf []byte, elemBytes int) (Status, error) {
	if ctx == nil {
		return Status{}, given(ctx, op, from.c)
	}
	if from.none() {
		return Status{Source: None, Tag: Any}, nil
	}
	if err := from.check(); err != nil {
		return Status{}, fail(op, from.c, nil, err)
	}
	env.Rank = from.c.inner(from.rank)
	st, err := from.c.e.Recv(ctx, env, buf)
	return from.c.status(st, elemBytes), from.fail(op, err)
}

func (s Source) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if s.rank == Any {
		return failAny(op, s.c, err)
	}
	return fail(op, s.c, []int{s.rank}, err)
}

// status converts a status of the engine; elemBytes is the size of an element in bytes.
func (c *Comm) status(st engine.Status, elemBytes int) Status {
	return Status{Source: c.outer(c.e.RankOf(st.Proc)), Tag: st.Tag, Count: elemsOf(st.Bytes, elemBytes), Bytes: st.Bytes}
}

// elemsOf divides bytes by elemBytes. Sizes of numbers are powers of 2, for which a shift is
// faster.
func elemsOf(bytes, elemBytes int) int {
	if elemBytes&(elemBytes-1) == 0 {
		return bytes >> bits.TrailingZeros(uint(elemBytes))
	}
	return bytes / elemBytes
}

// Isend starts a Send. The request's Wait or Test reports what happened; buf must
// stay as it is until then.
func Isend[T Elem](to Dest, buf []T) Request {
	elem := code[T]()
	if elem == 0 {
		return notStarted(unsendable[T]("isend", to.c))
	}
	return isend(isendCall, to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, byteview.Bytes(buf))
}

// Issend starts an Ssend.
func Issend[T Elem](to Dest, buf []T) Request {
	elem := code[T]()
	if elem == 0 {
		return notStarted(unsendable[T]("issend", to.c))
	}
	return isend(issendCall, to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem, Sync: true}, byteview.Bytes(buf))
}

func isend(made *call, to Dest, env engine.Envelope, buf []byte) Request {
	if to.none() {
		return Request{}
	}
	if err := to.check(); err != nil {
		return notStarted(fail(made.op, to.c, nil, err))
	}
	env.Rank = to.c.inner(to.rank)
	h, err := to.c.e.Isend(env, buf)
	if err != nil {
		return notStarted(fail(made.op, to.c, []int{to.rank}, err))
	}
	return Request{c: to.c, h: h, peer: to.rank, call: made}
}

// Irecv starts a Recv. buf belongs to the request until it is complete.
func Irecv[T Elem](from Source, buf []T) Request {
	elem := code[T]()
	if elem == 0 {
		return notStarted(unsendable[T]("irecv", from.c))
	}
	if from.none() {
		return Request{}
	}
	if err := from.check(); err != nil {
		return notStarted(fail("irecv", from.c, nil, err))
	}
	h, err := from.c.e.Irecv(engine.Envelope{Rank: from.c.inner(from.rank), Tag: from.tag, Elem: elem}, byteview.Bytes(buf))
	if err != nil {
		return notStarted(fail("irecv", from.c, from.ranks(), err))
	}
	return Request{c: from.c, h: h, peer: from.rank, call: irecvCallOf(byteview.Size[T]())}
}

// Probe waits for a message that a receive from the source would match, and leaves the message
// queued. Its length is Bytes. Probe does not find a message that died with its sender (R46).
// Errors: those of Recv, without ErrType and ErrTruncated (R48). MPI 3.8.
func Probe(ctx context.Context, from Source) (Status, error) {
	if ctx == nil {
		return Status{}, given(ctx, "probe", from.c)
	}
	if from.none() {
		return Status{Source: None, Tag: Any}, nil
	}
	if err := from.check(); err != nil {
		return Status{}, fail("probe", from.c, nil, err)
	}
	st, err := from.c.e.Probe(ctx, engine.Envelope{Rank: from.c.inner(from.rank), Tag: from.tag})
	return from.c.status(st, 1), from.fail("probe", err)
}

// Iprobe checks for a message that a receive from the source would match. The length of the message
// is Bytes. Iprobe reports failures as Probe does (R48).
func Iprobe(from Source) (Status, bool, error) {
	if from.none() {
		return Status{Source: None, Tag: Any}, true, nil
	}
	if err := from.check(); err != nil {
		return Status{}, false, fail("iprobe", from.c, nil, err)
	}
	st, ok, err := from.c.e.Iprobe(engine.Envelope{Rank: from.c.inner(from.rank), Tag: from.tag})
	return from.c.status(st, 1), ok, from.fail("iprobe", err)
}

// SendValue sends any Go value that gob can encode; another value is ErrType. A slice of numbers or
// bools without a type name of its own, such as a []float64, is sent as its memory, as fast as by
// Send; a receive of numbers nevertheless refuses such a message. Other errors are those of Send.
func SendValue[T any](ctx context.Context, to Dest, v T) error {
	b, elem, err := byteview.EncodeValue(&v)
	if err != nil {
		return fail("send_value", to.c, nil, fmt.Errorf("%w: %w", ErrType, err))
	}
	return send(ctx, "send_value", to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, b)
}

// IsendValue starts a SendValue: v may change as soon as IsendValue has returned. A value that gob
// cannot encode gives ErrType at the first wait.
func IsendValue[T any](to Dest, v T) Request {
	b, elem, err := byteview.EncodeValue(&v)
	if err != nil {
		return notStarted(fail(isendValueCall.op, to.c, nil, fmt.Errorf("%w: %w", ErrType, err)))
	}
	if elem != byteview.GobValue {
		b = bytes.Clone(b)
	}
	return isend(isendValueCall, to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, b)
}

// RecvValue receives a value that SendValue sent. A message of Send, or a value that does not
// decode to a T, is ErrType, and the message is received nevertheless. Other errors are those of
// Recv.
func RecvValue[T any](ctx context.Context, from Source) (v T, st Status, err error) {
	if ctx == nil {
		return v, st, given(ctx, "recv_value", from.c)
	}
	if from.none() {
		return v, Status{Source: None, Tag: Any}, nil
	}
	if err := from.check(); err != nil {
		return v, st, fail("recv_value", from.c, nil, err)
	}
	buf, elem, got, err := from.c.e.RecvValue(ctx, engine.Envelope{Rank: from.c.inner(from.rank), Tag: from.tag})
	st = from.c.status(got, 1)
	if err != nil {
		return v, st, from.fail("recv_value", err)
	}
	if err := byteview.DecodeValue(buf, elem, &v); err != nil {
		return v, st, fail("recv_value", from.c, []int{st.Source}, fmt.Errorf("%w: %w", ErrType, err))
	}
	return v, st, nil
}
