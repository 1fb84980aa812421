package engine

import (
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/match"
	"github.com/goulfm/goulfm/ulfm"
)

// Status says what a receive got.
type Status struct {
	Proc  int // world process of the sender
	Tag   int
	Bytes int // of the message, or of the buffer if that is shorter
}

type reqKind uint8

const (
	recvRequest reqKind = iota
	sendRequest
	callRequest       // a call that ends in an agreement
	collectiveRequest // one in memory
	scheduleRequest   // one by messages
)

const (
	reqFree    uint32 = iota
	reqActive         // posted; may be completed by any leader
	reqPending        // active, and a failure that is not acknowledged may be what it waits for (R49)
	reqDone           // err and status are final
)

// phase says how far a send request has come.
type phase uint8

const (
	eagerQueued    phase = iota // its credit is taken, there was no room yet
	announceQueued              // its envelope has not been published yet
	announced                   // its envelope is out; the receiver may grant it
	granted                     // the receiver has matched it: its payload goes out
)

// A Request is one operation under way. It belongs to the engine's slot table
// and is reused: outside, a Handle names it.
type Request struct {
	match.Recv // for receives: what it matches

	kind     reqKind
	wild     bool // receive from any rank
	blocking bool // the caller waits for this one alone: no PENDING (R48)
	detached bool // the caller gave up: free it when it is done
	matched  bool // receive: a rendezvous has begun
	phase    phase
	elem     uint8
	sync     bool
	queued   bool // send: in the peer's push queue
	state    atomic.Uint32
	gen      uint32

	comm   *Comm
	peer   int // world process; -1: any
	tag    int32
	ctx    uint32 // send: the receiver's context
	buf    []byte
	moved  int     // rendezvous: bytes pushed or received
	expect int     // rendezvous: bytes that will be
	remote uint64  // rendezvous: the other side's handle
	direct bool    // send: the receiver may copy it straight from buf
	answer *uint64 // direct: the word in which the receiver answers
	pull   pull    // receive: under way straight from the sender's memory

	err    error
	status Status
	out    ulfm.Outcome
	made   *Comm
	flag   *uint64          // call: where the agreed flag goes
	memory *agreementMemory // call: where it is agreed; nil: by messages
	own    group            // of a wait for this request alone
	waiter *group
	what   string // the operation, for diagnosis

	schedule *Schedule // of a collective by messages
	part     *Schedule // of which this is one message ...
	step     int32     // ... namely this step of its plan
}

// Handle names a request: slot and generation. The zero Handle names none.
type Handle uint64

func (r *Request) handle() Handle { return Handle(uint64(r.gen)<<32 | uint64(r.Slot)) }

func (r *Request) done() bool { return r.state.Load() == reqDone }

// settled says whether a wait for r has something to report.
// Another goroutine may have ended it.
func (r *Request) settled() bool { return r.state.Load() != reqActive }

// active says whether r is not over.
func (r *Request) active() bool {
	s := r.state.Load()
	return s == reqActive || s == reqPending
}

func (r *Request) pending() bool { return r.state.Load() == reqPending }

// setPending says of an active request whether waiting may not help it.
func (r *Request) setPending(yes bool) {
	switch s := r.state.Load(); {
	case yes && s == reqActive:
		r.state.Store(reqPending)
	case !yes && s == reqPending:
		r.state.Store(reqActive)
	}
}

// newRequest returns a fresh active request. The caller holds mu.
func (p *Proc) newRequest(kind reqKind, c *Comm, what string) *Request {
	return p.newRequestAs(reqActive, kind, c, what)
}

// newRequestAs is newRequest for one that may be over already.
func (p *Proc) newRequestAs(state uint32, kind reqKind, c *Comm, what string) *Request {
	var r *Request
	if n := len(p.idle); n > 0 {
		r = p.idle[n-1]
		p.idle = p.idle[:n-1]
	} else {
		r = &Request{}
		r.Slot = uint32(len(p.slots))
		p.slots = append(p.slots, r)
	}
	r.gen++
	if r.gen == 0 {
		r.gen = 1
	}
	r.kind, r.comm, r.what = kind, c, what
	r.wild, r.blocking, r.detached, r.matched, r.sync, r.queued = false, false, false, false, false, false
	r.phase, r.flag = eagerQueued, nil
	r.moved, r.expect, r.remote, r.err, r.status, r.buf = 0, 0, 0, nil, Status{}, nil
	r.made, r.waiter, r.own.one = nil, nil, r
	r.direct, r.pull.open, r.memory = false, false, nil
	r.part, r.schedule = nil, nil
	r.state.Store(state)
	return r
}

// free puts r back. The caller holds mu; r is done.
func (p *Proc) free(r *Request) {
	r.state.Store(reqFree)
	r.comm, r.buf, r.waiter, r.made, r.err = nil, nil, nil, nil, nil
	r.part, r.schedule = nil, nil
	if r.kind == callRequest {
		r.out = ulfm.Outcome{}
	}
	p.idle = append(p.idle, r)
}

// find returns the request of a handle, or nil if it is over.
func (p *Proc) find(h Handle) *Request {
	slot := uint32(h)
	if int(slot) >= len(p.slots) {
		return nil
	}
	r := p.slots[slot]
	if r.gen != uint32(h>>32) || r.state.Load() == reqFree {
		return nil
	}
	return r
}

// named returns the request of a handle that the program still has: one that it
// gave up is inactive for it, though its operation goes on.
func (p *Proc) named(h Handle) *Request {
	if r := p.find(h); r != nil && !r.detached {
		return r
	}
	return nil
}

// complete ends r and wakes whoever waits for it. The caller holds mu.
func (p *Proc) complete(r *Request, err error) {
	if r.done() {
		return
	}
	if r.queued {
		p.unqueue(r)
	}
	if r.direct {
		p.giveBack(r)
	}
	if r.kind == collectiveRequest {
		r.comm.collective = nil
	}
	p.endPull(r)
	if err != nil {
		p.faults.Add(1)
	}
	r.err = err
	r.state.Store(reqDone)
	if r.part != nil {
		p.partOver(r)
		return
	}
	if r.detached {
		p.free(r)
		return
	}
	p.wakeWaiter(r)
}

// unqueue takes a send out of its peer's queue: its slot may soon be another's.
func (p *Proc) unqueue(r *Request) {
	q := &p.peers[r.peer]
	q.pushes = slices.DeleteFunc(q.pushes, func(x *Request) bool { return x == r })
	r.queued = false
	if r.phase == eagerQueued { // never published: the receiver will not return its credit
		q.credit.Untake(match.Charge(len(r.buf)))
	}
}

func (p *Proc) wakeWaiter(r *Request) {
	if g := r.waiter; g != nil {
		g.signal()
	}
	p.stirLeader()
}
