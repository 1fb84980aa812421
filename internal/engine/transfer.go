package engine

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A large message between two processes of a node is copied straight from one memory to the other,
// and both of them copy: the receiver units from the front, the sender units from the back, each
// claimed by one addition. A process outside a call does not help, and need not. The account
// (segment.Transfer) lies with the sender.
//
//	sender:   Live = handle, Claims = the receiver's first unit; announces {handle, address, account}
//	receiver: matches; Addr, Limit, Answer = 2*handle; claims and copies units
//	sender:   sees the answer; claims and copies units; counts them in Pushed
//	receiver: all units are copied: Answer = 2*handle + 1; its receive is complete
//	sender:   sees that; its send is complete
//
// A death: a process that dies leaves its claimed unit open; the other learns of the death and
// fails the message like any other. Nobody waits for a second store of the dead. But a receive
// waits until no thread of a dead sender is left that may be copying a unit that it has claimed:
// the death is known when the first thread of the sender has ended, and another one may be in the
// kernel, writing into the buffer of the receive (R66). The launcher marks reaped processes, some
// 100 us later.
//
// A sender whose buffer is its program's again before that (a revocation, a request given up)
// changes Live. The receiver checks Live after it has copied, so it never takes overwritten bytes
// for a message: it requests the message through the rings, and is notified if the message is gone.
//
// A receiver that gives up first closes the claims. If the sender is just writing a unit, the
// receive ends after that: its buffer is the program's again only when nobody writes there (R66).

// turnUnits is how many units a side copies before it makes progress on everything else.
const turnUnits = 4

// claimsClosed is added to the receiver's claims to end them; more than any message
// has units.
const claimsClosed = 1 << 31

// transfers is the service of such messages.
type transfers struct {
	p        *Proc
	accounts []int // free ones
	pushing  []push
	pulls    []*Request // receives that are copied
}

func (ts *transfers) noteBusy() {
	ts.p.busy.set(servesTransfers, len(ts.pushing)+len(ts.pulls) > 0)
}

func (ts *transfers) progress() bool {
	did := ts.pullUnits()
	return ts.pushUnits() || did
}

func (ts *transfers) peerDied(proc int) {
	ts.dropPushes(func(t *push) bool { return t.peer == proc })
}

func (ts *transfers) commEnded(*Comm) {}

func (ts *transfers) waitsFor(*Request) ([]int, bool) { return nil, false }

// A pull is the receiver's side of a transfer.
type pull struct {
	acc    segment.Transfer
	addr   uint64 // of the message at the sender
	pulled int    // units copied here
	spent  bool   // all units are claimed
	theirs int    // spent: units that the sender has claimed
	err    error  // the receive fails with this, once the sender is out of its buffer
	rings  bool   // it continues through the rings then
}

// A push is the sender's record of an account in use. A push outlives its request: the account is
// free again only when the receiver no longer needs it.
type push struct {
	handle  Handle
	account int
	peer    int
	acc     segment.Transfer
	pushed  int  // units copied here
	spent   bool // nothing is left to claim
}

// answered returns the value that a receiver stores when it begins; at the end it stores one more.
func answered(h Handle) uint64 { return 2 * uint64(h) }

// open gives a send an account, if there is a free one.
func (ts *transfers) open(r *Request) {
	if ts.p.port == nil || len(r.buf) <= transport.EagerMax || !ts.p.port.Direct(r.peer) || len(ts.accounts) == 0 {
		return
	}
	last := len(ts.accounts) - 1
	acc, ok := ts.p.port.Transfer(ts.p.me, ts.accounts[last])
	must.That(ok, "no account %d", ts.accounts[last])
	segment.Put64(acc.Pushed, 0)
	segment.Put64(acc.Unable, 0)
	segment.Put64(acc.Claims, 1) // the receiver's first
	segment.Put64(acc.Live, uint64(r.handle()))
	r.direct, r.answer = true, acc.Answer
	ts.pushing = append(ts.pushing, push{handle: r.handle(), account: ts.accounts[last], peer: r.peer, acc: acc})
	ts.accounts = ts.accounts[:last]
	ts.noteBusy()
}

func (ts *transfers) pushOf(r *Request) int {
	return slices.IndexFunc(ts.pushing, func(t push) bool { return t.handle == r.handle() })
}

// closePush frees an account. Its receiver will not touch the account again.
func (ts *transfers) closePush(i int) {
	segment.Store64(ts.pushing[i].acc.Live, 0)
	ts.accounts = append(ts.accounts, ts.pushing[i].account)
	ts.pushing = slices.Delete(ts.pushing, i, i+1)
	ts.noteBusy()
}

// dropPushes frees the accounts of messages that their receiver will never touch:
// they were taken back or refused, or the receiver is dead.
func (ts *transfers) dropPushes(gone func(*push) bool) {
	for i := len(ts.pushing) - 1; i >= 0; i-- {
		if gone(&ts.pushing[i]) {
			ts.closePush(i)
		}
	}
}

func (ts *transfers) dropPush(h uint64) {
	ts.dropPushes(func(t *push) bool { return t.handle == Handle(h) })
}

