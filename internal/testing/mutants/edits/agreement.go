package edits

import (
	_ "embed" // of the added file
	"slices"
)

// paper has Parts 2 and 4 of ERA as printed, except that a root accepts the answer to its request.
//
//go:embed testdata/paper.go.txt
var paper string

// agreementBugs returns the bugs of the agreement by messages (era). "Splits" means that members
// decide differently, "stalls" that some never decide.
func agreementBugs() []Edit {
	return slices.Concat(messageBugs(), rootBugs(), decisionBugs())
}

// messageBugs returns bugs in the handling of messages by a member.
func messageBugs() []Edit {
	return []Edit{
		{
			Name: Canary, Rule: "an agreement waits for all its children",
			// No member waits for its children. Any check must find this bug.
			Changes: []Change{{eraAgreement, "\t\treturn false\n\t}\n\treturn true", "\t\treturn true\n\t}\n\treturn true"}},
			Hunt:    cluster("I1", "I3"),
		},
		{
			Name: "A1", Rule: "a RESULTREQUEST proves no death",
			// A RESULTREQUEST from q proves that every r < q is dead, and is answered by an UP
			// to q, which need not be the parent. Splits.
			Changes: []Change{
				{eraSeries, "\tcase ResultRequest:\n", "\tcase ResultRequest:\n\t\tfor r := range from {\n\t\t\ts.failed(r)\n\t\t}\n"},
				{eraAgreement, addRequester, "\ta.requesters.Add(q)\n\tif a.state == waiting {\n\t\ta.send(q, Up{a.value})\n\t}\n\ta.probeParent(q)\n"},
			},
			Hunt: Hunt{Arena: "cluster", Breaks: []string{"I1", "I6"}, NMax: 12},
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Package: eraFolder, Says: ": agreement:"},
				{Run: "TestA23$", Package: eraFolder, Says: ": agreement:"},
				{Run: "TestScripts/a1.txt", Package: clusterFolder, Says: "I6 broken"},
			},
		},
		{
			Name: "A3", Rule: "an early message is kept",
			// A message for an agreement that this member has not entered is dropped. Stalls.
			Changes: []Change{{eraSeries, "\tcase ev.Seq > s.entered+Window:\n", "\tcase ev.Seq > s.entered:\n\tcase ev.Seq > s.entered+Window:\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A4", Rule: "an UP that arrives at a waiting member counts, too",
			// A waiting member ignores an UP, as printed. Stalls.
			Changes: []Change{{eraAgreement, "\ta.value.Merge(v)\n", "\tif a.state == waiting {\n\t\treturn\n\t}\n\ta.value.Merge(v)\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A5", Rule: "a missing acknowledged set differs from an empty one (Open MPI's variant)",
			// A missing acknowledged set and an empty one are treated as equal: a later set
			// overwrites an empty one. Success with different acknowledged sets.
			Changes: []Change{
				{eraAgreement, "\ta.value.Merge(own)\n", "\ta.mergeUnset(own)\n"},
				{eraAgreement, "\ta.value.Merge(v)\n", "\ta.mergeUnset(v)\n"},
				{eraAgreement, "// request handles a RESULTREQUEST", `// mergeUnset takes an empty acknowledged set for none that was stored yet.
func (a *agreement) mergeUnset(w Value) {
	unset := !w.From.IsEmpty() && a.value.Acked.IsEmpty()
	a.value.Merge(w)
	if unset {
		a.value.Acked = w.Acked.Clone()
	}
}

// request handles a RESULTREQUEST`},
			},
			Hunt: cluster("R36"),
		},
		{
			Name: "A5b", Rule: "the dead count as failed even if they had contributed",
			// Only dead members that did not contribute count as an error. Success with different
			// acknowledged sets.
			Changes: []Change{{eraAgreement, "\ta.decide(v, -1)\n", "\tv.Dead.Subtract(v.From)\n\ta.decide(v, -1)\n"}},
			Hunt:    cluster("R36", "R38"),
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Says: ": R36:"},
				{Run: smallestWorlds, Says: "R36:"},
				{Run: "TestScripts", Script: "A5b.txt"},
				{Package: "internal/testing/sim/cluster", Run: "TestSearches", Says: "R38: "},
			},
		},
		{
			Name: "A6", Rule: "a member accepts DOWN only from its parent or from a member that it has asked (Open MPI's variant: from any)",
			// DOWN is accepted from any member, closed members included. Splits.
			Changes: append(hearTheDead(),
				Change{eraAgreement, "if !a.value.Equal(v) {", "if false {"},
				Change{eraAgreement, "case y == a.parent, a.asked.Has(y):", "case y == a.parent, a.asked.Has(y), a.state != notEntered:"}),
			Hunt: cluster("I1"),
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Package: eraFolder, Says: ": agreement:"},
				{Run: smallestWorlds, Package: eraFolder, Says: "agreement:"},
				{Run: smallestClusters, Package: clusterFolder},
				{Run: "TestScripts/a6.txt", Package: clusterFolder, Says: "I1 broken"},
			},
		},
		{
			Name: "A6-print", Rule: "a root accepts the answer to its request (as printed, none)",
			// DOWN is accepted from the parent alone, hence by no root: not even the answer to
			// its own RESULTREQUEST. Stalls.
			Changes: []Change{{eraAgreement, "case y == a.parent, a.asked.Has(y):", "case y == a.parent:"}},
			Hunt:    cluster("I2"),
		},
	}
}

