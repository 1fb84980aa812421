package rma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/protocol/robustlock"
)

// An operation on a member whose memory is not shared is a sequence of frames, which the target's
// engine executes in that order (package rmaserver).

// remote is this member's state about a member that is away.
type remote struct {
	posted  atomic.Uint64 // number of its posts for this member
	sent    atomic.Uint64 // frames without an answer: counted once they are sent
	flushed atomic.Uint64 // number of those that certainly have taken effect
	told    atomic.Uint64 // number of deaths sent to the target, in the order in which this member learned of them
}

// isFlushed reports whether all operations whose call has returned have taken effect.
func (r *remote) isFlushed() bool { return r.flushed.Load() >= r.sent.Load() }

// hasFlushed notes that the first sent frames have taken effect: more may be known by now.
func (r *remote) hasFlushed(sent uint64) {
	for {
		known := r.flushed.Load()
		if known >= sent || r.flushed.CompareAndSwap(known, sent) {
			return
		}
	}
}

// far is one member that is away, as a target of accesses.
type far struct {
	k    *core
	rank int
}

func (k *core) far(rank int) far { return far{k, rank} }

// isAway reports whether a member's memory is not shared. An invalid rank is not away.
func (k *core) isAway(rank int) bool { return uint(rank) < uint(len(k.away)) && k.away[rank] }

// failAway is the error of a call that needs shared memory of a member.
func (k *core) failAway(op string, rank int) error {
	return k.fail(op, []int{rank}, fmt.Errorf("%w: its memory is not shared: it is on another node, or all goes by messages", comm.ErrUnsupported))
}

// failRemote adds the location to the error of a frame to a member.
func (k *core) failRemote(op string, rank int, err error) error {
	if errors.Is(err, comm.ErrProcFailed) {
		return k.fail(op, []int{rank}, comm.ErrProcFailed)
	}
	return k.fail(op, nil, err)
}

// locate begins an access to n elements of a target that is away, and returns the byte at which
// they begin.
func (t far) locate(ctx context.Context, op string, disp, n int) (at uint64, err error) {
	if err := t.k.toward(ctx, op, t.rank); err != nil {
		return 0, err
	}
	p := &t.k.pieces[t.rank]
	if !p.has(disp, n) {
		return 0, t.k.failBounds(op, t.rank, disp, n)
	}
	return uint64(p.at + disp*t.k.unit), nil
}

// frames are unused buffers of frames, and of the results of several answers.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// tell sends a frame that has no answer, behind news of all deaths that this member knows of.
func (t far) tell(ctx context.Context, op string, f *rmaserver.Frame) error {
	if err := t.tellDead(ctx, op); err != nil {
		return err
	}
	return t.tellFrame(ctx, op, f)
}

// tellDead informs the target of each death that this member knows of, before its next request. A
// later request of the dead then cannot change data that this member reads or repairs there (W7).
// The target's own node may learn of the death last. Another goroutine's request may overtake this
// one, so the count is stored once the frames are sent.
func (t far) tellDead(ctx context.Context, op string) error {
	gone, r := t.k.sees().gone, &t.k.remote[t.rank]
	told := r.told.Load()
	if told >= uint64(len(gone)) {
		return nil
	}
	for _, dead := range gone[told:] {
		if dead == t.rank {
			continue
		}
		if err := t.tellFrame(ctx, op, &rmaserver.Frame{Op: rmaserver.Dead, At: uint64(dead)}); err != nil {
			return err
		}
	}
	if pausepoint.Enabled {
		pausepoint.At("rma.told")
	}
	r.told.CompareAndSwap(told, uint64(len(gone)))
	return nil
}

// tellFrame sends a frame that has no answer. The frame is counted after it was sent, so that a
// Flush which counts the frame comes behind it. Counting first would fail:
//
//	goroutine 1                  goroutine 2
//	Put: counts a frame
//	                             Flush: sends its frame, is answered: all that was counted is flushed
//	sends the frame of the Put
//	Flush: nothing is to be done
func (t far) tellFrame(ctx context.Context, op string, f *rmaserver.Frame) error {
	b := frames.Get().(*[]byte)
	*b = f.Append((*b)[:0])
	err := t.k.watch.Tell(ctx, t.rank, *b)
	t.k.remote[t.rank].sent.Add(1)
	frames.Put(b)
	return t.k.failRemote(op, t.rank, err)
}

// ask sends a frame and waits for its answer, of len(answer) bytes.
func (t far) ask(ctx context.Context, op string, f *rmaserver.Frame, answer []byte) error {
	h, err := t.begin(ctx, op, f, answer)
	if err != nil {
		return err
	}
	return t.end(ctx, op, h, len(answer))
}

// begin sends a frame, for whose answer end waits. The frame's memory is not shared until then: it
// is new.
func (t far) begin(ctx context.Context, op string, f *rmaserver.Frame, answer []byte) (engine.Handle, error) {
	if err := t.tellDead(ctx, op); err != nil {
		return 0, err
	}
	f.Reply = 1 // the engine puts the name of the request there
	h, err := t.k.watch.Ask(t.rank, f.Append(make([]byte, 0, rmaserver.HeadBytes+len(f.Data))), answer)
	return h, t.k.failRemote(op, t.rank, err)
}

