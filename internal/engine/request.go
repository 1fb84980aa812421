package engine

import (
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/shm/nodemem"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// Status is the result of a receive.
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
	oneSidedRequest   // an answer of a window's member
)

const (
	reqFree    uint64 = iota
	reqActive         // posted; may be completed by any leader
	reqPending        // active, and perhaps waiting in vain because of an unacknowledged failure (R49)
	reqDone           // err and status are final
)

// A Request is one operation under way. It belongs to the engine's slot table and is reused:
// outside, a Handle names it. The fields that every message needs are in the first four cache
// lines.
type Request struct {
	match.Recv // for receives: the match criteria

	marks
	gen    uint32
	state  uint64 // read without mu too
	comm   *Comm
	peer   int    // world process; -1: any
	waiter *group // that follows
	err    error

	buf    []byte
	status Status
	part   *Schedule // of which this is one message ...
	step   int32     // ... namely this step of its plan
	tag    int32
	ctx    uint32 // send: the receiver's context

	sending   rendezvous.Send // of a long message; unused: it waits for room
	receiving rendezvous.Recv // once a long message has matched

	what   string  // the operation, for diagnosis
	answer *uint64 // direct: the word in which the receiver answers
	pull   pull    // pulling: where

	own    group // of a wait for this request alone
	out    commstate.Outcome
	made   *Comm
	memory *nodemem.Series // call: where it is agreed; nil: by messages

	flag *uint64 // call: where the agreed flag is stored

	schedule *Schedule // of a collective by messages
}

// marks is the initial part of a request: all but its kind unset.
type marks struct {
	kind     reqKind
	elem     uint8
	sync     bool
	wild     bool // receive from any rank
	blocking bool // the caller waits for this one alone: no PENDING (R48)
	detached bool // the caller gave up: free it when it is done
	queued   bool // send: in the peer's push queue
	direct   bool // send: the receiver may copy it straight from buf
	pulling  bool // receive: under way straight from the sender's memory
}

// Handle names a request: slot and generation. The zero Handle names none.
type Handle uint64

func (r *Request) handle() Handle { return Handle(uint64(r.gen)<<32 | uint64(r.Slot)) }

func (r *Request) done() bool { return atomic.LoadUint64(&r.state) == reqDone }

// settled reports whether a wait for r has something to report. Another goroutine may have ended r.
func (r *Request) settled() bool { return atomic.LoadUint64(&r.state) != reqActive }

// active reports whether r is not over.
func (r *Request) active() bool {
	s := atomic.LoadUint64(&r.state)
	return s == reqActive || s == reqPending
}

func (r *Request) pending() bool { return atomic.LoadUint64(&r.state) == reqPending }

// awaitsPeer reports whether r, in the normal case, next needs a frame of its peer: a message, or
// an answer.
func (r *Request) awaitsPeer(me int) bool {
	switch r.kind {
	case recvRequest:
		return !r.receiving.HasMatched() && r.peer >= 0 && r.peer != me
	case oneSidedRequest:
		return true
	}
	return false
}

// setPending sets whether an active request may wait in vain.
func (r *Request) setPending(yes bool) {
	switch s := atomic.LoadUint64(&r.state); {
	case yes && s == reqActive:
		atomic.StoreUint64(&r.state, reqPending)
	case !yes && s == reqPending:
		atomic.StoreUint64(&r.state, reqActive)
	}
}

// newRequest returns a fresh active request. The caller holds mu.
func (p *Proc) newRequest(kind reqKind, c *Comm, what string) *Request {
	return p.newRequestAs(reqActive, kind, c, what)
}

// newRequestAs is newRequest for one that may be over already. Nobody else knows it
// yet: its state needs no atomic store.
func (p *Proc) newRequestAs(state uint64, kind reqKind, c *Comm, what string) *Request {
	r := p.idleRequest()
	if r.gen++; r.gen == 0 {
		r.gen = 1
	}
	r.marks = marks{kind: kind}
	r.comm, r.what, r.state = c, what, state
	if state == reqActive && kind != callRequest {
		c.underWay++
	}
	return r
}

// idleRequest returns a request that is not in use: blank, as free leaves it.
func (p *Proc) idleRequest() *Request {
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r
	}
	r := &Request{}
	r.Slot, r.own.one = uint32(len(p.slots)), r
	p.slots = append(p.slots, r)
	return r
}

// free puts r back. The caller holds mu; r is done, and nobody waits for it any more.
func (p *Proc) free(r *Request) {
	r.state, r.comm, r.buf, r.waiter, r.err = reqFree, nil, nil, nil, nil
	r.status, r.part = Status{}, nil
	switch r.kind {
	case scheduleRequest:
		r.schedule = nil
	case callRequest:
		r.out, r.made, r.flag, r.memory = commstate.Outcome{}, nil, nil, nil
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
	if r.gen != uint32(h>>32) || atomic.LoadUint64(&r.state) == reqFree {
		return nil
	}
	return r
}

// named returns the request of a handle that the program still has. A handle that was given up is
// inactive for the program, though its operation continues.
func (p *Proc) named(h Handle) *Request {
	if r := p.find(h); r != nil && !r.detached {
		return r
	}
	return nil
}

// complete ends r and wakes its waiter. The caller holds mu.
func (p *Proc) complete(r *Request, err error) {
	if r.done() {
		return
	}
	if r.queued {
		p.unqueue(r)
	}
	if r.direct {
		p.transfers.giveBack(r)
	}
	if r.kind == collectiveRequest {
		r.comm.collective = nil
	}
	p.transfers.endPull(r)
	p.transfers.giveUp(r)
	p.end(r, err)
}

// end is complete for a request that holds nothing but its place.
func (p *Proc) end(r *Request, err error) {
	if err != nil {
		p.faults.Add(1)
		r.err = err
	}
	if r.kind != callRequest {
		r.comm.underWay--
	}
	publish.Word(&r.state, reqDone) // see leaderMustPoll
	switch {
	case r.part != nil:
		p.schedules.partOver(r)
	case r.detached:
		p.free(r)
	default:
		p.wakeWaiter(r)
	}
}

// unqueue takes a send out of its peer's queue: its slot may soon be another's.
func (p *Proc) unqueue(r *Request) {
	q := p.peers.At(r.peer)
	q.pushes = slices.DeleteFunc(q.pushes, func(x *Request) bool { return x == r })
	r.queued = false
	if !r.sending.IsUsed() && r.class() != OneSided { // never published: the receiver will not return its credit
		q.credit.Untake(match.Charge(len(r.buf)))
	}
}

func (p *Proc) wakeWaiter(r *Request) {
	if r.waiter != nil {
		r.waiter.signal()
	}
	p.leads.stir()
}
