package recovery

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// agree ends a boundary with an agreement that returns no error for failed ranks and reports the
// dead.
func (r *runner) agree(word uint64) repair.Event {
	r.w.base.Mark("repair.agree", r.clock.count("agree"))
	defer r.clock.lap(&r.clock.agree)()
	out, _, err := door.Engine(r.w.base).Call(uniform, commstate.Call{Kind: commstate.KindAgreeFailed}, engine.Contribution{Flag: word}, "recovery")
	if err != nil {
		return r.fail(err)
	}
	return repair.Decided{Word: out.Flag, Dead: rankset.Of(out.Dead...)}
}

// survivors returns the ranks of c whose processes are in s. orphaned is true if a process that has
// not died is missing in s: the other ranks have left this process behind, with the processes of
// a replacement that only processes dead by now took part in.
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

// tell returns the text of the lowest rank that has one.
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

// A wireText is the text of a fatal error, and its index in classes.
type wireText struct {
	Text  string
	Class int
}

// classes are the errors of this package that end a program. The first stands for any other error.
var classes = []error{ErrPeer, ErrLost, ErrMember, ErrPlace, ErrFiles, ErrReplay, ErrMemory, ErrInUse, ErrArguments}

func classOf(err error) int {
	for i, class := range classes {
		if i > 0 && errors.Is(err, class) {
			return i
		}
	}
	return 0
}

// gather exchanges reports. Its result is nil if the exchange failed at this rank.
func (r *runner) gather(a repair.Gather) []repair.Report {
	r.w.base.Mark("restore.plan", r.clock.count("plan"))
	r.takeOver()
	r.forgetUnkept()
	mine := report{Kept: r.home != nil, Report: repair.Report{
		Node: door.Engine(r.w.base).Proc().Node(), Home: r.w.run.Home, Epoch: a.Epoch, Committed: a.Committed, Known: a.Known,
		Members: digestOf(r.w.members), Held: r.mem.held(), Own: r.own.counts(),
	}}
	if r.home != nil && !a.Known {
		mine.Committed = r.home.committed
	}
	if r.files != nil {
		if r.files.archive.Looks(r.w.Rank(), a) {
			if r.w.bad = r.claimFiles(); r.w.bad == nil {
				r.w.bad = r.findVersions(a)
			}
			if r.w.bad != nil {
				return nil
			}
		}
		mine.Job = r.files.claim.job
		r.files.archive.Fill(&mine.Report)
	}
	all, err := exchange(r.w.base, mine)
	if err != nil {
		return nil
	}
	if r.files != nil {
		if r.w.bad = r.joinFiles(all); r.w.bad != nil {
			return nil
		}
	}
	r.alone = r.cfg.NodeMemory == NodeMemoryWithoutCopies && onOneNode(all)
	reports := make([]repair.Report, len(all))
	r.w.nodes, r.w.homes = nil, nil
	for i, t := range all {
		r.w.nodes, r.w.homes = append(r.w.nodes, t.Node), append(r.w.homes, t.Home)
		reports[i] = t.Report
	}
	if r.files != nil {
		r.files.archive.Learn(reports)
	}
	r.w.reports = reports
	return reports
}

// onOneNode reports whether all ranks are on one node and have a home in its memory.
func onOneNode(all []report) bool {
	return !slices.ContainsFunc(all, func(t report) bool { return !t.Kept || t.Node != all[0].Node })
}
