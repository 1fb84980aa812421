package edits

import "slices"

// acrossNodes returns bugs that jobs on several nodes find, in which all rules about nodes,
// lanes and agreements act together. Most are bugs of a single rule that its own tests find,
// too: these have the same name with the prefix "nodes-". The other bugs of lanes, nodes and
// two-level agreements are not listed here: some need a schedule that a whole job meets once in
// many thousands of runs, or a fault that never ends.
func acrossNodes() []Edit {
	alone := slices.Concat(detection(), succession(), lanes(), twoLevelBugs())
	hunted := func(name string, breaks ...string) Edit {
		e := alone[slices.IndexFunc(alone, func(e Edit) bool { return e.Name == name })]
		e.Name, e.Tests, e.Hunt = "nodes-"+name, nil, Hunt{Arena: "nodes", Breaks: breaks}
		return e
	}
	return []Edit{
		hunted("roster-F4", "I6"),
		hunted("roster-F5", "I18"),
		hunted("roster-F6", "I18"),
		{
			Name: "nodes-F7", Rule: "a node that learns of its own death ends",
			Changes: []Change{{File: "internal/protocol/membership/roster.go", Old: "\tcase dead:\n\t\tr.fence(from)\n", New: "\tcase dead:\n"}},
			Hunt:    Hunt{Arena: "nodes", Breaks: []string{"I18"}},
		},
		hunted("roster-F8", "I18"),
		hunted("roster-F9", "I2"),
		hunted("roster-F11", "I18"),
		hunted("roster-F11-late", "I18"),
		hunted("roster-F12-half", "I18", "I20"),
		hunted("roster-B17", "I6"),
		hunted("roster-B22", "I7"),
		hunted("roster-B23", "I5", "B23", "assert"),
		hunted("roster-link", "I2"),
		hunted("session-from", "I19"),
		hunted("session-bye", "I19"),
		hunted("A25", "I2"),
		hunted("A25-answer", "I2"),
		hunted("A26", "I1", "I2"),
		hunted("A28-own", "R36"),
		hunted("twolevel-line", "I7"),
		hunted("twolevel-close", "I7"),
	}
}
