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

// nodeSeries puts a series in memory in the place of one by messages.
type nodeSeries struct {
	*onenode.Series
	acts []era.Action // of the Step in progress
}

func (c *Comm) onNode(m onenode.Memory) *onenode.Series {
	g := &c.group
	tag := g.Indices[0]
	if g.Fresh {
		tag = 0 // what new memory has; its first index has a block that no other one of tag 0 has
	}
	return onenode.NewSeries(onenode.Config{N: g.Size(), Me: g.Me, Memory: m, Tag: tag})
}

// Step hands on what concerns a series in memory.
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

// A memorySeries is agreed in memory, that of one node or of each.
type memorySeries interface {
	series
	// Open returns how many agreements were proposed here and are not decided here.
	Open() int
	// look looks what has moved.
	look() []era.Action
}

func (s *nodeSeries) look() []era.Action {
	s.acts = s.acts[:0]
	s.step(onenode.Look{})
	return s.acts
}

// look lets the agreements in memory look what has moved.
func (c *Comm) look() {
	for i, s := range c.series {
		if m, ok := s.(memorySeries); ok && m.Open() > 0 {
			c.carryOut(Series(i), m.look())
		}
	}
}

// adopt makes a Proposal of an agreement that was entered plainly, so that it goes on
// by Step.
func (c *Comm) adopt(ev Propose) {
	c.open = append(c.open, Proposal{Token: ev.Token, Call: ev.Call, Series: SeriesRepair, Seq: c.node.Adopt()})
	c.look()
}

// Looking says whether a Look may decide something here: an agreement in memory is
// open. One whose caller has its answer counts (see Proposal.GivenUp): others may
// wait for what this member makes of its result.
func (c *Comm) Looking() bool {
	for _, s := range c.series {
		if m, ok := s.(memorySeries); ok && m.Open() > 0 {
			return true
		}
	}
	return false
}

// Plain says whether an agree can be entered plainly now: the communicator is in
// shared memory, no failure is known, nobody has left, and neither an agreement of
// SeriesRepair nor the closing one is open here.
func (c *Comm) Plain() bool { return c.node != nil && c.node.Plain() && !c.Closing() }

// EnterPlain contributes flag to the next agreement of SeriesRepair and returns its
// number; call is an agree or agree_failed, and Plain holds. PollPlain tells how it
// goes on. It costs less than Propose, and does the same.
func (c *Comm) EnterPlain(call Call, flag uint64) (seq uint64) {
	must.That(call.Kind.plain(), "a call that cannot be entered plainly")
	return c.node.EnterPlain(call.code(), flag)
}

// ConcludePlain ends the agreement that was entered plainly, for which PollPlain has
// said Decided at another member.
func (c *Comm) ConcludePlain() { c.node.ConcludePlain() }

// PollPlain looks how the agreement that was entered plainly goes on: with Decided it
// has ended in flag, without error and without dead. With Mixed it must go on by a
// Propose that says Entered; with Waiting it may.
func (c *Comm) PollPlain() (flag uint64, state onenode.PlainState) { return c.node.PollPlain() }
