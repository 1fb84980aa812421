package comm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
)

// persistent is the state that the copies of a persistent request share.
type persistent struct {
	mu     sync.Mutex // of Start and Free
	start  func() (engine.Handle, error)
	freed  bool
	handle atomic.Uint64 // of the operation started last
}

// SendInit returns a request of which each Start makes an Isend of the current content of buf. buf
// must not change until the operation is over. Starting allocates nothing. MPI 3.9.
func SendInit[T Elem](to Dest, buf []T) Request {
	elem := code[T]()
	if elem == 0 {
		return notStarted(unsendable[T]("send_init", to.c))
	}
	return sendInit(to, engine.Envelope{Rank: to.rank, Tag: to.tag, Elem: elem}, byteview.Bytes(buf))
}

func sendInit(to Dest, env engine.Envelope, buf []byte) Request {
	const op = "send_init"
	if to.none() {
		return Request{c: to.c, call: &call{op: op, again: &persistent{start: startNothing}}}
	}
	if err := to.check(); err != nil {
		return notStarted(fail(op, to.c, nil, err))
	}
	env.Rank = to.c.inner(to.rank)
	start := func() (engine.Handle, error) { return to.c.e.Isend(env, buf) }
	return Request{c: to.c, peer: to.rank, call: &call{op: op, again: &persistent{start: start}}}
}

// RecvInit returns a request of which each Start makes an Irecv; buf belongs to the request from
// there until the operation is over. Starting allocates nothing. MPI 3.9.
func RecvInit[T Elem](from Source, buf []T) Request {
	elem := code[T]()
	if elem == 0 {
		return notStarted(unsendable[T]("recv_init", from.c))
	}
	return recvInit(from, engine.Envelope{Rank: from.rank, Tag: from.tag, Elem: elem}, byteview.Bytes(buf), byteview.Size[T]())
}

func recvInit(from Source, env engine.Envelope, buf []byte, elemBytes int) Request {
	const op = "recv_init"
	if from.none() {
		return Request{c: from.c, call: &call{op: op, again: &persistent{start: startNothing}}}
	}
	if err := from.check(); err != nil {
		return notStarted(fail(op, from.c, nil, err))
	}
	env.Rank = from.c.inner(from.rank)
	start := func() (engine.Handle, error) { return from.c.e.Irecv(env, buf) }
	return Request{c: from.c, peer: from.rank, call: &call{op: op, elemBytes: elemBytes, again: &persistent{start: start}}}
}

// startNothing starts an operation without a peer, which is over at once.
func startNothing() (engine.Handle, error) { return 0, nil }

// Start starts a persistent request. The request is active until a wait or test has reported its
// end, with success or with an error; then the request may be started again. Start does not report
// a dead peer or a revoked communicator; the wait or test does (R64). Errors: ErrUnsupported for a
// request that is active, or not persistent; ErrInactive for a freed request; ErrFreed,
// ErrFinalized; ErrNoRoom for a message that is too long. The first Start, wait or test of a
// request with wrong arguments returns the error of these arguments, and later ones return
// ErrInactive.
func (r Request) Start() error {
	switch {
	case r.made().failed != nil:
		_, err := r.made().failed.tell()
		return err
	case r.made().again == nil:
		return fail("start", r.c, nil, fmt.Errorf("%w: start of a request that is not persistent", ErrUnsupported))
	}
	p := r.made().again
	return fail("start", r.c, nil, p.begin(r.c)) // not under the lock: a handler of errors may make calls
}

func (p *persistent) begin(c *Comm) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.freed:
		return ErrInactive
	case c.w.proc.Active(engine.Handle(p.handle.Load())):
		return fmt.Errorf("%w: start of a request that is active", ErrUnsupported)
	}
	h, err := p.start()
	p.handle.Store(uint64(h))
	return err
}

// free releases a persistent request; an operation under way still completes.
func (p *persistent) free(c *Comm) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freed = true
	c.w.proc.Drop(engine.Handle(p.handle.Load()))
}

// atRest reports whether r is persistent and not active. A wait for r then returns at once: with
// success, or with an error if r was freed.
func (r Request) atRest() bool {
	return r.made().again != nil && !r.c.w.proc.Active(r.handle())
}

func (p *persistent) rest(c *Comm) error {
	p.mu.Lock()
	freed := p.freed
	p.mu.Unlock()
	if freed {
		return fail("wait", c, nil, ErrInactive)
	}
	return nil
}
