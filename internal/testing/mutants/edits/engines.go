package edits

// components are the edits of internal/joblaunch/rm about steps of Slurm's that have several
// components.
func components() []Edit {
	return []Edit{
		{
			Name: "components-order", Rule: "a node is where its name is among those of the step, whatever its number",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", "\t\tc.Node = at\n", "\t\t_ = at\n"}},
			Tests:   []Test{{Run: "TestComponentsAreOneWorld"}},
		},
		{
			Name: "components-shared", Rule: "where components share a node its name does not tell which of them this is",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", " && len(slices.Compact(sorted)) == len(c.Hosts) {", " && len(sorted) > 0 {"}},
			Tests:   []Test{{Run: "TestComponentsThatShareANode"}},
		},
		{
			Name: "components-names", Rule: "a list that does not name this node names no other for certain",
			Changes: []Change{{"internal/joblaunch/rm/slurm.go", "\tif c.Hosts[c.Node] != name {", "\tif false {"}},
			Tests:   []Test{{Run: "TestComponentsThatCannotBePlaced"}},
		},
		{
			Name: "components-allocation", Rule: "no job is started in one component as if it were all",
			Changes: []Change{{"internal/joblaunch/rm/allocation.go", "; ok && components > 1 {", "; ok && components < 1 {"}},
			Tests:   []Test{{Run: "TestAllocation"}},
		},
	}
}
