package cluster

import (
	"fmt"
	"strings"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
)

// hazard is a kind of fault in the matrix.
type hazard int

const (
	crashBetween  hazard = iota // between two steps
	crashMidSend                // some of the frames of a step are sent, others not
	crashCascaded               // soon after the crash of a related process
	crashLosing                 // part of the frames on the way is lost
	pauseBetween
	pauseMidSend
	slowProcess
	partitionBoth
	partitionOneWay
	stalledLink
	lateFrame // sent by the process, in the tail of the delays
	hazards
)

func (h hazard) String() string {
	return [...]string{"crash between steps", "crash mid-send", "crash, cascaded", "crash, frames lost", "pause between steps", "pause mid-send",
		"slow process", "partition", "partition one way", "stalled link", "late frame"}[h]
}

// phase is an operation in which a process is engaged. A process may be in several phases.
type phase int

const (
	phaseIdle phase = iota // no call is open, and no receive
	phaseData              // a receive is open
	phaseAgree
	phaseShrink
	phaseCreate
	phaseClose    // free or finalize
	phaseDeciding // a decision comes in this step
	phaseRevoking
	phaseDeclaring
	phases
)

func (p phase) String() string {
	return [...]string{"idle", "data", "agree", "shrink", "create", "close", "deciding", "revoking", "declaring"}[p]
}

// Matrix counts how often each fault hit each phase.
type Matrix [hazards][phases]int

func (m *Matrix) add(n Matrix) {
	for h := range m {
		for p := range m[h] {
			m[h][p] += n[h][p]
		}
	}
}

// Empty returns the cells in which nothing ever happened. Every fault can hit every phase, so many
// runs must leave none empty.
func (m *Matrix) Empty() []string {
	var empty []string
	for h := range hazards {
		for p := range phases {
			if m[h][p] == 0 {
				empty = append(empty, fmt.Sprintf("%v never hit %v", h, p))
			}
		}
	}
	return empty
}

// String returns the matrix as a table.
func (m *Matrix) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s", "fault \\ phase")
	for p := range phases {
		fmt.Fprintf(&b, "%10v", p)
	}
	b.WriteByte('\n')
	for h := range hazards {
		fmt.Fprintf(&b, "%-20v", h)
		for p := range phases {
			fmt.Fprintf(&b, "%10d", m[h][p])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// hits counts a fault of p that happens in a step with these actions.
func (s *simulation) hits(p *process, f Fault, acts []control.Action) {
	mid := midSend(acts, f.kept(len(acts)))
	var hs []hazard
	switch f.Kind {
	case Crash:
		hs = append(hs, pick(mid, crashMidSend, crashBetween))
		if f.Cascaded {
			hs = append(hs, crashCascaded)
		}
		if f.Lose {
			hs = append(hs, crashLosing)
		}
	case Pause:
		hs = append(hs, pick(mid, pauseMidSend, pauseBetween))
	case Slow:
		hs = append(hs, slowProcess)
	case Partition:
		hs = append(hs, pick(f.OneWay, partitionOneWay, partitionBoth))
	case Stall:
		hs = append(hs, stalledLink)
	}
	for _, h := range hs {
		s.hit(p, h, acts)
	}
}

func pick(yes bool, a, b hazard) hazard {
	if yes {
		return a
	}
	return b
}

// midSend reports whether some frames are among the first kept actions and some behind them.
func midSend(acts []control.Action, kept int) bool {
	before, after := 0, 0
	for i, a := range acts {
		if _, send := a.(control.Send); !send {
			continue
		}
		if i < kept {
			before++
		} else {
			after++
		}
	}
	return before > 0 && after > 0
}

// hit counts a fault in every phase that p is in.
func (s *simulation) hit(p *process, h hazard, acts []control.Action) {
	for ph, in := range p.phases(acts) {
		if in {
			s.report.Matrix[h][ph]++
		}
	}
}

func (p *process) phases(acts []control.Action) (in [phases]bool) {
	busy := false
	for _, h := range p.program.handles {
		if h.talk.open > 0 {
			in[phaseData], busy = true, true
		}
		if h.open[commstate.SeriesCreate]+h.gathers.open > 0 {
			in[phaseCreate], busy = true, true
		}
		if h.open[commstate.SeriesClose] > 0 {
			in[phaseClose], busy = true, true
		}
		if h.open[commstate.SeriesRepair] > 0 {
			busy = true
			in[phaseAgree] = in[phaseAgree] || h.shrinks < h.open[commstate.SeriesRepair]
			in[phaseShrink] = in[phaseShrink] || h.shrinks > 0
		}
	}
	in[phaseIdle] = !busy
	for _, a := range acts {
		switch a.(type) {
		case control.Decided:
			in[phaseDeciding] = true
		case control.Revoked:
			in[phaseRevoking] = true
		case control.Declared:
			in[phaseDeclaring] = true
		}
	}
	return in
}