func (t far) end(ctx context.Context, op string, h engine.Handle, want int) error {
	n, err := t.k.watch.Answered(ctx, h)
	if err == nil && n != want {
		err = fmt.Errorf("an answer of %d bytes, not %d", n, want)
	}
	return t.k.failRemote(op, t.rank, err)
}

// dataMax returns the maximum number of bytes of elements in a frame to a member: a multiple of the
// size of an element that fits in a frame, otherwise of 64.
func (t far) dataMax() int {
	most := (t.k.watch.FrameMax(t.rank) - rmaserver.HeadBytes) &^ 63
	if t.k.unit > 0 && t.k.unit <= most {
		most -= most % t.k.unit // no element spans two frames
	}
	return most
}

// inPieces calls f for each piece of the given bytes, with its bounds.
func (t far) inPieces(bytes int, f func(from, to int) error) error {
	most := t.dataMax()
	for from := 0; from < bytes; from += most {
		if err := f(from, min(from+most, bytes)); err != nil {
			return err
		}
	}
	return nil
}

func (t far) put(ctx context.Context, op string, disp, n int, src []byte) error {
	at, err := t.locate(ctx, op, disp, n)
	if err != nil {
		return err
	}
	return t.store(ctx, op, at, src)
}

// store is put at a located byte.
func (t far) store(ctx context.Context, op string, at uint64, src []byte) error {
	return t.inPieces(len(src), func(from, to int) error {
		return t.tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Put, At: at + uint64(from), Data: src[from:to]})
	})
}

// get requests up to askedAhead pieces before it waits for the first. An error leaves dst unchanged
// (W8), with the exception that Get describes.
func (t far) get(ctx context.Context, op string, disp, n int, dst []byte) error {
	at, err := t.locate(ctx, op, disp, n)
	if err != nil || len(dst) == 0 {
		return err
	}
	if p := &t.k.pieces[t.rank]; p.source.HasMemory() { // of a process of this node, so no store of the dead arrives any more (W7)
		if err := t.k.flushAway(ctx, op, t.rank); err != nil {
			return err
		}
		if p.source.Read(at, dst) {
			return nil
		}
	}
	into := dst
	if len(dst) > t.dataMax() {
		b := frames.Get().(*[]byte)
		defer frames.Put(b)
		*b = slices.Grow((*b)[:0], len(dst))[:len(dst)]
		into = *b
	}
	err = t.askPieces(ctx, op, into, func(from, to int) rmaserver.Frame {
		return rmaserver.Frame{Op: rmaserver.Get, At: at + uint64(from), Count: uint64(to - from)}
	})
	if err == nil && len(dst) > t.dataMax() {
		copy(dst, into)
	}
	return err
}

// askedAhead is the number of answers that a member waits for at a time: the target holds in memory
// all answers that it cannot send at once.
const askedAhead = 16

// asked is a frame whose answer has not come, of want bytes.
type asked struct {
	h    engine.Handle
	want int
}

// askPieces sends a frame for each piece of the answer, some ahead, and waits for all answers.
func (t far) askPieces(ctx context.Context, op string, answer []byte, frame func(from, to int) rmaserver.Frame) error {
	var open []asked
	err := t.inPieces(len(answer), func(from, to int) (err error) {
		if len(open) == askedAhead {
			err = t.end(ctx, op, open[0].h, open[0].want)
			if open = open[1:]; err != nil {
				return err
			}
		}
		f := frame(from, to)
		h, err := t.begin(ctx, op, &f, answer[from:to])
		if err == nil {
			open = append(open, asked{h, to - from})
		}
		return err
	})
	for _, a := range open {
		if e := t.end(ctx, op, a.h, a.want); err == nil {
			err = e
		}
	}
	return err
}

// askNumber requests an atomic operation on one number of a target that is away, and returns the
// previous value.
func (t far) askNumber(ctx context.Context, op string, disp int, f rmaserver.Frame) (was uint64, err error) {
	if err := t.k.atomic(op); err != nil {
		return 0, err
	}
	if f.At, err = t.locate(ctx, op, disp, 1); err != nil {
		return 0, err
	}
	f.Size = uint8(t.k.unit)
	var answer [8]byte
	if f.Op == rmaserver.Accumulate {
		err = t.ask(ctx, op, &f, answer[:t.k.unit]) // numbers as they lie in memory
		return byteview.BitsAt(answer[:], t.k.unit), err
	}
	err = t.ask(ctx, op, &f, answer[:])
	return binary.LittleEndian.Uint64(answer[:]), err
}

// tellNumber stores a number at a target that is away.
func (t far) tellNumber(ctx context.Context, op string, disp int, v uint64) error {
	if err := t.k.atomic(op); err != nil {
		return err
	}
	at, err := t.locate(ctx, op, disp, 1)
	if err != nil {
		return err
	}
	return t.tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Swap, At: at, Size: uint8(t.k.unit), Operand: v})
}

