package sabotage

import (
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/flood"
	"github.com/goulfm/goulfm/internal/match"
)

// Bug is one rule left out.
type Bug struct {
	Name   string   // short and unique
	Rule   string   // what is left out, in words
	Breaks []string // the invariants by which it may be found

	Flaws    control.Flaws
	Matching match.Flaw

	Arena string // where it is hunted
	arena arena
	nmax  int // most processes of a cluster; 0: 8
}

// Canary names the bug that every run must find.
const Canary = "canary"

// Bugs returns all planted bugs, the canary first.
func Bugs() []Bug {
	bugs := []Bug{{
		Name: Canary, Rule: "an agreement waits for all its children",
		Flaws: agreement(era.FlawCanary), Breaks: []string{"I1", "I3"},
	}}
	bugs = append(bugs, agreementBugs()...)
	bugs = append(bugs, revocationBugs()...)
	bugs = append(bugs, compositionBugs()...)
	return slices.Concat(
		hunted("cluster", cluster, bugs),
		hunted("ring", rings, ringBugs()),
		hunted("wild", wilds, wildBugs()),
		hunted("flood", floods, floodBugs()),
		hunted("detectors", detectors, detectorBugs()),
		hunted("islands", islands, islandBugs()),
		hunted("matching", matching, matchingBugs()),
	)
}

// hunted says where bugs are hunted.
func hunted(where string, by arena, bugs []Bug) []Bug {
	for i := range bugs {
		bugs[i].Arena, bugs[i].arena = where, by
	}
	return bugs
}

func agreement(f era.Flaw) control.Flaws { return control.Flaws{Agreement: f} }

func agreementBugs() []Bug {
	return []Bug{
		{Name: "A1", Rule: "a RESULTREQUEST proves no death", Flaws: agreement(era.FlawA1), Breaks: []string{"I1", "I6"}, nmax: 12},
		{Name: "A3", Rule: "an early message is kept", Flaws: agreement(era.FlawA3), Breaks: []string{"I2"}},
		{Name: "A4", Rule: "an UP counts while waiting, too", Flaws: agreement(era.FlawA4), Breaks: []string{"I2"}},
		{Name: "A5", Rule: "no acknowledged set is not an empty one (Open MPI's variant)", Flaws: agreement(era.FlawA5), Breaks: []string{"R36"}},
		{Name: "A5b", Rule: "the dead count as failed even if they had contributed", Flaws: agreement(era.FlawA5b), Breaks: []string{"R36", "R38"}},
		{Name: "A6", Rule: "DOWN only from whom one listens to (Open MPI's variant: from anybody)", Flaws: agreement(era.FlawA6), Breaks: []string{"I1"}},
		{Name: "A6-print", Rule: "a root takes the answer to its question (as printed it takes none)", Flaws: agreement(era.FlawA6Print), Breaks: []string{"I2"}},
		{Name: "A8", Rule: "a new root remembers who contributed", Flaws: agreement(era.FlawA8), Breaks: []string{"I2"}},
		{Name: "A9", Rule: "a root asks its new children at each death", Flaws: agreement(era.FlawA9), Breaks: []string{"I2"}},
		{Name: "A10", Rule: "who asks a waiting member is written down", Flaws: agreement(era.FlawA10), Breaks: []string{"I2"}},
		{Name: "A10-never", Rule: "who asks is written down (Open MPI's variant: never)", Flaws: agreement(era.FlawA10Never), Breaks: []string{"I2"}},
		{Name: "A11", Rule: "parents and children fit together", Flaws: agreement(era.FlawA11), Breaks: []string{"I2"}},
		{Name: "A12", Rule: "the tree leaves out the dead agreed up to k-W, not those before k", Flaws: agreement(era.FlawA12), Breaks: []string{"I2", "I3", "no anomaly", "assert"}},
		{Name: "A13", Rule: "a contribution says who is dead", Flaws: agreement(era.FlawA13), Breaks: []string{"R38", "R36", "I3"}},
		{Name: "A14", Rule: "a decision is kept until nobody can ask", Flaws: agreement(era.FlawA14), Breaks: []string{"I2", "no anomaly"}},
		{Name: "A14-madeup", Rule: "no answer is made up for a forgotten decision (Open MPI's variant)", Flaws: agreement(era.FlawA14MadeUp), Breaks: []string{"I1", "I3"}},
		{Name: "A19", Rule: "after a death one looks whether one can decide", Flaws: agreement(era.FlawA19), Breaks: []string{"I2"}},
		{Name: "A23", Rule: "the agreement as printed (Parts 1-4)", Flaws: agreement(era.FlawPaper), Breaks: []string{"I1", "I2"}},
		{Name: "tell", Rule: "contributors are told the decision (rule 6)", Flaws: agreement(era.FlawTell), Breaks: []string{"I2"}},
	}
}

