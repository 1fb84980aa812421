package edits

// components returns the bugs of internal/joblaunch/rm in Slurm steps and allocations with several
// components.
func components() []Edit {
	return []Edit{
		{
			Name: "components-order", Rule: "a node's place is the position of its name in the list of the step, not its number",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", "\t\tc.Node = at\n", "\t\t_ = at\n"}},
			Tests:   []Test{{Run: "TestComponentsAreOneWorld"}},
		},
		{
			Name: "components-shared", Rule: "if components share a node, the node's name does not identify a component",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", " && len(slices.Compact(sorted)) == len(c.Hosts) {", " && len(sorted) > 0 {"}},
			Tests:   []Test{{Run: "TestComponentsThatShareANode"}},
		},
		{
			Name: "components-names", Rule: "a list that has another name at the place of this node is ignored",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", "\tif c.Hosts[c.Node] != name {", "\tif false {"}},
			Tests:   []Test{{Run: "TestComponentsThatCannotBePlaced"}},
		},
		{
			Name: "components-allocation", Rule: "no job starts in one component as if that component were the whole allocation",
			Changes: []Change{{"internal/joblaunch/rm/allocation.go", "; ok && components > 1 {", "; ok && components < 1 {"}},
			Tests:   []Test{{Run: "TestAllocation"}},
		},
	}
}
