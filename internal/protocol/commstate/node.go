package commstate

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
)

// series is one numbered sequence of agreements, by messages or in memory.
type series interface {
	Step(ev era.Event) []era.Action
	Next() uint64
	WaitsFor(seq uint64) []int
	Deadline() (mono.Time, bool)
}

// nodeSeries adapts an onenode.Series to the interface series.
type nodeSeries struct {
	*onenode.Series
	acts []era.Action // of the Step in progress
}

func (c *Comm) onNode(m onenode.Memory) *onenode.Series {
	g := &c.group
	tag := g.Indices[0]
	if g.Fresh {
		// The tag of new memory. The block of the first member's index serves no other
		// communicator with tag 0.
		tag = 0
	}
	return onenode.NewSeries(onenode.Config{N: g.Size(), Me: g.Me, Memory: m, Tag: tag})
}

// Step passes on the events that concern a series in memory.
func (s *nodeSeries) Step(ev era.Event) []era.Action {
	s.acts = s.acts[:0]
	switch ev := ev.(type) {
	case era.Propose:
		s.step(onenode.Propose{Value: ev.Value})
	case era.Failed:
		s.step(onenode.Failed{Rank: ev.Rank})
	case era.Left:
		s.step(onenode.Left{Rank: ev.Rank})
	case era.Receive:
		s.acts = append(s.acts, era.Anomaly{From: ev.From, Text: "a message for an agreement in memory"})
	}
	return s.acts
}

func (s *nodeSeries) step(ev onenode.Event) {
	for _, a := range s.Series.Step(ev) {
		d := a.(onenode.Decide) // there is no other action
		s.acts = append(s.acts, era.Decide{Seq: d.Seq, Value: d.Value})
	}
}

// A memorySeries agrees in memory, that of one node or of each node.
type memorySeries interface {
	series
	// Open returns the number of agreements that were proposed here and are not decided here.
	Open() int
	// look checks the memory for changes, and returns the decisions that follow.
	look() []era.Action
}

func (s *nodeSeries) look() []era.Action {
	s.acts = s.acts[:0]
	s.step(onenode.Look{})
	return s.acts
}

// look lets the agreements in memory check the memory for changes.
func (c *Comm) look() {
	for i, s := range c.series {
		if m, ok := s.(memorySeries); ok && m.Open() > 0 {
			c.carryOut(Series(i), m.look())
		}
	}
}

// adopt makes a Proposal of an agreement that was entered plainly. From then on Step
// continues the agreement.
func (c *Comm) adopt(ev Propose) {
	c.open = append(c.open, Proposal{Token: ev.Token, Call: ev.Call, Series: SeriesRepair, Seq: c.node.Adopt()})
	c.look()
}

// Looking reports whether a Look may decide something here: an agreement in memory is
// open. An agreement whose caller has its answer counts, too (see Proposal.GivenUp):
// other members may wait for the notice that this member sends after its decision.
func (c *Comm) Looking() bool {
	for _, s := range c.series {
		if m, ok := s.(memorySeries); ok && m.Open() > 0 {
			return true
		}
	}
	return false
}

// Plain reports whether an agree can be entered plainly now: all members share the
// memory of one node, no failure is known, no member has left, and neither an agreement
// of SeriesRepair nor the closing agreement is open here.
func (c *Comm) Plain() bool { return c.node != nil && c.node.Plain() && !c.Closing() }

// EnterPlain contributes flag to the next agreement of SeriesRepair and returns its
// number. The call is an agree or agree_failed, and Plain must be true. PollPlain
// returns the progress. The effect is that of a Propose, at a lower cost.
func (c *Comm) EnterPlain(call Call, flag uint64) (seq uint64) {
	must.That(call.Kind.plain(), "a call that cannot be entered plainly")
	return c.node.EnterPlain(call.code(), flag)
}

// ConcludePlain ends the agreement that was entered plainly, after PollPlain has
// returned Decided at another member.
func (c *Comm) ConcludePlain() { c.node.ConcludePlain() }

// PollPlain polls the agreement that was entered plainly. Decided: the agreement has
// ended, its result is flag, and there is no error and no death. Mixed: the caller must
// continue by a Propose with Entered set. Waiting: the caller may do so.
func (c *Comm) PollPlain() (flag uint64, state onenode.PlainState) { return c.node.PollPlain() }