// giveBack ends the direct copy of a send whose buffer is its program's again. If the receiver has
// learned of the send, the account stays in use: the receiver may be using it.
func (ts *transfers) giveBack(r *Request) {
	if i := ts.pushOf(r); r.sending.IsQueued() {
		ts.closePush(i)
	} else {
		segment.Store64(ts.pushing[i].acc.Live, 0)
	}
	r.direct = false
}

// pushUnits lets senders do their part, and reports whether anything happened.
func (ts *transfers) pushUnits() bool {
	did := false
	for i := len(ts.pushing) - 1; i >= 0; i-- {
		if i < len(ts.pushing) {
			did = ts.pushStep(i) || did
		}
	}
	return did
}

// pushStep does the sender's part of one transfer.
func (ts *transfers) pushStep(i int) bool {
	t := &ts.pushing[i]
	switch segment.Load64(t.acc.Answer) {
	case answered(t.handle) + 1:
		r := ts.p.find(t.handle)
		ts.closePush(i)
		if r != nil {
			r.direct = false
			ts.p.complete(r, nil)
		}
		return true
	case answered(t.handle):
		if r := ts.p.find(t.handle); r != nil && r.direct && !t.spent {
			r.sending.Pulled()
			ts.pushSome(r, t)
			return true
		}
	}
	return false
}

// step continues with the transfer of a request, and reports whether anything happened.
func (ts *transfers) step(r *Request) bool {
	switch {
	case r.pulling:
		return ts.pullSome(r)
	case r.direct:
		i := ts.pushOf(r)
		return i >= 0 && ts.pushStep(i)
	}
	return false
}

// pushSome copies units from the back into the receiver's buffer.
func (ts *transfers) pushSome(r *Request, t *push) {
	addr, limit := segment.Load64(t.acc.Addr), segment.Load64(t.acc.Limit)
	if addr == 0 || limit == 0 || limit > uint64(len(r.buf)) {
		t.spent = true
		return
	}
	unit, units := segment.Units(int(limit))
	for range turnUnits {
		claims := segment.Add64(t.acc.Claims, 1<<32)
		front, back := claims&(1<<32-1), claims>>32
		if front+back > uint64(units) {
			t.spent = true
			return
		}
		lo := (units - int(back)) * unit
		hi := min(lo+unit, int(limit))
		// A process that departed may have given its number to another.
		if ts.p.node.Epoch() != ts.p.epochSeen.Load() || ts.p.port.WriteTo(t.peer, r.buf[lo:hi], addr+uint64(lo)) != nil {
			segment.Store64(t.acc.Unable, uint64(t.handle))
			t.spent = true
		} else {
			t.pushed++
			segment.Store64(t.acc.Pushed, uint64(t.pushed))
		}
		ts.p.node.Notify(t.peer, park.Caller|park.Background)
		if t.spent {
			return
		}
	}
}

// pullFrom begins the receiver's side, and returns false where the rings must be used.
func (ts *transfers) pullFrom(r *Request, from int, handle, addr uint64, account int) bool {
	if addr == 0 || ts.p.port == nil || !ts.p.port.Direct(from) {
		return false
	}
	acc, ok := ts.p.port.Transfer(from, account)
	if !ok {
		return false
	}
	r.pull, r.pulling = pull{acc: acc, addr: addr}, true
	if n := r.receiving.Limit(); n > 0 {
		dst := uint64(0)
		if !ts.p.fences() { // a process that is declared dead and lives must not write here
			dst = segment.AddressOf(r.buf)
		}
		segment.Put64(acc.Addr, dst)
		segment.Put64(acc.Limit, uint64(n))
		segment.Store64(acc.Answer, answered(Handle(handle)))
	}
	ts.pulls = append(ts.pulls, r)
	ts.noteBusy()
	ts.pullSome(r)
	return true
}

// pullUnits lets receivers do their part, and reports whether anything happened.
func (ts *transfers) pullUnits() bool {
	did := false
	for i := len(ts.pulls) - 1; i >= 0; i-- {
		if i < len(ts.pulls) { // one that ended may have taken others with it
			did = ts.pullSome(ts.pulls[i]) || did
		}
	}
	return did
}

// pullSome copies units from the front, and ends the receive when all are copied.
func (ts *transfers) pullSome(r *Request) bool {
	t := &r.pull
	size := r.receiving.Limit()
	unit, units := segment.Units(size)
	did := false
	for turn := 0; turn < turnUnits && !t.spent && t.pulled < units; turn++ {
		did = true
		if t.pulled > 0 {
			claims := segment.Add64(t.acc.Claims, 1)
			if front, back := claims&(1<<32-1), claims>>32; front+back > uint64(units) {
				t.spent, t.theirs = true, units-t.pulled
				break
			}
		}
		if !ts.pullUnit(r, t.pulled*unit, min(t.pulled*unit+unit, size)) {
			return true
		}
		t.pulled++
	}
	if t.pulled == units && !t.spent {
		t.spent = true
	}
	if t.spent {
		return ts.pullLast(r) || did
	}
	return did
}

