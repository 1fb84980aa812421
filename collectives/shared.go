package collectives

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// The word that a member publishes of its call in shared memory has the bytes in the lower 40 bits,
// then the element's code, the root or operation, and the kind; the highest bit marks wrong
// arguments.
const (
	bytesBits    = 40
	whatElemAt   = bytesBits
	whatRootAt   = whatElemAt + 8
	whatKindAt   = whatRootAt + whatBits
	whatWrongBit = 1 << 63
)

func (h header) code(elem uint8, bytes int) uint64 {
	what := h.what
	if !h.kind.rooted() {
		what = int(h.op()) // the same for each algorithm
	}
	return uint64(bytes)&(1<<bytesBits-1) | uint64(elem)<<whatElemAt | uint64(what&(1<<whatBits-1))<<whatRootAt | uint64(h.kind)<<whatKindAt
}

// code is the word that x publishes.
func (x *call) code() uint64 { return x.head.code(x.Elem, x.bytes) }

// noteWrong publishes that this member's arguments are wrong.
func (x *call) noteWrong() {
	if x.e.Shared() {
		_ = x.e.NoteShared(x.ctx, x.head.kind.String(), x.head.code(x.Elem, 0)|whatWrongBit) // this call has failed already
	}
}

// shared reports whether a blocking collective of c uses shared memory: its root is valid, and the
// table or an option selects memory.
func shared(c *comm.Comm, k kind, verb sched.Verb, root, bytes int, opts []Option) bool {
	if c == nil || !door.Engine(c).Shared() || k.rooted() && (root < 0 || root >= c.Size()) {
		return false
	}
	e, s := door.Engine(c), ofProcess()
	if len(opts) > 0 {
		s = settingsOf(verb, merged(opts))
	}
	return s.goesThroughMemory(verb, bytes, e.Size(), e.Crowded(), e.Direct())
}

func rooted(k kind, root int) header { return header{kind: k, what: root & (1<<whatBits - 1)} }

// inMemory makes a collective in shared memory and skips the setup that only messages and errors
// need: where ranks outnumber cores each call finds its caches cold. After engine.ErrRefused, at
// all members, the result is false, and messages perform the collective.
func inMemory(ctx context.Context, c *comm.Comm, h header, elem uint8, bytes int, start func(g *nodecoll.Group, what uint64)) (done bool, err error) {
	if ctx == nil {
		return false, nil
	}
	if err := door.Engine(c).RunShared(ctx, h.kind.String(), h.code(elem, bytes), start); err != nil {
		return failedInMemory(ctx, c, h, elem, bytes, err)
	}
	return true, nil
}

// failedInMemory is inMemory of a collective that has ended with err.
//
//go:noinline
func failedInMemory(ctx context.Context, c *comm.Comm, h header, elem uint8, bytes int, err error) (done bool, _ error) {
	if errors.Is(err, engine.ErrRefused) {
		return false, nil
	}
	x := newCall(ctx, c, h.kind, elem)
	defer x.release()
	x.head, x.bytes = h, bytes
	k, err := x.suffered(err)
	if k != (engine.Consequence{}) {
		x.e.Refuse(true, k)
	}
	return true, x.raise(err)
}

// apart returns src, or a copy of src if src shares memory with dst otherwise than in place.
func apart(dst, src []byte, inPlace bool) []byte {
	if !inPlace && byteview.Overlap(dst, src) {
		return bytes.Clone(src)
	}
	return src
}

// reduction returns the arguments of a reduction in shared memory, the operation's code and that of
// an element. The result is false for a program's own operation, which messages combine, and for a
// nil operation.
func reduction[T comm.Elem](op Op[T]) (r nodecoll.Reduce, code int, elem uint8, ok bool) {
	if op == nil {
		return r, 0, 0, false
	}
	elem = elemOf[T]()
	if code = int(op(sealed{}).code); code < len(reduces) && int(elem) < len(reduces[code]) {
		r = reduces[code][elem]
	}
	return r, code, elem, r.Func != nil
}

// reduces are the built-in operations, by the code of an element.
var reduces = func() (all [opCustom][reflect.Complex128 + 1]nodecoll.Reduce) {
	for code := range all {
		for elem, e := range kernelElems {
			if f := kernel.Find(kernel.Op(code), e); f != nil {
				all[code][elem] = nodecoll.Reduce{Func: f, ElemBytes: e.Bytes()}
			}
		}
	}
	return all
}()
