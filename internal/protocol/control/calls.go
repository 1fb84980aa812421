package control

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// propose takes part in an agreement, or answers at once if the call cannot begin one.
func (c *Control) propose(ev Propose) {
	must.That(ev.Call.Kind != commstate.KindFinalize || ev.Comm == c.world, "finalize on communicator %d", ev.Comm)
	cm := c.comm.live(ev.Comm)
	switch {
	case cm == nil || cm.Closing() && !ev.Entered:
		c.refuse(ev, commstate.ErrFreed)
		return
	case cm.IsRevoked() && ev.Call.Kind.Series() == commstate.SeriesCreate:
		c.refuse(ev, ulfm.ErrRevoked)
		return
	}
	if ev.Call.Kind.Gathers() {
		c.gather(cm, ev)
		return
	}
	if ev.Call.Kind == commstate.KindFinalize {
		c.beginEnding(ev)
		return
	}
	c.contribute(cm, ev)
}

// contribute adds this process's contribution to an agreement on cm.
func (c *Control) contribute(cm *communicator, ev Propose) {
	p := commstate.Propose{Token: ev.Token, Call: ev.Call, Flag: ev.Flag, Veto: ev.Veto, Color: ev.Color, Key: ev.Key, Digest: ev.Digest, Spawned: ev.Spawned, Ranks: ev.Ranks, Entered: ev.Entered}
	if ev.Call.DrawsIndex() && !ev.Veto {
		p.Index = c.comm.draw(cm)
		c.comm.at(p.Index).wait.spawns = ev.Call.Kind.Starts()
		if c.cfg.Prepare != nil && blockOf(p.Index, c.cfg.Blocks) >= 0 {
			c.cfg.Prepare(p.Index)
		}
		c.act(Reserved{Index: p.Index, Parent: cm.visible().index()})
	}
	c.step(cm, p)
}

// decide ends a call. The agreed deaths are declared first, so that a caller that gets the result
// can ask for the failed members (R31). If this process is among the agreed dead, the process is
// fenced and has no result.
func (c *Control) decide(cm *communicator, d commstate.Decide) {
	c.agreeDead(cm, d.Value.Dead)
	if c.fenced {
		return
	}
	p := d.Proposal
	if p.Series == commstate.SeriesClose {
		c.lastPoll(cm)
	}
	out := cm.Group().Outcome(p, d.Value)
	if p.Call.Kind.Ends() && out.Err != nil {
		out.Err = commstate.Mismatch(p.Call, d.Value, c.worldRank(cm))
	}
	if errors.Is(out.Err, ulfm.ErrRevoked) && !p.GivenUp {
		c.revokeAtOnce(cm)
	}
	if out.New != nil && (!c.drew(p) || out.New.Index != p.Index) {
		// This process did not contribute this index: no correct member decides that.
		out.New, out.Err = nil, commstate.ErrMismatch
	}
	switch {
	case p.Series == commstate.SeriesClose:
		c.decided(cm, p, out)
		c.close(cm, d)
	case out.New != nil && p.GivenUp:
		c.stayAway(*out.New)
		c.forgetIndex(p, grave{torn: true})
	case out.New != nil:
		c.decided(cm, p, out)
		c.enliven(origin{parent: cm, series: p.Series, seq: p.Seq}, *out.New)
	default:
		c.decided(cm, p, out)
		c.forgetIndex(p, grave{})
	}
}

// lastPoll adopts the visible decisions of other members in shared memory before the communicator
// is forgotten. With messages, a member that asks this process later gets the answer "closed". In
// memory no member asks:
//
//	0 and 1 dup, and close without waiting for the dup. 0 decides the dup; 1 does not
//	poll before the closing ends: 0 would wait on the duplicate for ever.
func (c *Control) lastPoll(cm *communicator) {
	for _, a := range slices.Clone(cm.Step(commstate.Look{})) {
		c.carryOut(cm, a)
	}
}

// revokeAtOnce revokes cm before anything else happens, so that no call ends with "revoked" on a
// communicator that is not revoked here (R15). The member from which this process learnt of the
// revocation may have died before its flood was sent, so this process spreads the revocation, too.
func (c *Control) revokeAtOnce(cm *communicator) {
	for _, a := range slices.Clone(cm.Step(commstate.Revoke{})) {
		c.carryOut(cm, a)
	}
}