// change is apply for one number of a target that is away.
func (t far) change(ctx context.Context, op string, disp int, c change, in uint64) (was uint64, err error) {
	if c.op() == 0 {
		return t.swapUntil(ctx, op, disp, c, in)
	}
	data := make([]byte, c.size)
	byteview.SetBitsAt(data, c.size, in)
	return t.askNumber(ctx, op, disp, rmaserver.Frame{Op: rmaserver.Accumulate, Kernel: uint8(c.op()), Elem: uint8(c.elem()), Data: data})
}

// swapUntil performs an operation that package kernel does not have, and that the target therefore
// cannot perform: it retries until no other member changes the element in between.
func (t far) swapUntil(ctx context.Context, op string, disp int, c change, in uint64) (was uint64, err error) {
	was, err = t.askNumber(ctx, op, disp, rmaserver.Frame{Op: rmaserver.Load})
	for err == nil {
		var now uint64
		now, err = t.askNumber(ctx, op, disp, rmaserver.Frame{Op: rmaserver.CompareAndSwap, Count: was, Operand: c.f(was, in)})
		if err == nil && now == was {
			return was, nil
		}
		was = now
	}
	return 0, err
}

// accumulate combines numbers of a target that is away; out is nil, or gets the previous values.
func (t far) accumulate(ctx context.Context, op string, disp, n int, c change, in, out []byte) error {
	at, err := t.locate(ctx, op, disp, n)
	switch {
	case err != nil || len(in) == 0:
		return err
	case c.op() == 0:
		return t.swapEach(ctx, op, disp, n, c, in, out)
	}
	frame := func(from, to int) rmaserver.Frame {
		return rmaserver.Frame{Op: rmaserver.Accumulate, Kernel: uint8(c.op()), Elem: uint8(c.elem()), Size: uint8(c.size), At: at + uint64(from), Data: in[from:to]}
	}
	if out != nil {
		return t.askPieces(ctx, op, out, frame)
	}
	return t.inPieces(len(in), func(from, to int) error {
		f := frame(from, to)
		return t.tell(ctx, op, &f)
	})
}

// swapEach is swapUntil of one element after the other.
func (t far) swapEach(ctx context.Context, op string, disp, n int, c change, in, out []byte) error {
	for i := range n {
		was, err := t.swapUntil(ctx, op, disp+i, c, byteview.BitsAt(in[i*c.size:], c.size))
		if err != nil {
			return err
		}
		if out != nil {
			byteview.SetBitsAt(out[i*c.size:], c.size, was)
		}
	}
	return nil
}

// flushAway returns when all frames sent to the given living ranks that are away have taken effect.
// It sends all requests before it waits for the first.
func (k *core) flushAway(ctx context.Context, op string, ranks ...int) error {
	type flush struct {
		rank int
		sent uint64
		h    engine.Handle
	}
	var open []flush
	var first error
	for _, rank := range ranks {
		if !k.isAway(rank) || k.remote[rank].isFlushed() {
			continue
		}
		f := flush{rank: rank, sent: k.remote[rank].sent.Load()}
		var err error
		if f.h, err = k.far(rank).begin(ctx, op, &rmaserver.Frame{Op: rmaserver.Flush}, nil); err == nil {
			open = append(open, f)
		} else {
			first = decisive(first, err)
		}
	}
	for _, f := range open {
		if err := k.far(f.rank).end(ctx, op, f.h, 0); err == nil {
			k.remote[f.rank].hasFlushed(f.sent)
		} else {
			first = decisive(first, err)
		}
	}
	return first
}

// decisive returns the error of a flush of several targets: the first one, unless that is a death
// and a later error is not. A death hides no other error, since a caller may take a death for no
// error, and then report that the flush is complete at the living:
//
//	target 1    dies before its answer: ErrProcFailed
//	target 2    has not answered when ctx ends
func decisive(first, later error) error {
	if first == nil || errors.Is(first, comm.ErrProcFailed) && !errors.Is(later, comm.ErrProcFailed) {
		return later
	}
	return first
}

// lock acquires the lock of a target that is away. The caller has its process's turn.
func (t far) lock(ctx context.Context, op string, m LockMode) error {
	var b [rmaserver.GrantedBytes]byte
	err := t.ask(ctx, op, &rmaserver.Frame{Op: rmaserver.Lock, Mode: uint8(robustlock.Mode(m))}, b[:])
	if err != nil {
		if !errors.Is(err, comm.ErrProcFailed) {
			_ = t.tell(context.WithoutCancel(ctx), op, &rmaserver.Frame{Op: rmaserver.Withdraw}) // of the lock, if it was granted meanwhile, or of the wait; the first error is returned
		}
		return err
	}
	g, err := rmaserver.ReadGranted(b[:])
	switch {
	case err != nil:
		return t.k.fail(op, []int{t.rank}, err)
	case g.Held:
		return nil
	}
	return t.k.failBroken(op, t.rank, g.Dead)
}
