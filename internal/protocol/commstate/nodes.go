package commstate

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/era/twolevel"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// nodesSeries adapts a twolevel.Series to the interface series.
type nodesSeries struct{ *twolevel.Series }

func (c *Comm) onNodes(m Memory, of onenode.Memory, watchdog mono.Duration) nodesSeries {
	g := &c.group
	return nodesSeries{twolevel.NewSeries(twolevel.Config{N: g.Size(), Me: g.Me, Nodes: m.Nodes, Memory: of, Tag: m.Tag, Watchdog: watchdog})}
}

// Step passes on the events that concern a series in two levels.
func (s nodesSeries) Step(ev era.Event) []era.Action {
	switch ev := ev.(type) {
	case era.Propose:
		return s.Series.Step(twolevel.Propose{Value: ev.Value})
	case era.Receive:
		return s.Series.Step(twolevel.Receive{From: ev.From, Seq: ev.Seq, Msg: ev.Msg})
	case era.Failed:
		return s.Series.Step(twolevel.Failed{Rank: ev.Rank})
	case era.Left:
		return s.Series.Step(twolevel.Left{Rank: ev.Rank})
	case era.Tick:
		return s.Series.Step(twolevel.Tick{Now: ev.Now})
	}
	return nil
}

func (s nodesSeries) look() []era.Action { return s.Series.Step(twolevel.Look{}) }

// listed reports to the agreements in two levels that the list of departures of this node has the
// death of rank. Only this list closes other nodes, and makes an heir lead its node (A27).
func (c *Comm) listed(rank int) {
	for i, s := range c.series {
		if n, ok := s.(nodesSeries); ok {
			c.carryOut(Series(i), n.Series.Step(twolevel.Listed{Rank: rank}))
		}
	}
}
