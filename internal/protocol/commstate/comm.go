package commstate

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/flood"
	"github.com/goulfm/goulfm/ulfm"
)

// Part names the machine of a communicator to which a message belongs: one of its
// series of agreements, or the flood of its revocation.
type Part uint8

// PartRevoke is the flood of the revocation; smaller Parts are Series.
const PartRevoke Part = Part(seriesCount)

// PartGather is not for a Comm: its messages invite members to a call that only some
// members make. The owner of the Comm handles them.
const PartGather = PartRevoke + 1

// PartCount is one more than the largest Part.
const PartCount = int(PartGather) + 1

// Proposal is a call of this member. The call is open until its agreement is decided here.
type Proposal struct {
	Token  uint64
	Call   Call
	Series Series
	Seq    uint64
	Index  uint32 // context index drawn for it, if Call.DrawsIndex and no veto
	Vetoed bool   // this member voted no
	Ranks  []int  // replace: the new ranks of the started processes, in the order of the processes

	// GivenUp: the caller has its answer. If the answer to a creation was a revocation's
	// ulfm.ErrRevoked, the contribution stands, because another member may decide with it:
	//
	//	0 and 1 dup; 0 decides "success" and owns the duplicate;
	//	2 revokes the parent; the revocation reaches 1 before the decision does.
	//
	// If 1 forgot the agreement, 0 would own a duplicate whose other member would never
	// answer on it. So 1 takes part until it decides, too, and notifies 0 that it is absent.
	GivenUp bool
}

// Config describes a communicator.
type Config struct {
	Group    Group
	Watchdog mono.Duration // passed to era; 0 = off

	// SilentRevocation means that each member receives a revocation as a Revoke event of its
	// own, even if the revoker dies. The flood sends nothing.
	SilentRevocation bool

	// Memory is the memory that all members share, or the members of each node. Deaths must be
	// exact. SeriesRepair and SeriesCreate agree in this memory; without memory they agree by
	// messages. Closing always agrees by messages: it is not urgent, and members that have
	// forgotten the communicator can still answer.
	Memory Memory
}

// Memory is the memory that the members of a communicator share for agreements, as seen by one
// member. Either all members have a Memory or none has. If the members are on several nodes, it is
// the memory that the members on this member's node share. Nodes then has all ranks by node, each
// ascending, the nodes in the order of their least ranks.
type Memory struct {
	Repair, Create onenode.Memory
	Nodes          [][]int
	Tag            uint32 // with Nodes: in the decision words of this node
}

// Comm is one communicator at one of its members.
//
// Its agreements are numbered in three series, not one, because a member that enters recovery may
// never make a call in which its peers wait:
//
//	0, 1 and 2 are to dup. 2 meets an error, does not call dup, revokes, and
//	calls shrink. 0 and 1 are in dup; the revocation ends it; they call shrink.
//
// With one numbering, 2's first agreement would be the shrink and 0's first the dup. The members
// would take the two for one call (ErrMismatch), and their numbers would differ by one for ever.
// So the calls that continue after a revocation have one numbering (SeriesRepair), and the calls
// that a revocation gives up have another (SeriesCreate). Closing comes last, after any sequence
// of calls (SeriesClose).
type Comm struct {
	group   Group
	failed  *Failed
	revoked bool
	flood   *flood.Flood
	series  [seriesCount]series
	node    *onenode.Series // that of SeriesRepair, if all members share one node's memory
	open    []Proposal      // proposed here and not decided here, in order of proposal
	closers rankset.Set     // ranks that have sent this member a message of SeriesClose
	acts    []Action
}

// New returns a communicator without failures, revocations or agreements. The owner reports
// deaths that were declared before by Died.
func New(cfg Config) *Comm {
	n, me := cfg.Group.Size(), cfg.Group.Me
	must.That(me >= 0 && me < n && len(cfg.Group.Indices) == n, "rank %d of a communicator of %d", me, n)
	c := &Comm{
		group:  cfg.Group,
		failed: NewFailed(n),
		flood:  flood.New(flood.Config{N: n, Me: me, Items: 1, Silent: cfg.SilentRevocation}),
	}
	switch m := cfg.Memory; {
	case m.Nodes != nil:
		c.series[SeriesRepair] = c.onNodes(m, m.Repair, cfg.Watchdog)
		c.series[SeriesCreate] = c.onNodes(m, m.Create, cfg.Watchdog)
	case m.Repair != nil:
		c.node = c.onNode(m.Repair)
		c.series[SeriesRepair] = &nodeSeries{Series: c.node}
		c.series[SeriesCreate] = &nodeSeries{Series: c.onNode(m.Create)}
	}
	for i := range c.series {
		if c.series[i] == nil {
			c.series[i] = era.NewSeries(era.Config{N: n, Me: me, Watchdog: cfg.Watchdog})
		}
	}
	return c
}

