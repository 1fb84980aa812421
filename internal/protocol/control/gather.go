package control

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// gatheringsMax bounds the gatherings that are open here on one communicator. A peer cannot end a
// gathering before this process has taken up its invitation, so the constant also bounds the
// invitations that are kept for one peer.
const gatheringsMax = 16

// A gathering is a call that only some members of a communicator make. They have no agreement of
// their own, and the others take no part in one. So the callers first make a communicator without
// an agreement: each caller draws an index without a block, and sends the index to the others in an
// invitation. Once each member's index or death is known, the communicator opens here, hidden from
// the program, and the members agree there on the call like on any creation. A member that died
// before has contributed nothing, and the call fails at all members alike. Then the hidden
// communicator is closed.
//
// A revocation of the parent ends the call, whether the hidden communicator is open here or not. A
// member cannot know that the hidden communicator is open elsewhere, and must not have to wait:
//
//	0, 1 and 2 gather. 0 has both invitations and opens; 1 has none from 2 when
//	it learns of a revocation, and is done. 0 waits for a contribution of 1.
//
// So 1 notifies the members whose invitations it has that it does not take part (closedNote), and
// sends the same answer to later invitations. 0 then revokes the parent, too (revokeParent).
type gathering struct {
	parent  *communicator
	ev      Propose
	uid     commstate.UID
	index   uint32        // drawn here, for the hidden communicator
	procs   []int         // the members, ascending
	indices []uint32      // the index that each member has drawn
	known   []bool        // whether that index is known here
	hidden  *communicator // nil until it is open
}

// An invitation is the message of one member of a gathering to this process.
type invitation struct {
	proc  int
	uid   commstate.UID
	index uint32 // the index that proc has drawn
}

func (v invitation) append(dst []byte) []byte {
	return wire.AppendUint(append(dst, v.uid[:]...), uint64(v.index))
}

func readInvitation(proc int, msg []byte) (invitation, error) {
	v := invitation{proc: proc}
	if len(msg) < len(v.uid) {
		return v, errors.New("an invitation that is too short")
	}
	v.uid = commstate.UID(msg)
	r := wire.NewReader(msg[len(v.uid):])
	v.index = readIndex(r)
	return v, r.Done()
}

// gather begins a gathering.
func (c *Control) gather(parent *communicator, ev Propose) {
	must.That(slices.Contains(ev.Members, c.cfg.Me), "process %d gathers among %v", c.cfg.Me, ev.Members)
	if len(parent.gatherings) >= gatheringsMax {
		c.refuse(ev, fmt.Errorf("%w: more than %d calls of this kind at the same time", commstate.ErrLength, gatheringsMax))
		return
	}
	g := newGathering(parent, ev)
	g.index = c.comm.drawHidden(parent)
	parent.gatherings = append(parent.gatherings, g)
	g.hear(c.cfg.Me, g.index)
	for _, proc := range g.procs {
		if proc != c.cfg.Me {
			c.invite(g, proc)
		}
	}
	for _, v := range parent.early {
		if v.uid == g.uid {
			g.hear(v.proc, v.index)
		}
	}
	parent.early = slices.DeleteFunc(parent.early, func(v invitation) bool { return v.uid == g.uid })
	c.openIfAll(g)
}

// newGathering names a gathering by its members, its tag, and the number of earlier gatherings of
// the same members and tag. The members make these calls in one order.
func newGathering(parent *communicator, ev Propose) *gathering {
	g := &gathering{parent: parent, ev: ev, procs: slices.Sorted(slices.Values(ev.Members))}
	g.indices, g.known = make([]uint32, len(g.procs)), make([]bool, len(g.procs))
	if parent.gathered == nil {
		parent.gathered = map[commstate.UID]uint64{}
	}
	uid := parent.Group().UID
	same := commstate.GatheringUID(uid, g.procs, ev.Tag, 0)
	g.uid = commstate.GatheringUID(uid, g.procs, ev.Tag, parent.gathered[same])
	parent.gathered[same]++
	return g
}

func (c *Control) invite(g *gathering, proc int) {
	rank, belongs := g.parent.rank(proc)
	must.That(belongs, "process %d is among %v and no member", proc, g.procs)
	p := g.parent.Group()
	f := memberFrame{to: p.Indices[rank], from: p.Index, part: commstate.PartGather, msg: invitation{uid: g.uid, index: g.index}.append(nil)}
	c.send(proc, f.append(nil))
}

// invited handles an invitation to a gathering, which may not have begun here.
func (c *Control) invited(parent *communicator, proc int, msg []byte) error {
	v, err := readInvitation(proc, msg)
	if err != nil {
		return err
	}
	if parent.IsRevoked() { // the gathering has ended here, or never begins
		c.send(proc, closedNote{to: v.index}.append(nil))
		return nil
	}
	for _, g := range parent.gatherings {
		if g.uid == v.uid {
			if !g.hear(proc, v.index) {
				return fmt.Errorf("an invitation of process %d, which is not among %v or has invited before", proc, g.procs)
			}
			c.openIfAll(g)
			return nil
		}
	}
	return parent.keep(v)
}

// keep holds an invitation until the gathering begins here.
func (c *communicator) keep(v invitation) error {
	count := 0
	for _, e := range c.early {
		if e.proc == v.proc {
			count++
		}
	}
	if count >= gatheringsMax {
		return fmt.Errorf("more than %d invitations", gatheringsMax)
	}
	c.early = append(c.early, v)
	return nil
}

// hear notes the index that a member has drawn, and reports whether it was unknown.
func (g *gathering) hear(proc int, index uint32) bool {
	i, belongs := slices.BinarySearch(g.procs, proc)
	if !belongs || g.known[i] {
		return false
	}
	g.indices[i], g.known[i] = index, true
	return true
}

