package engine

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/inquiry"
	"github.com/goulfm/goulfm/ulfm"
)

// ErrEnded ends a call that waits for a member in Finalize.
var ErrEnded = fmt.Errorf("%w: the awaited member is in Finalize and sends nothing more", ErrFinalized)

// ask sends the question to the members that the process waits for. The caller holds mu.
func (ld *leadership) ask() {
	var asked rankset.Set
	for _, r := range ld.p.slots {
		if !r.awaitsMessages() {
			continue
		}
		for _, proc := range r.awaited() {
			if !asked.Has(proc) {
				asked.Add(proc)
				ld.p.links.sendControl(proc, []byte{inquiry.Kind})
			}
		}
	}
	ld.p.links.pushOn()
}

// awaitsMessages reports whether a request waits for other members' messages or lines.
func (r *Request) awaitsMessages() bool {
	return r.active() && r.part == nil && (r.kind == recvRequest && !r.receiving.HasMatched() || r.kind == scheduleRequest || r.kind == collectiveRequest)
}

// awaited returns the processes that could end the wait of such a request.
func (r *Request) awaited() (procs []int) {
	ranks := r.comm.p.waitsFor(r)
	for rank, proc := range r.comm.group.Procs {
		if proc != r.comm.p.me && !r.comm.p.isDead(proc) && (r.kind == recvRequest && r.peer == Any || slices.Contains(ranks, rank)) {
			procs = append(procs, proc)
		}
	}
	return procs
}

// answer answers a question, if this process is in Finalize and has nothing more to send.
func (e *ending) answer(to int) {
	if e.busy && len(e.p.peers.At(to).pushes) == 0 {
		e.p.trySend(to, &transport.Header{Kind: transport.Eager, Ctx: dataContext(0, inOrder)}, nil)
	}
}

// answered ends the calls that wait for a member in Finalize. The caller has handled all earlier
// frames of the member.
func (ld *leadership) answered(from int) {
	for _, r := range ld.p.slots {
		if !r.awaitsMessages() {
			continue
		}
		procs := r.awaited()
		all := ld.inquiry.Answered(from, procs)
		switch {
		case !slices.Contains(procs, from) || r.peer == Any && r.kind == recvRequest && !all:
		case r.kind == scheduleRequest:
			r.schedule.fail(ended(r.comm, from))
		case r.kind == collectiveRequest:
			r.comm.coll.Abandon()
			ld.p.complete(r, ended(r.comm, from))
		default:
			ld.p.match.Withdraw(&r.Recv) // a probe is not posted
			ld.p.complete(r, ErrEnded)
		}
	}
}

// ended is the error of a collective for which a process is missing.
func ended(c *Comm, proc int) error {
	return &ulfm.Error{Ranks: []int{c.RankOf(proc)}, Err: ErrEnded}
}