// rootBugs returns bugs of a member that becomes root, and of the members that receive its
// requests.
func rootBugs() []Edit {
	return []Edit{
		{
			Name: "A8", Rule: "a new root remembers its contributors",
			// A new root forgets its contributors. Stalls.
			Changes: []Change{{eraAgreement, "\ta.parent = -1\n\ta.become(gathering)\n", "\ta.parent = -1\n\ta.become(gathering)\n\ta.contributors = rankset.Set{}\n"}},
			Hunt:    cluster("I2"),
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Says: ": termination:"},
				{Run: smallestWorlds, Says: "termination:"},
				{Run: smallestClusters, Package: clusterFolder, Says: "I2"},
				{Run: "TestScripts/a8.txt", Package: clusterFolder, Says: "I2 broken"},
				{Run: "TestShrink", Package: clusterFolder, Args: []string{"-planted", "a8"}, Passes: true},
			},
		},
		{
			Name: "A9", Rule: "a root sends requests to its new children at each death",
			// A root sends requests when it becomes root, and not again when a later death gives
			// the root new children. Stalls.
			Changes: []Change{{eraAgreement, "\tif a.state == waiting && x == a.parent {\n\t\ta.reattach()\n\t}\n\tif a.state == gathering", "\twaited := a.state == waiting\n\tif waited && x == a.parent {\n\t\ta.reattach()\n\t}\n\tif waited && a.state == gathering"}},
			Hunt:    cluster("I2"),
			Tests:   []Test{{Run: "TestRandomSchedules/short", Says: ": termination:"}},
		},
		{
			Name: "A10", Rule: "a waiting member records each requester",
			// A waiting member does not record the requesters of the result. Stalls.
			Changes: []Change{{eraAgreement, addRequester, "\tif a.state != waiting {\n\t\ta.requesters.Add(q)\n\t}\n\ta.probeParent(q)\n"}},
			Hunt:    cluster("I2"),
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Says: ": termination:"},
				{Run: smallestWorlds, Says: "termination:"},
				{Run: smallestClusters, Package: clusterFolder},
				{Run: "TestScripts/a10.txt", Package: clusterFolder, Says: "I2 broken"},
				{Run: "TestScripts", Script: "A10.txt"},
			},
		},
		{
			Name: "A10-never", Rule: "a member records each requester (Open MPI's variant: never)",
			// A RESULTREQUEST is never recorded. Instead a waiting member sends its UP to its
			// own parent again. Stalls.
			Changes: []Change{{eraAgreement, addRequester, "\tif a.state == waiting {\n\t\ta.send(a.parent, Up{a.value})\n\t}\n\ta.probeParent(q)\n"}},
			Hunt:    cluster("I2"),
		},
	}
}