func revocationBugs() []Bug {
	return []Bug{
		{Name: "B3-relay", Rule: "a set that grew is sent on", Flaws: control.Flaws{Revocation: flood.FlawRelay}, Breaks: []string{"I8", "I2"}},
		{Name: "B4", Rule: "a revocation is kept for a pending communicator", Flaws: control.Flaws{DropEarlyRevoke: true}, Breaks: []string{"I8", "I2"}},
		{Name: "R13", Rule: "a revocation ends the creations that wait", Flaws: control.Flaws{RevokeEndsNothing: true}, Breaks: []string{"I2"}},
	}
}

// floodBugs are hunted in the flood alone: in a cluster the graph of neighbours has
// so many edges that a random cut is very rare.
func floodBugs() []Bug {
	return []Bug{
		{Name: "B3-mend", Rule: "a flood cut by deaths is mended", Flaws: control.Flaws{Revocation: flood.FlawMend}, Breaks: []string{"I8"}},
	}
}

func compositionBugs() []Bug {
	return []Bug{
		{Name: "A2", Rule: "the dead are not heard", Flaws: control.Flaws{HearTheDead: true}, Breaks: []string{"I1", "I3", "no anomaly"}},
		{Name: "A3-pending", Rule: "a frame is kept for a pending communicator", Flaws: control.Flaws{DropEarly: true}, Breaks: []string{"I2"}},
		{Name: "A15", Rule: "no context index is used again", Flaws: control.Flaws{ReuseIndex: true}, Breaks: []string{"I9", "assert"}},
		{Name: "R15", Rule: "a gathering that ends with \"revoked\" revokes its parent", Flaws: control.Flaws{SpareTheParent: true}, Breaks: []string{"R15"}},
		{Name: "R31", Rule: "agreed deaths are declared before the result", Flaws: control.Flaws{ResultFirst: true}, Breaks: []string{"R31"}},
		{Name: "R39", Rule: "a shrink leaves out the agreed dead, not one's own", Flaws: control.Flaws{OwnView: true}, Breaks: []string{"I1", "I3", "I9", "R39"}},
		{Name: "R62", Rule: "nobody waits for who has finalized", Flaws: control.Flaws{WaitForTheLeft: true}, Breaks: []string{"I2"}},
		{Name: "absent", Rule: "who gave up a creation says so to those who have it", Flaws: control.Flaws{StayAwayInSilence: true}, Breaks: []string{"I2", "I8"}},
		{Name: "hearsay", Rule: "who hears that a communicator is closed tells who waits for it", Flaws: control.Flaws{EndInSilence: true}, Breaks: []string{"I2"}},
	}
}

// ringBugs and wildBugs are bugs of the detector that whole clusters show.
func ringBugs() []Bug {
	return []Bug{
		{Name: "B5-cluster", Rule: "a death learnt from others rewires the ring", Flaws: detector(fd.FlawB5), Breaks: []string{"I2", "I5", "I6", "assert"}},
	}
}

func wildBugs() []Bug {
	return []Bug{
		{Name: "A24", Rule: "who is declared dead returns no result any more", Flaws: control.Flaws{SurviveFence: true}, Breaks: []string{"I1", "I2", "I6"}},
		{Name: "B20-cluster", Rule: "who learns of its own death stops", Flaws: detector(fd.FlawB20), Breaks: []string{"I1", "I2", "I6", "R31"}},
	}
}