// gatherWithout opens the gatherings that waited only for a process that is dead.
func (c *Control) gatherWithout(proc int) {
	for cm := range c.comm.comms() {
		for _, g := range slices.Clone(cm.gatherings) {
			if slices.Contains(g.procs, proc) {
				c.openIfAll(g)
			}
		}
	}
}

// openIfAll opens the hidden communicator once each member's index or death is known, unless the
// gathering has ended: another gathering that was opened just before may have revoked the parent.
func (c *Control) openIfAll(g *gathering) {
	if g.hidden != nil || !slices.Contains(g.parent.gatherings, g) {
		return
	}
	for i, proc := range g.procs {
		if !g.known[i] && !c.dead.Has(proc) {
			return
		}
	}
	me, _ := slices.BinarySearch(g.procs, c.cfg.Me)
	g.hidden = c.enliven(origin{parent: g.parent}, commstate.Group{Index: g.index, UID: g.uid, Procs: g.procs, Indices: g.indices, Me: me})
	g.hidden.hidden = g
	if g.hidden.IsRevoked() {
		c.revokeParent(g.parent)
		c.answer(g.hidden, commstate.Proposal{Call: g.ev.Call, Token: g.ev.Token}, ulfm.ErrRevoked)
		return
	}
	ev := g.ev
	ev.Key = slices.Index(ev.Members, c.cfg.Me)
	ev.Digest = commstate.Digest(ev.Members...)
	c.contribute(g.hidden, ev)
}

// agreedOn reports the outcome of the agreement on a hidden communicator, and closes the
// communicator.
func (c *Control) agreedOn(hidden *communicator, p commstate.Proposal, out commstate.Outcome) {
	g := hidden.hidden
	if p.Series == commstate.SeriesClose && p.Call.Kind == commstate.KindClose {
		return
	}
	g.end()
	c.act(Decided{Comm: g.parent.index(), Token: g.ev.Token, Outcome: g.translated(out)})
	c.contribute(hidden, Propose{Token: g.ev.Token, Call: commstate.Call{Kind: commstate.KindClose}})
}

// end removes g from the gatherings under way.
func (g *gathering) end() {
	g.parent.gatherings = slices.DeleteFunc(g.parent.gatherings, func(other *gathering) bool { return other == g })
}

// translated replaces ranks of the hidden communicator by ranks of the parent.
func (g *gathering) translated(out commstate.Outcome) commstate.Outcome {
	out.Seq = 0
	out.Dead = g.ranks(out.Dead)
	if e := (*ulfm.Error)(nil); errors.As(out.Err, &e) {
		out.Err = &ulfm.Error{Op: e.Op, Ranks: g.ranks(e.Ranks), Err: e.Err}
	}
	return out
}

func (g *gathering) ranks(hidden []int) []int {
	var ranks []int
	for _, h := range hidden {
		rank, _ := g.parent.rank(g.procs[h])
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	return ranks
}

// scatter ends the gatherings on a communicator that is revoked or forgotten.
func (c *Control) scatter(parent *communicator, class error) {
	for _, g := range slices.Clone(parent.gatherings) {
		switch {
		case g.hidden == nil:
			c.giveUp(g, class)
		case errors.Is(class, ulfm.ErrRevoked):
			c.step(g.hidden, commstate.Revoke{})
		default:
			c.abandon(g)
		}
	}
	parent.early = nil
}

// revokeParent revokes the parent of a gathering because some member of the gathering has seen the
// parent revoked: the member has answered that it does not take part, or has revoked the hidden
// communicator. This process cannot rely on that member's own revocation of the parent:
//
//	1 revokes the parent, notifies 0, with which it gathers, that it does not take part, and
//	dies. 0 gets the notice, and learns of the death before the revocation, which it drops (A6).
//
// Without this rule 0's creation would fail with "revoked" on a communicator that is revoked at no
// survivor. 0 then makes no more creations there, because all must fail; 2, which knows nothing,
// gathers with 0 next and waits for ever.
//
// A member also answers that it does not take part if the parent is closed there. Then this process
// has proposed to close the parent, too, and the parent is not revoked.
func (c *Control) revokeParent(parent *communicator) {
	if c.comm.live(parent.index()) == parent && !parent.Closing() {
		c.revokeAtOnce(parent)
	}
}

// giveUp ends a gathering that is not open here, and notifies the members where it may be open.
func (c *Control) giveUp(g *gathering, class error) {
	g.end()
	c.refuse(g.ev, class)
	c.forget(g.index, grave{})
	for i, proc := range g.procs {
		if g.known[i] && proc != c.cfg.Me {
			c.send(proc, closedNote{to: g.indices[i]}.append(nil))
		}
	}
}

// abandon ends a gathering that is open here because the parent is closed: all live members of the
// parent have closed the parent, and abandon the gathering too.
func (c *Control) abandon(g *gathering) {
	c.dismiss(g.hidden)
	c.forgetPending(g.hidden)
	c.forget(g.index, grave{})
}

// visible returns the communicator on which the program made the call that is agreed on c.
func (c *communicator) visible() *communicator {
	if c.hidden != nil {
		return c.hidden.parent
	}
	return c
}

// gathering returns the gathering with this token that is under way on c.
func (c *communicator) gathering(token uint64) *gathering {
	for _, g := range c.gatherings {
		if g.ev.Token == token {
			return g
		}
	}
	return nil
}

// waitsFor returns the ranks of the parent that the call waits for.
func (g *gathering) waitsFor() []int {
	if g.hidden != nil {
		return g.ranks(g.hidden.WaitsFor(g.ev.Token))
	}
	var missing []int
	for i, known := range g.known {
		if !known {
			missing = append(missing, i)
		}
	}
	return g.ranks(missing)
}