// decisionBugs returns bugs of the tree, and of the making, the sending and the keeping of
// decisions.
func decisionBugs() []Edit {
	return []Edit{
		{
			Name: "A11", Rule: "the rules for parents and for children match",
			// The parent of position p is p/2 although positions count from 0, as printed for
			// heaps that count from 1. The rule for children is unchanged. Stalls.
			Changes: []Change{{eraSeries, "newShape(cfg.Parent, n)", "&shape{parent: func(pos int) int {\n\t\tif pos == 0 {\n\t\t\treturn -1\n\t\t}\n\t\treturn pos / 2\n\t}}"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A12", Rule: "the tree for agreement k omits the dead agreed up to k-W, not all dead agreed before k",
			// The tree for agreement k omits the dead agreed before k, instead of the dead
			// agreed up to k-Window. Members that decide in different orders build different
			// trees. Stalls.
			Changes: []Change{{eraSeries, "\tif s.gone.Union(leaving) {\n", "\tleaving = leaving.Clone()\n\tfor _, dead := range s.agreedDead {\n\t\tleaving.Union(dead)\n\t}\n\tif s.gone.Union(leaving) {\n"}},
			Hunt:    cluster("I2", "I3", "no anomaly", "assert"),
			Tests:   []Test{{Run: "TestRandomSchedules/long", Says: ": termination:"}},
		},
		{
			Name: "A13", Rule: "a contribution names the known dead",
			// An UP does not name the deaths that its sender knows, and the root adds only its own
			// known ones. A death that only other members know is lost.
			Changes: []Change{{eraAgreement, "\ta.value.Dead.Union(a.dead)\n\ta.parent = p\n", "\ta.parent = p\n"}},
			Hunt:    cluster("R38", "R36", "I3"),
		},
		{
			Name: "A14", Rule: "a member keeps a decision while another member may request it",
			// A member forgets a decision as soon as it and all earlier ones are decided here. It
			// does not answer a later request. Stalls.
			Changes: []Change{forgetAtOnce},
			Hunt:    cluster("I2", "no anomaly"),
		},
		{
			Name: "A14-madeup", Rule: "a member invents no answer for a forgotten decision (Open MPI's variant)",
			// The same, and any later message is answered with a success that no member decided.
			// Splits.
			Changes: []Change{forgetAtOnce, {eraSeries, "\tcase ev.Seq < s.low:\n", `	case ev.Seq < s.low:
		claim := Claim{Rank: ev.From}
		v := Value{From: rankset.Of(ev.From), Lo: claim, Hi: claim, Flag: ^uint64(0), Returned: 1}
		s.out = append(s.out, Send{To: ev.From, Seq: ev.Seq, Msg: AppendMessage(nil, Down{v})})
`}},
			Hunt: cluster("I1", "I3"),
		},
		{
			Name: "A19", Rule: "after a death a member checks whether it can decide",
			// A member that becomes root, or loses the last child that it waits for, does not
			// check whether it can decide, or contribute, now. Stalls.
			Changes: []Change{{eraAgreement, "\t\ta.ask()\n\t}\n\ta.evaluate()\n", "\t\ta.ask()\n\t}\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A23", Rule: "the agreement as printed (Parts 1-4)",
			// Parts 2 and 4 are in testdata/paper.go.txt, and depart from the print in one place
			// (A6). Splits and stalls.
			Changes: append(hearTheDead(),
				Change{eraPaper, "", paper},
				Change{eraSeries, "\tswitch m := m.(type) {\n\tcase Up:\n\t\ta.up(", "\tdeliverPaper(a, from, m)\n\treturn\n\tswitch m := m.(type) {\n\tcase Up:\n\t\ta.up("},
				Change{eraSeries, "\ts.closed.Add(x)\n", "\ts.closePaper(x)\n\treturn\n"},
				Change{eraAgreement, "\tto.Union(a.contributors)\n", ""}),
			Hunt: cluster("I1", "I2"),
			Tests: []Test{
				{Run: "TestRandomSchedules/short", Package: eraFolder, Says: ": termination:"},
				{Run: smallestWorlds, Package: eraFolder, Says: "termination:"},
				{Run: "TestA23$", Package: eraFolder, Says: ": agreement:"},
				{Run: "TestScripts/paper.txt", Package: clusterFolder, Says: "I2 broken"},
				{Run: "TestScripts", Package: eraFolder, Script: "A23.txt"},
			},
		},
		{
			Name: "tell", Rule: "contributors receive the decision (rule 6)",
			// A decision is sent to children and requesters, not to all contributors. Stalls.
			Changes: []Change{{eraAgreement, "\tto.Union(a.contributors)\n", ""}},
			Hunt:    cluster("I2"),
		},
	}
}

const (
	// smallestWorlds selects the worlds of three members, two of which die, in every order.
	smallestWorlds = "TestExhaustive/n=3,f=2,k=1,chain=false"
	// smallestClusters are the same through the composed control rules.
	smallestClusters = "TestSearches/agree_n=3_f=2"

	addRequester = "\ta.requesters.Add(q)\n\ta.probeParent(q)\n"
)

var forgetAtOnce = Change{eraSeries, "\ts.forget(a.value.Returned)\n", "\ts.forget(s.decided + 1)\n"}

// hearTheDead accepts frames of closed members. An anomaly in the frames of such a member is not
// reported: the living may decide otherwise than the dead (A17), and that is not the bug itself.
func hearTheDead() []Change {
	return []Change{
		{eraSeries, "if s.isClosed(ev.From) {", "if false {"},
		{eraCluster, "\treturn fmt.Errorf(\"anomaly at", "\tif c.dead.Has(a.From) {\n\t\treturn nil\n\t}\n\treturn fmt.Errorf(\"anomaly at"},
		hearTheDeadHere,
	}
}