// pullUnit copies bytes lo to hi. If the kernel refuses pullUnit returns false, and the rings do
// the rest.
func (ts *transfers) pullUnit(r *Request, lo, hi int) bool {
	for lo < hi {
		n := min(hi-lo, segment.RemoteMax)
		if err := ts.p.port.ReadFrom(r.peer, r.buf[lo:lo+n], r.pull.addr+uint64(lo)); err != nil {
			ts.p.port.Indirect(r.peer)
			ts.askRings(r)
			return false
		}
		lo += n
	}
	return true
}

// askRings gives up copying directly and asks for the message through the rings, as soon as
// the sender is out of the buffer.
func (ts *transfers) askRings(r *Request) {
	r.pull.rings = true
	r.closeClaims()
	ts.pullLast(r)
}

// closeClaims lets neither side claim any more units.
func (r *Request) closeClaims() {
	t := &r.pull
	if t.spent {
		return
	}
	back := int(segment.Add64(t.acc.Claims, claimsClosed) >> 32)
	_, units := segment.Units(r.receiving.Limit())
	t.spent, t.theirs = true, min(back, units-max(t.pulled, 1))
}

// senderIsOut reports whether the sender no longer writes into the buffer of a receive, once all
// units are claimed: it has written its claimed units, or cannot, or none of its threads is left.
func (ts *transfers) senderIsOut(r *Request) bool {
	t := &r.pull
	return segment.Load64(t.acc.Pushed) >= uint64(max(t.theirs, 0)) || segment.Load64(t.acc.Unable) == r.receiving.Send() || ts.hasEnded(r.peer)
}

// hasEnded reports whether a process is dead and no thread of it is left.
func (ts *transfers) hasEnded(proc int) bool {
	return ts.p.isDead(proc) && ts.p.node.HasEnded(proc)
}

// pullLast ends the receive, or its direct copy, once the units that the sender has claimed are
// copied. The result is true if it did.
func (ts *transfers) pullLast(r *Request) bool {
	t := &r.pull
	if !ts.senderIsOut(r) {
		return false
	}
	size, send := r.receiving.Limit(), r.receiving.Send()
	switch unit, _ := segment.Units(size); {
	case t.err != nil:
		err := t.err
		ts.finishPull(r)
		ts.p.complete(r, err)
	case t.rings:
		ts.endPull(r)
		ts.grant(r)
	case segment.Load64(t.acc.Unable) == send && !ts.pullUnit(r, t.pulled*unit, size):
	case segment.Load64(t.acc.Live) != send: // the sender had its buffer back meanwhile
		ts.askRings(r)
	default:
		ts.finishPull(r)
		ts.p.complete(r, r.err)
	}
	return true
}

// finishPull notifies the sender that it is not needed any more.
func (ts *transfers) finishPull(r *Request) {
	segment.Store64(r.pull.acc.Answer, answered(Handle(r.receiving.Send()))+1)
	ts.p.node.Notify(r.peer, park.Caller|park.Background)
	ts.endPull(r)
}

func (ts *transfers) endPull(r *Request) {
	if !r.pulling {
		return
	}
	r.pulling = false
	ts.pulls = slices.DeleteFunc(ts.pulls, func(x *Request) bool { return x == r })
	ts.noteBusy()
}

// failPull ends a receive that is being copied, because the sender is dead or for a reason of this
// side. If the sender may still be writing into the buffer failPull returns false, and the receive
// ends after that.
func (ts *transfers) failPull(r *Request, err error) bool {
	t := &r.pull
	if t.err != nil {
		return false
	}
	r.closeClaims()
	if ts.senderIsOut(r) {
		ts.finishPull(r)
		return true
	}
	t.err = err
	return false
}

// fail ends a request that was under way: a receive that a sender is just writing
// into ends a little later.
func (p *Proc) fail(r *Request, err error) {
	if r.done() {
		return
	}
	if r.kind == collectiveRequest {
		r.comm.endCollective(err)
		return
	}
	if r.kind == scheduleRequest {
		r.schedule.fail(err)
		return
	}
	if r.pulling && !p.transfers.failPull(r, err) {
		return
	}
	p.complete(r, err)
}

// attention reports whether a transfer waits for this process. The process calls attention before
// it sleeps, without mu.
func (ts *transfers) attention() bool {
	ts.p.mu.Lock()
	defer ts.p.mu.Unlock()
	for _, r := range ts.pulls {
		t := &r.pull
		if !t.spent || ts.senderIsOut(r) {
			return true
		}
	}
	for i := range ts.pushing {
		t := &ts.pushing[i]
		a := segment.Load64(t.acc.Answer)
		if a == answered(t.handle)+1 || a == answered(t.handle) && !t.spent {
			return true
		}
	}
	return false
}

// watchTransfer returns the word to poll for a request whose message is copied directly, and its
// next value; nil: none.
func (r *Request) watchTransfer() (word *uint64, want uint64) {
	switch {
	case r.pulling && r.pull.spent:
		return r.pull.acc.Pushed, uint64(r.pull.theirs)
	case r.direct && !r.sending.HasMatched():
		return r.answer, answered(r.handle())
	case r.direct:
		return r.answer, answered(r.handle()) + 1
	}
	return nil, 0
}