func (c *Control) agreeDead(cm *communicator, ranks rankset.Set) {
	var procs rankset.Set
	for rank := range ranks.All() {
		procs.Add(cm.Group().Procs[rank])
	}
	if !procs.IsEmpty() {
		c.stepDetector(fd.Agreed{Dead: procs})
	}
}

func (c *Control) decided(cm *communicator, p commstate.Proposal, out commstate.Outcome) {
	switch {
	case p.GivenUp:
	case p.Call.Kind.Ends():
		c.placeDecided(cm, p, out.Err)
	case cm.hidden != nil:
		c.agreedOn(cm, p, out)
	default:
		c.act(Decided{Comm: cm.index(), Token: p.Token, Outcome: out})
	}
}

// answer ends a call without a decision.
func (c *Control) answer(cm *communicator, p commstate.Proposal, class error) {
	if p.Call.Kind.Ends() {
		c.placeDecided(cm, p, class)
		return
	}
	err := &ulfm.Error{Op: p.Call.Kind.String(), Err: class}
	out := commstate.Outcome{Seq: p.Seq, Call: p.Call, Err: err}
	if cm.hidden != nil {
		c.agreedOn(cm, p, out)
		return
	}
	c.act(Decided{Comm: cm.index(), Token: p.Token, Outcome: out})
}

func (c *Control) refuse(ev Propose, class error) {
	err := &ulfm.Error{Op: ev.Call.Kind.String(), Err: class}
	c.act(Decided{Comm: ev.Comm, Token: ev.Token, Outcome: commstate.Outcome{Call: ev.Call, Err: err}})
}

// forgetIndex drops the index of a call that made no communicator here.
func (c *Control) forgetIndex(p commstate.Proposal, g grave) {
	if c.drew(p) {
		c.forget(p.Index, g)
	}
}

// drew reports whether an index was drawn for a call and is still pending.
func (c *Control) drew(p commstate.Proposal) bool {
	return p.Call.DrawsIndex() && !p.Vetoed && c.comm.state(p.Index) == Pending
}

// enliven makes a pending index a communicator and delivers the held frames: first revocations,
// also from members that died meanwhile; then the deaths known here, in the order of declaration,
// and the departures; then the other frames in order of arrival, without the frames of the dead
// (A6).
func (c *Control) enliven(from origin, g commstate.Group) *communicator {
	wait := c.comm.at(g.Index).wait
	cm := c.newCommunicator(g, from)
	c.comm.put(g.Index, entry{state: Live, comm: cm})
	c.release(cm, wait.held, true)
	if c.early.take(g) {
		c.step(cm, commstate.Revoke{})
	}
	for _, proc := range c.seen {
		c.tellDeath(cm, proc)
		c.compareDue = true
	}
	for proc := range c.left.All() {
		c.tellLeft(cm, proc)
	}
	for _, proc := range wait.absent {
		c.missing(cm, proc)
	}
	c.release(cm, wait.held, false)
	return cm
}

func (c *Control) release(cm *communicator, held []heldFrame, revocations bool) {
	for _, h := range held {
		_, belongs := cm.rank(h.proc)
		dead := c.dead.Has(h.proc)
		switch isRevoke := h.part == commstate.PartRevoke; {
		case isRevoke != revocations, dead && !isRevoke:
		case dead && !belongs:
			// The sender had decided the call otherwise, with others that are all dead (A17). Its
			// frame belongs to the communicator that they had.
		default:
			if err := c.give(cm, h.proc, h.memberFrame); err != nil {
				c.anomaly(h.proc, err.Error())
			}
		}
	}
}

// close forgets a communicator. All its live members have proposed to close, so none of them waits
// in a call on the communicator. Calls that are still open here were given up by their callers, and
// are nevertheless answered exactly once. After Finalize the same holds for every communicator of
// the process.
func (c *Control) close(cm *communicator, d commstate.Decide) {
	if d.Proposal.Call.Kind == commstate.KindFinalize {
		for other := range c.comm.comms() {
			if other != cm {
				c.dismiss(other)
			}
		}
	}
	c.dismiss(cm)
	c.forgetPending(cm)
	g := grave{ended: true, orphans: append(commstate.Orphans(d.Value), cm.orphans...)}
	for rank := range d.Tell.All() {
		peer := cm.Group()
		c.send(peer.Procs[rank], closedNote{to: peer.Indices[rank], ended: true, orphans: g.orphans}.append(nil))
	}
	c.forget(cm.index(), g)
	c.parted(cm, g.orphans)
}

