package edits

// hearTheDeadHere passes frames of the dead to the communicators.
var hearTheDeadHere = Change{controlControl, "\tif c.dead.Has(from) { // closed:", "\tif false { // closed:"}

// compositionBugs returns bugs of the composition of the rules (internal/protocol/control) and
// of the communicator.
func compositionBugs() []Edit {
	return []Edit{
		{
			Name: "A2", Rule: "frames of dead processes are dropped",
			Changes: []Change{hearTheDeadHere},
			Hunt:    cluster("I1", "I3", "no anomaly"),
		},
		{
			Name: "A3-pending", Rule: "a frame for a pending communicator is held",
			// All frames for a pending communicator except revocations are dropped.
			Changes: []Change{{controlControl, "\tif !w.hold(from, f) {\n", "\tif f.part != " + partRevoke + " {\n\t\treturn nil\n\t}\n\tif !w.hold(from, f) {\n"}},
			Hunt:    cluster("I2"),
		},
		{
			Name: "A15", Rule: "no context index is reused",
			// The index of a freed communicator is drawn again.
			Changes: []Change{{controlTable, "\ti := t.next()\n", `	i := t.next()
	for j := uint32(0); j < t.entries.n; j++ {
		if t.entries.list[j/pageLen] != nil && t.entries.at(j).state == Freed {
			i = j
			break
		}
	}
`}},
			Hunt: cluster("I9", "assert"),
		},
		{
			Name: "R15", Rule: "a gathering that ends with \"revoked\" revokes its parent",
			Changes: []Change{{controlGather, "\tif c.comm.live(parent.index()) == parent && !parent.Closing() {\n", "\tif false {\n"}},
			Hunt:    cluster("R15"),
			Tests: []Test{
				{Run: "TestScripts/r15.txt", Package: clusterFolder, Says: "R15 broken"},
				{Run: "TestShrink", Package: clusterFolder, Args: []string{"-planted", "r15"}, Passes: true},
			},
		},
		{
			Name: "R31", Rule: "agreed deaths are declared before the result is returned",
			// A result names deaths that this process has not declared.
			Changes: []Change{{controlCalls, "\tc.agreeDead(cm, d.Value.Dead)\n", ""}},
			Hunt:    cluster("R31"),
		},
		{
			Name: "R39", Rule: "a shrink excludes the agreed dead, not the locally known dead",
			// The shrink, like other calls, also counts the members as dead that only this process
			// knows to be dead.
			Changes: []Change{{controlCalls, "\tp := d.Proposal\n", "\td.Value.Dead.Union(cm.Failed().Set())\n\tp := d.Proposal\n"}},
			Hunt:    cluster("I1", "I3", "I9", "R39"),
		},
		{
			Name: "R62", Rule: "no process waits for a process that has finalized",
			Changes: []Change{
				{controlCalls, "if world := c.comm.live(c.world); world != nil {", "if world := c.comm.live(c.world); world != nil && false {"},
				{controlCalls, "comms() {\n\t\tc.tellLeft(cm, proc)\n", "comms() {\n\t\t_ = cm\n"},
			},
			Hunt: cluster("I2"),
		},
		{
			Name: "absent", Rule: "a process that gave up a creation notifies the members that have the communicator",
			Changes: []Change{{controlCalls, "\t\tif rank != g.Me {\n\t\t\tc.send(proc, closedNote", "\t\tif rank < 0 {\n\t\t\tc.send(proc, closedNote"}},
			Hunt:    cluster("I2", "I8"),
		},
		{
			Name: "hearsay", Rule: "a process that learns that a communicator is closed notifies the members that wait for it",
			Changes: []Change{{commRules, "Tell: c.closers.Clone()", "Tell: rankset.Set{}"}},
			Hunt:    cluster("I2"),
		},
	}
}
