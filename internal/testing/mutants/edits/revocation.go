package edits

// revocationBugs returns bugs of revocations. Whole clusters, jobs on several nodes or tests of the
// packages find them.
func revocationBugs() []Edit {
	return []Edit{
		{
			Name: "B3-relay", Rule: "a process relays a set that grew",
			Changes: []Change{relayNothing},
			Hunt:    cluster("I8", "I2"),
		},
		{
			Name: "B4", Rule: "a revocation is kept for a pending communicator",
			Changes: []Change{{controlControl, "\tif !w.hold(from, f) {\n", "\tif f.part == " + partRevoke + " {\n\t\treturn nil\n\t}\n\tif !w.hold(from, f) {\n"}},
			Hunt:    cluster("I8", "I2"),
			Tests:   []Test{{Run: "TestScripts/early_revoke"}},
		},
		{
			Name: "R13", Rule: "a revocation ends the pending creations",
			Changes: []Change{{commRules, "func(p Proposal) bool { return p.Series == SeriesCreate }", "func(Proposal) bool { return false }"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "B24-early", Rule: "a revocation whose revoker has died is kept for a pending communicator",
			Changes: []Change{{"internal/protocol/control/calls.go", "\tif c.early.take(g) {\n", "\tif c.early.take(g) && false {\n"}},
			Tests:   []Test{{Run: "TestScripts/outlived"}},
		},
		{
			Name: "B24-member", Rule: "a revocation counts only if its revoker is a member",
			Changes: []Change{{"internal/protocol/commstate/call.go", "return g.UID.RevokedBy(int(proc)) == r && slices.Contains(g.Procs, int(proc))", "return g.UID.RevokedBy(int(proc)) == r && slices.Max(g.Procs) >= 0"}},
			Tests:   []Test{{Run: "TestRevocationOfATwin"}},
		},
		{
			Name: "B24-daemon", Rule: "a daemon reports the revocations of its dead processes",
			Changes: []Change{{"internal/joblaunch/remotedaemon/revocations_linux.go", "\tr.by[proc] = append(r.by[proc], name)\n", ""}},
			Tests:   []Test{{Run: "TestRevocationsOfTheDead"}},
		},
		{
			Name: "nodes-B24", Rule: "the revocation of a process that has died takes effect",
			Changes: []Change{{"internal/protocol/control/control.go", "\t\tif cm := c.early.hear(&c.comm, ev.Name); cm != nil {\n", "\t\tif cm := c.early.hear(&c.comm, ev.Name); cm != nil && false {\n"}},
			Hunt:    Hunt{Arena: "nodes", Breaks: []string{"B24"}},
		},
	}
}

var (
	// relayNothing: a process does not relay a set that a message has enlarged (RR-9024, T5,
	// forwards for ever).
	relayNothing = Change{floodFlood, "\tif grew {\n", "\tif grew && false {\n"}
	// mendNothing: a death that opens the ring is not repaired: no process gets another nearest
	// neighbour in the place of a dead one, and so none sends its set to such a neighbour.
	mendNothing = Change{floodFlood, "\tf.targets = f.findTargets()\n\tfor", "\tf.targets = slices.DeleteFunc(slices.Clone(f.targets), f.closed.Has)\n\tfor"}
)

// floodBugs returns bugs that are hunted in the flood alone: in a cluster the graph of
// neighbours has so many edges that a random cut is very rare.
func floodBugs() []Edit {
	return []Edit{
		{
			Name: "B3-mend", Rule: "a flood that deaths have cut is repaired",
			Changes: []Change{mendNothing},
			Hunt:    Hunt{Arena: "flood", Breaks: []string{"I8"}},
		},
	}
}