// forgetPending drops the indices of calls on a communicator that is forgotten.
func (c *Control) forgetPending(cm *communicator) {
	for i, s := range c.comm.all() {
		if s.state == Pending && s.wait.parent == cm {
			c.forget(i, grave{torn: true})
		}
	}
}

func (c *Control) forget(index uint32, g grave) {
	c.comm.free(index, g)
	c.letGoDue = true
	if index < firstHidden {
		c.act(Forgotten{Index: index})
	}
}

// dismiss answers every call that is open on cm.
func (c *Control) dismiss(cm *communicator) {
	for _, a := range slices.Clone(cm.Step(commstate.Dismiss{})) {
		c.carryOut(cm, a)
	}
	c.scatter(cm, commstate.ErrFreed)
}

// parted handles the closing of parent by members that had given up creations: the communicators
// that these creations made lack these members.
func (c *Control) parted(parent *communicator, orphans []commstate.Orphan) {
	for _, o := range orphans {
		if o.Rank >= len(parent.Group().Procs) {
			continue
		}
		for cm := range c.comm.comms() {
			if cm.birth == (origin{parent, commstate.SeriesCreate, o.Seq}).birth() {
				c.missing(cm, parent.Group().Procs[o.Rank])
			}
		}
	}
}

// stayAway notifies the members of a communicator that this process will not join: a revocation had
// answered its call.
func (c *Control) stayAway(g commstate.Group) {
	for rank, proc := range g.Procs {
		if rank != g.Me {
			c.send(proc, closedNote{to: g.Indices[rank]}.append(nil))
		}
	}
}

// missing handles a member of cm that never joined cm. The communicator is of little use without
// this member and is revoked. No call may wait for the member, nor may an agreement. The revocation
// comes first, because an agreement that ends without the member may end in "revoked" (R15).
func (c *Control) missing(cm *communicator, proc int) {
	if rank, belongs := cm.rank(proc); belongs {
		c.step(cm, commstate.Revoke{})
		c.step(cm, commstate.Left{Rank: rank})
	}
}

// leave notes that a process returned from Finalize. The finalize agreement had decided at that
// process, so every live process has proposed to finalize, and the agreement may end here too. No
// process may wait for a process that has left:
//
//	P decides and leaves; its decision reaches C, which is killed before it
//	forwards it; D would ask P for ever.
//
// Other agreements do not wait for the process either, but never count it as dead.
//
// A process that has not proposed to finalize learns from a departure that it was declared dead,
// because the others ended without it. A departure may be its only notice: a process that was
// stopped for a long time may continue when all others have left (A2).
func (c *Control) leave(proc int) {
	if proc == c.cfg.Me || c.dead.Has(proc) || !c.left.Add(proc) {
		return // a process that was declared dead here and left elsewhere has ended without us
	}
	if !c.finalizing {
		c.fence(fmt.Sprintf("process %d finalized by an agreement without this one, which was declared dead", proc))
		return
	}
	c.stepDetector(fd.Left{Rank: proc})
	if world := c.comm.live(c.world); world != nil {
		c.step(world, commstate.Ended{})
	}
	for cm := range c.comm.comms() {
		c.tellLeft(cm, proc)
	}
}

func (c *Control) tellLeft(cm *communicator, proc int) {
	if rank, belongs := cm.rank(proc); belongs {
		c.step(cm, commstate.Left{Rank: rank})
	}
}

// peerClosed handles the note of a member that has closed a communicator or never joined it. If the
// closing agreement has decided at that member, the agreement may end here too: all live members
// have proposed to close.
func (c *Control) peerClosed(from int, n closedNote) error {
	switch c.comm.state(n.to) {
	case Pending:
		if w := c.comm.at(n.to).wait; !n.ended && !slices.Contains(w.absent, from) {
			w.absent = append(w.absent, from)
		}
	case Live:
		cm := c.comm.live(n.to)
		if _, belongs := cm.rank(from); !belongs {
			return errNoMember(n.to, from)
		}
		switch {
		case !n.ended:
			c.missing(cm, from)
		case cm.Closing():
			cm.orphans = n.orphans
			c.step(cm, commstate.Ended{})
		}
	case Absent:
		return fmt.Errorf("a closing of context index %d, which was never drawn", n.to)
	}
	return nil
}