func detector(f fd.Flaw) control.Flaws { return control.Flaws{Detector: f} }

func detectorBugs() []Bug {
	return []Bug{
		{Name: "fd-A2", Rule: "the dead are not heard by the detector", Flaws: detector(fd.FlawA2), Breaks: []string{"I6", "I5"}},
		{Name: "B1", Rule: "only the emitter's messages count for its timing", Flaws: detector(fd.FlawB1), Breaks: []string{"I5"}},
		{Name: "B2", Rule: "a stale NEWOBSERVER is not obeyed, and deaths correct the ring", Flaws: detector(fd.FlawB2), Breaks: []string{"I5", "I6"}},
		{Name: "B3-fd", Rule: "a cut flood is mended, and heartbeats carry a digest of the dead", Flaws: control.Flaws{Notices: flood.FlawMend, Detector: fd.FlawB3}, Breaks: []string{"I5"}},
		{Name: "B3-fd-relay", Rule: "a death notice that is new is sent on", Flaws: control.Flaws{Notices: flood.FlawRelay, Detector: fd.FlawB3}, Breaks: []string{"I5"}},
		{Name: "B5", Rule: "a death learnt from others rewires the ring", Flaws: detector(fd.FlawB5), Breaks: []string{"I2", "I5", "assert"}},
		{Name: "B6", Rule: "all deaths of a notice are taken (RDAEMON: one)", Flaws: control.Flaws{Notices: flood.FlawOneItem, Detector: fd.FlawB3}, Breaks: []string{"I5"}},
		{Name: "B10", Rule: "a suspect is asked before it is declared", Flaws: detector(fd.FlawB10), Breaks: []string{"I6"}},
		{Name: "B12", Rule: "a death rewires whom one sends heartbeats to", Flaws: detector(fd.FlawB12), Breaks: []string{"I5", "I6"}},
		{Name: "B16", Rule: "who has left is not observed", Flaws: detector(fd.FlawB16), Breaks: []string{"I6", "I5"}},
		{Name: "B17", Rule: "one's own lateness is not another's silence", Flaws: detector(fd.FlawB17), Breaks: []string{"I6"}},
		{Name: "B19", Rule: "a broken connection is only a suspicion", Flaws: detector(fd.FlawB19), Breaks: []string{"I6"}},
		{Name: "B20", Rule: "who learns of its own death stops", Flaws: detector(fd.FlawB20), Breaks: []string{"I6"}},
		{Name: "F6", Rule: "a dead process that speaks is told that it is dead", Flaws: detector(fd.FlawF6), Breaks: []string{"I6"}},
	}
}

func islandBugs() []Bug {
	return []Bug{
		{Name: "B18", Rule: "the smaller side of a partition stops", Flaws: detector(fd.FlawB18), Breaks: []string{"I7"}},
	}
}

func matchingBugs() []Bug {
	return []Bug{
		{Name: "order", Rule: "messages of one source do not overtake each other", Matching: match.FlawOvertake, Breaks: []string{"I10"}},
		{Name: "posted", Rule: "of two receives the one posted first gets the message", Matching: match.FlawNamedFirst, Breaks: []string{"I10"}},
		{Name: "held", Rule: "what comes before its communicator is kept", Matching: match.FlawDropHeld, Breaks: []string{"I10"}},
		{Name: "R8", Rule: "complete messages of the dead are received", Matching: match.FlawR8, Breaks: []string{"I10"}},
		{Name: "R46", Rule: "a receive from the dead ends", Matching: match.FlawR46, Breaks: []string{"I8"}},
		{Name: "R46-order", Rule: "an announced message of the dead is not overtaken by a later one", Matching: match.FlawForgetLost, Breaks: []string{"I10"}},
		{Name: "B4-match", Rule: "a revocation before the communicator is kept", Matching: match.FlawRevokePending, Breaks: []string{"I8"}},
	}
}