// Group returns the members. The group never changes; callers must not write to it.
func (c *Comm) Group() *Group { return &c.group }

// Failed returns this member's record of failed members.
func (c *Comm) Failed() *Failed { return c.failed }

// IsRevoked reports whether the communicator is revoked here (R15).
func (c *Comm) IsRevoked() bool { return c.revoked }

// Closing reports whether this member has proposed to close the communicator and
// the closing agreement is not decided here.
func (c *Comm) Closing() bool {
	return slices.ContainsFunc(c.open, func(p Proposal) bool { return p.Series == SeriesClose })
}

// Open returns the calls that are not decided here, in order of proposal. The
// slice is valid until the next Step.
func (c *Comm) Open() []Proposal { return c.open }

// WaitsFor returns the ranks for which the call with this token waits, for
// diagnosis.
func (c *Comm) WaitsFor(token uint64) []int {
	for _, p := range c.open {
		if p.Token == token {
			return c.series[p.Series].WaitsFor(p.Seq)
		}
	}
	return nil
}

// Deadline returns the time of the next Tick that the communicator requires, if any.
func (c *Comm) Deadline() (mono.Time, bool) {
	var least mono.Time
	var any bool
	for _, s := range c.series {
		if t, ok := s.Deadline(); ok && (!any || t < least) {
			least, any = t, true
		}
	}
	return least, any
}

// Describe returns the state on one line.
func (c *Comm) Describe() string {
	text := fmt.Sprintf("%d of %d, failed %v, acked %v", c.group.Me, c.group.Size(), c.failed.All(), c.failed.Acked())
	if c.revoked {
		text += ", revoked"
	}
	for _, p := range c.open {
		text += fmt.Sprintf(", in %v %v/%d waiting for %v", p.Call, p.Series, p.Seq, c.series[p.Series].WaitsFor(p.Seq))
	}
	return text
}

// Step applies one event and returns the actions that the owner must execute in
// order. The slice is valid until the next Step.
func (c *Comm) Step(ev Event) []Action {
	c.acts = c.acts[:0]
	switch ev := ev.(type) {
	case Propose:
		c.propose(ev)
	case Receive:
		c.receive(ev)
	case Revoke:
		c.stepFlood(flood.Publish{Items: rankset.Of(0)})
	case Died:
		c.died(ev.Rank)
	case Listed:
		c.listed(ev.Rank)
	case Left:
		for s := range seriesCount {
			c.stepSeries(s, era.Left{Rank: ev.Rank})
		}
	case Look:
		c.look()
	case Ended:
		c.ended()
	case Dismiss:
		c.giveUp(ErrFreed, func(Proposal) bool { return true })
	case Tick:
		for s := range seriesCount {
			c.stepSeries(s, era.Tick{Now: ev.Now})
		}
	}
	return c.acts
}

// propose contributes to the next agreement of the call's series. The
// acknowledged set is the one at entry: a later set could differ from the set
// that this member had reported to its program (A5).
func (c *Comm) propose(ev Propose) {
	s := ev.Call.Kind.Series()
	if ev.Entered {
		c.adopt(ev)
		return
	}
	p := Proposal{Token: ev.Token, Call: ev.Call, Series: s, Seq: c.series[s].Next(), Index: ev.Index, Vetoed: ev.Veto, Ranks: ev.Ranks}
	claim := era.Claim{Call: ev.Call.code(), Rank: c.group.Me}
	v := era.Value{Lo: claim, Hi: claim, Flag: ev.Flag, Acked: c.failed.AckedSet()}
	switch {
	case s == SeriesClose:
		v.Entries = []era.Entry{{Rank: c.group.Me, Data: c.encodeGivenUp()}}
	case ev.Veto:
		v.Vetoes = rankset.Of(c.group.Me)
	case ev.Call.DrawsIndex():
		v.Entries = []era.Entry{{Rank: c.group.Me, Data: encodePayload(ev)}}
	}
	c.open = append(c.open, p)
	c.stepSeries(s, era.Propose{Value: v})
}

func (c *Comm) receive(ev Receive) {
	switch {
	case ev.From < 0 || ev.From >= c.group.Size() || ev.From == c.group.Me:
		c.anomaly(ev.From, "a message of a rank that is no other member")
	case ev.Part == PartRevoke:
		c.stepFlood(flood.Receive{From: ev.From, Msg: ev.Msg})
	case int(ev.Part) < len(c.series):
		if Series(ev.Part) == SeriesClose {
			c.closers.Add(ev.From)
		}
		c.stepSeries(Series(ev.Part), era.Receive{From: ev.From, Seq: ev.Seq, Msg: ev.Msg})
	default:
		c.anomaly(ev.From, fmt.Sprintf("a message for part %d", ev.Part))
	}
}

