package edits

import (
	_ "embed" // of what is added
	"slices"
)

// paper is ERA as printed (Parts 2 and 4).
//
//go:embed testdata/paper.go.txt
var paper string

// agreementBugs are bugs of the agreement by messages (era). "Splits" means that members
// decide differently, "stalls" that some never decide.
func agreementBugs() []Edit {
	return slices.Concat(messageBugs(), rootBugs(), decisionBugs())
}

// messageBugs are about what a member does with a message.
func messageBugs() []Edit {
	return []Edit{
		{
			Name: Canary, Rule: "an agreement waits for all its children",
			// Nobody waits for its children. Any check must notice.
			Changes: []Change{{eraAgreement, "\t\treturn false\n\t}\n\treturn true", "\t\treturn true\n\t}\n\treturn true"}},
			Hunt:    cluster("I1", "I3"),
		},
		{
			Name: "A1", Rule: "a RESULTREQUEST proves no death",
			// A RESULTREQUEST from q proves that every r < q is dead, and is answered by an UP to
			// q, who need not be the parent. Splits.
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
			// A message for an agreement that is not entered here is dropped. Stalls.
			Changes: []Change{{eraSeries, "\tcase ev.Seq > s.entered+Window:\n", "\tcase ev.Seq > s.entered:\n\tcase ev.Seq > s.entered+Window:\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A4", Rule: "an UP counts while waiting, too",
			// A waiting member does nothing with an UP, as printed. Stalls.
			Changes: []Change{{eraAgreement, "\ta.value.Merge(v)\n", "\tif a.state == waiting {\n\t\treturn\n\t}\n\ta.value.Merge(v)\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A5", Rule: "no acknowledged set is not an empty one (Open MPI's variant)",
			// No acknowledged set and an empty one are the same thing: one that comes later
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
			},
		},
		{
			Name: "A6", Rule: "DOWN only from whom one listens to (Open MPI's variant: from anybody)",
			// DOWN is taken from anybody, closed members included. Splits.
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
			Name: "A6-print", Rule: "a root takes the answer to its question (as printed it takes none)",
			// DOWN is taken from the parent alone, hence by no root: not even the answer to its own
			// RESULTREQUEST. Stalls.
			Changes: []Change{{eraAgreement, "case y == a.parent, a.asked.Has(y):", "case y == a.parent:"}},
			Hunt:    cluster("I2"),
		},
	}
}

// rootBugs are about a member that becomes root, and those whom it asks.
func rootBugs() []Edit {
	return []Edit{
		{
			Name: "A8", Rule: "a new root remembers who contributed",
			// A new root forgets who had contributed. Stalls.
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
			Name: "A9", Rule: "a root asks its new children at each death",
			// A root asks when it becomes root, and not again when a later death gives it new
			// children. Stalls.
			Changes: []Change{{eraAgreement, "\tif a.state == waiting && x == a.parent {\n\t\ta.reattach()\n\t}\n\tif a.state == gathering", "\twaited := a.state == waiting\n\tif waited && x == a.parent {\n\t\ta.reattach()\n\t}\n\tif waited && a.state == gathering"}},
			Hunt:    cluster("I2"),
			Tests:   []Test{{Run: "TestRandomSchedules/short", Says: ": termination:"}},
		},
		{
			Name: "A10", Rule: "who asks a waiting member is written down",
			// A waiting member does not write down who requested the result. Stalls.
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
			Name: "A10-never", Rule: "who asks is written down (Open MPI's variant: never)",
			// A RESULTREQUEST is never written down, and makes the member send its UP to its own
			// parent again. Stalls.
			Changes: []Change{{eraAgreement, addRequester, "\tif a.state == waiting {\n\t\ta.send(a.parent, Up{a.value})\n\t}\n\ta.probeParent(q)\n"}},
			Hunt:    cluster("I2"),
		},
	}
}

// decisionBugs are about the tree, and about what is decided, told and kept.
func decisionBugs() []Edit {
	return []Edit{
		{
			Name: "A11", Rule: "parents and children fit together",
			// The parent of position p is p/2 although positions count from 0, as printed for heaps
			// that count from 1. Children are found by the rule of before. Stalls.
			Changes: []Change{{eraSeries, "newShape(cfg.Parent, n)", "&shape{parent: func(pos int) int {\n\t\tif pos == 0 {\n\t\t\treturn -1\n\t\t}\n\t\treturn pos / 2\n\t}}"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A12", Rule: "the tree leaves out the dead agreed up to k-W, not those before k",
			// The tree for agreement k leaves out the dead agreed before k, instead of those agreed
			// up to k-Window. Members that decide in different orders build different trees.
			// Stalls.
			Changes: []Change{{eraSeries, "\tif s.gone.Union(leaving) {\n", "\tleaving = leaving.Clone()\n\tfor _, dead := range s.agreedDead {\n\t\tleaving.Union(dead)\n\t}\n\tif s.gone.Union(leaving) {\n"}},
			Hunt:    cluster("I2", "I3", "no anomaly", "assert"),
			Tests:   []Test{{Run: "TestRandomSchedules/long", Says: ": termination:"}},
		},
		{
			Name: "A13", Rule: "a contribution says who is dead",
			// An UP does not say who is dead; the root adds whom it knows itself. A death that a
			// contributor had reported goes missing.
			Changes: []Change{{eraAgreement, "\ta.value.Dead.Union(a.dead)\n\ta.parent = p\n", "\ta.parent = p\n"}},
			Hunt:    cluster("R38", "R36", "I3"),
		},
		{
			Name: "A14", Rule: "a decision is kept until nobody can ask",
			// A decision is forgotten as soon as all before it are decided here. Who asks for it
			// later is not answered. Stalls.
			Changes: []Change{forgetAtOnce},
			Hunt:    cluster("I2", "no anomaly"),
		},
		{
			Name: "A14-madeup", Rule: "no answer is made up for a forgotten decision (Open MPI's variant)",
			// The same, and who asks later is told a success that nobody decided. Splits.
			Changes: []Change{forgetAtOnce, {eraSeries, "\tcase ev.Seq < s.low:\n", `	case ev.Seq < s.low:
		claim := Claim{Rank: ev.From}
		v := Value{From: rankset.Of(ev.From), Lo: claim, Hi: claim, Flag: ^uint64(0), Returned: 1}
		s.out = append(s.out, Send{To: ev.From, Seq: ev.Seq, Msg: AppendMessage(nil, Down{v})})
`}},
			Hunt: cluster("I1", "I3"),
		},
		{
			Name: "A19", Rule: "after a death one looks whether one can decide",
			// Who becomes root, or loses the last child that it waits for, does not look whether it
			// can decide now. Stalls.
			Changes: []Change{{eraAgreement, "\t\ta.ask()\n\t}\n\ta.evaluate()\n", "\t\ta.ask()\n\t}\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A23", Rule: "the agreement as printed (Parts 1-4)",
			// Splits and stalls.
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
			Name: "tell", Rule: "contributors are told the decision (rule 6)",
			// A decision goes to children and requesters, not to all who have contributed. Stalls.
			Changes: []Change{{eraAgreement, "\tto.Union(a.contributors)\n", ""}},
			Hunt:    cluster("I2"),
		},
	}
}

const (
	// smallestWorlds are those of three members of which two die, in every order.
	smallestWorlds = "TestExhaustive/n=3,f=2,k=1,chain=false"
	// smallestClusters are the same through the composed control rules.
	smallestClusters = "TestSearches/agree_n=3_f=2"

	addRequester = "\ta.requesters.Add(q)\n\ta.probeParent(q)\n"
)

var forgetAtOnce = Change{eraSeries, "\ts.forget(a.value.Returned)\n", "\ts.forget(s.decided + 1)\n"}

// hearTheDead lets frames of closed members through. What such a member says may be
// reported, because living and dead may differ (A17): that is not the bug itself.
func hearTheDead() []Change {
	return []Change{
		{eraSeries, "if s.isClosed(ev.From) {", "if false {"},
		{eraCluster, "\treturn fmt.Errorf(\"anomaly at", "\tif c.dead.Has(a.From) {\n\t\treturn nil\n\t}\n\treturn fmt.Errorf(\"anomaly at"},
		hearTheDeadHere,
	}
}
