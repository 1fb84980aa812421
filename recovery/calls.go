package recovery

import (
	"errors"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/internal/rankset"
	"github.com/goulfm/goulfm/internal/repair"
)

// agree ends a boundary: an agreement that raises nothing, and tells the dead.
func (r *runner) agree(word uint64) repair.Event {
	r.w.base.Mark("repair.agree", r.clock.count("agree"))
	defer r.clock.lap(&r.clock.agree)()
	out, _, err := door.Engine(r.w.base).Call(uniform, member.Call{Kind: member.KindAgreeFailed}, engine.Contribution{Flag: word}, "recovery")
	if err != nil {
		return r.fail(err)
	}
	return repair.Decided{Word: out.Flag, Dead: rankset.Of(out.Dead...)}
}

// survivors returns the ranks of c whose processes are in s. orphaned says that somebody is
// missing there who has not died: the others have left this process behind, with newcomers of
// a replacement that only those had who are dead by now.
func survivors(c, s *comm.Comm) (left rankset.Set, orphaned bool) {
	dead := rankset.Of(c.FailedRanks()...)
	for rank, process := range c.Group().Processes() {
		switch {
		case s.RankOf(process) != comm.Undefined:
			left.Add(rank)
		case !dead.Has(rank):
			orphaned = true
		}
	}
	return left, orphaned
}

// tell finds the text of the lowest rank that has one.
func (r *runner) tell(text string) repair.Event {
	all, err := collectives.AllgatherValue(uniform, r.c, wireText{text, classOf(r.fatal)})
	if err != nil {
		return repair.Told{Rank: -1}
	}
	for rank, t := range all {
		if t.Text != "" {
			r.peer = classes[min(max(t.Class, 0), len(classes)-1)]
			return repair.Told{Rank: rank, Text: t.Text}
		}
	}
	return repair.Told{Rank: -1}
}

// A wireText is the text of a fatal error, and which of this package it is.
type wireText struct {
	Text  string
	Class int
}

// classes are the errors of this package that end a program; the first one is any other.
var classes = []error{ErrPeer, ErrLost, ErrMember, ErrPlace}

func classOf(err error) int {
	for i, class := range classes {
		if i > 0 && errors.Is(err, class) {
			return i
		}
	}
	return 0
}

// A wireReport is a repair.Report as it travels.
type wireReport struct {
	Node, Home int
	Epoch      uint64
	Committed  repair.Label
	Known      bool
	Members    uint64
	Held       []wireHeld
}

type wireHeld struct {
	Label repair.Label
	Nodes []int
	Data  []int
}

// gather exchanges reports; nil: it failed here.
func (r *runner) gather(a repair.Gather) []repair.Report {
	r.w.base.Mark("restore.plan", r.clock.count("plan"))
	mine := wireReport{Node: door.Engine(r.w.base).Proc().Node(), Home: r.w.run.Home, Epoch: a.Epoch, Committed: a.Committed, Known: a.Known,
		Members: digestOf(r.w.members)}
	for _, h := range r.mem.held() {
		mine.Held = append(mine.Held, wireHeld{h.Label, h.Nodes, h.Data.Slice()})
	}
	all, err := collectives.AllgatherValue(uniform, r.w.base, mine)
	if err != nil {
		return nil
	}
	reports := make([]repair.Report, len(all))
	r.w.nodes = nil
	for i, t := range all {
		r.w.nodes = append(r.w.nodes, t.Node)
		reports[i] = repair.Report{Node: t.Node, Home: t.Home, Epoch: t.Epoch, Committed: t.Committed, Known: t.Known, Members: t.Members}
		for _, h := range t.Held {
			reports[i].Held = append(reports[i].Held, repair.Held{Label: h.Label, Nodes: h.Nodes, Data: rankset.Of(h.Data...)})
		}
	}
	return reports
}