// died passes a death to all machines. The record of failures, which the program reads, grows
// before anything is sent: a process that learns of the death from this member finds it in this
// member's record (R38).
func (c *Comm) died(rank int) {
	if !c.failed.Learn(rank) {
		return
	}
	for s := range seriesCount {
		c.stepSeries(s, era.Failed{Rank: rank})
	}
	c.stepFlood(flood.Failed{Rank: rank})
}

// ended decides the closing agreement because it has decided at another member. The decided
// value is not needed: closing absorbs all errors, and the creations that members gave up (Orphan)
// reach the owner with the report. The agreement here will not notify the members that wait for
// this one, so the owner must:
//
//	0 decides, sends the decision to 2, and dies; 1, 3's parent, dies, too. 2 decides and forgets.
//	3 sends its contribution again, to 2, is answered "closed", and forgets, too.
//	7 has sent its contribution to 3 long ago, 3 lives, and 7 would wait for 3 for ever.
func (c *Comm) ended() {
	for i, p := range c.open {
		if p.Series == SeriesClose {
			c.open = slices.Delete(c.open, i, i+1)
			c.act(Decide{Proposal: p, Tell: c.closers.Clone()})
			return
		}
	}
}

func (c *Comm) stepSeries(s Series, ev era.Event) { c.carryOut(s, c.series[s].Step(ev)) }

func (c *Comm) carryOut(s Series, acts []era.Action) {
	for _, a := range acts {
		switch a := a.(type) {
		case era.Send:
			c.act(Send{To: a.To, Part: Part(s), Seq: a.Seq, Msg: a.Msg})
		case era.Decide:
			c.decide(s, a)
		case era.Probe:
			c.act(Watch{Rank: a.Rank})
		case era.Anomaly:
			c.anomaly(a.From, a.Text)
		}
	}
}

// decide passes a decision to the owner. A decision without a proposal belongs to
// the closing agreement that an Ended event has decided before.
func (c *Comm) decide(s Series, a era.Decide) {
	for i, p := range c.open {
		if p.Series == s && p.Seq == a.Seq {
			c.open = slices.Delete(c.open, i, i+1)
			c.act(Decide{Proposal: p, Value: a.Value})
			return
		}
	}
	must.That(s == SeriesClose, "agreement %v/%d decided twice", s, a.Seq)
}

func (c *Comm) stepFlood(ev flood.Event) {
	for _, a := range c.flood.Step(ev) {
		switch a := a.(type) {
		case flood.Send:
			c.act(Send{To: a.To, Part: PartRevoke, Msg: a.Msg})
		case flood.Deliver:
			c.revoke()
		case flood.Anomaly:
			c.anomaly(a.From, a.Text)
		}
	}
}

// revoke gives up the calls that a revocation ends (R13).
func (c *Comm) revoke() {
	c.revoked = true
	c.act(Revoked{})
	c.giveUp(ulfm.ErrRevoked, func(p Proposal) bool { return p.Series == SeriesCreate })
}

// giveUp answers the open calls that which selects, each at most once.
func (c *Comm) giveUp(class error, which func(Proposal) bool) {
	for i := range c.open {
		if p := &c.open[i]; !p.GivenUp && which(*p) {
			p.GivenUp = true
			c.act(GiveUp{Proposal: *p, Class: class})
		}
	}
}

func (c *Comm) act(a Action) { c.acts = append(c.acts, a) }

func (c *Comm) anomaly(from int, text string) { c.act(Anomaly{From: from, Text: text}) }

// encodePayload encodes the contribution to a shrink or to a call that makes a communicator. The
// length is at most onenode.EntryMax bytes, because in a call with a digest the colour is one of
// few and the key is a rank.
func encodePayload(ev Propose) []byte {
	b := wire.AppendUint(nil, uint64(ev.Index))
	if ev.Call.Kind.digested() {
		b = binary.LittleEndian.AppendUint64(b, ev.Digest)
	}
	if ev.Call.Kind.placed() {
		b = wire.AppendInt(b, ev.Color)
		b = wire.AppendInt(b, ev.Key)
	}
	if ev.Call.Kind.Starts() {
		b = wire.AppendUint(b, uint64(ev.Spawned.First))
		b = wire.AppendUint(b, uint64(ev.Spawned.Count))
	}
	return b
}
