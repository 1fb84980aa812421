package control

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/flood"
	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/internal/must"
)

// Flaws are rules left out on purpose, so that the simulator can show that each
// of them is needed. Production sets none, and is built without the tag
// "sabotage": then they do nothing.
type Flaws struct {
	Agreement  era.Flaw
	Node       onenode.Flaw // in the agreements in shared memory
	Detector   fd.Flaw
	Notices    flood.Flaw // in the flood of deaths
	Revocation flood.Flaw // in the flood of revocations

	DropEarlyRevoke   bool // a revocation for a pending index is dropped (B4)
	DropEarly         bool // any other frame for a pending index is dropped (A3)
	HearTheDead       bool // frames of the dead are let through (A2)
	NoDigests         bool // revocations are not compared after a death (B3)
	OwnView           bool // a shrink leaves out whom this process knows to be dead, not who is agreed to be (R39)
	ResultFirst       bool // a result names deaths that are not declared here (R31)
	ReuseIndex        bool // an index whose communicator is gone is drawn again (A15)
	StayAwayInSilence bool // who gave up a creation does not tell those who have it
	WaitForTheLeft    bool // processes that finalized are waited for (R62)
	SurviveFence      bool // a process that was declared dead goes on (B20)
	RevokeEndsNothing bool // see member.Flaws
	EndInSilence      bool // see member.Flaws
	SpareTheParent    bool // a gathering that ends with "revoked" does not revoke its parent (R15)
}

// hearTheDead says whether frames of the dead are let through (A2, A6).
func (f Flaws) hearTheDead() bool {
	return must.Sabotage && (f.HearTheDead || f.Agreement == era.FlawA6 || f.Agreement == era.FlawPaper)
}

// dropsEarly says whether a frame for a pending index is dropped.
func (f Flaws) dropsEarly(part member.Part) bool {
	if part == member.PartRevoke {
		return must.Sabotage && f.DropEarlyRevoke
	}
	return must.Sabotage && f.DropEarly
}

func (f Flaws) ofComm() member.Flaws {
	return member.Flaws{
		Agreement:         f.Agreement,
		Node:              f.Node,
		Revocation:        f.Revocation,
		RevokeEndsNothing: f.RevokeEndsNothing,
		EndInSilence:      f.EndInSilence,
	}
}
