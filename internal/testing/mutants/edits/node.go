package edits

// nodeBugs returns bugs of the agreement in shared memory (era/onenode). Two of them need two
// members in the middle of a step, which the simulator does not have.
func nodeBugs() []Edit {
	return []Edit{
		{
			Name: "onenode-skip", Rule: "a member reads the line of a dead member after it has learnt of the death",
			// A member skips a member that it knows to be dead, without a poll of its line (I1).
			// Splits.
			Changes: []Change{{nodeDecide, "\t\tcase s.isHere(m, k):\n", "\t\tcase s.closed.Has(m):\n\t\t\tskipped.Add(m)\n\t\tcase s.isHere(m, k):\n"}},
			Hunt:    Hunt{Arena: "memory", Breaks: []string{"I1"}},
			Tests: []Test{
				{Run: "TestExhaustive/n=3,k=1,f=1,w=1,leaves,one_victim,noack", Says: "agreement:"},
				{Run: "TestScripts", Script: "onenode-skip.txt"},
			},
		},
		{
			Name: "onenode-own-view", Rule: "a decision from all lines is a function of them alone",
			// A member adds the deaths that it knows (I2). Splits.
			Changes: []Change{{nodeDecide, "\ts.decide(k, s.value)\n", "\ts.value.Dead.Union(s.dead)\n\ts.decide(k, s.value)\n"}},
			Hunt:    Hunt{Arena: "memory", Breaks: []string{"I1"}},
			Tests:   []Test{{Run: "TestExhaustive/n=3,k=1,f=1,w=1,leaves,one_victim,noack", Says: "agreement:"}},
		},
		{
			Name: "onenode-swap", Rule: "the first to swap the decision word decides for all",
			// Each member decides its own value (I3). Splits.
			Changes: []Change{{nodeDecide, "k, s.me)) {", "k, s.me)) || true {"}},
			Tests:   []Test{{Run: "TestExhaustive/n=3,k=1,f=1,w=1,leaves,noack", Args: []string{"-long"}, Says: "agreement:"}},
		},
		{
			Name: "onenode-slots", Rule: "a line is not overwritten while a member needs it",
			// There are W+1 slots: splits and stalls.
			Changes: []Change{{nodeSeries, "s.slots = 2 * s.window", "s.slots = s.window + 1"}},
			Tests:   []Test{{Run: "TestExhaustive/n=2,k=5,f=0,w=2"}},
		},
	}
}
