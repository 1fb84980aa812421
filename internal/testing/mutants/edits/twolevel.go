package edits

// twoLevelBugs returns bugs of the agreement whose participants are nodes (era/twolevel, and its
// support in era). The worlds that find them belong to its own tests, in which steps are cut at
// every store. Whole jobs on several nodes find some of them, too: see acrossNodes.
func twoLevelBugs() []Edit {
	const (
		team   = "era/team.go"
		series = "era/twolevel/series.go"
		lead   = "era/twolevel/lead.go"
		lines  = "era/twolevel/lines.go"
		model  = "era/twolevel/cluster_test.go"

		// Nodes by their members; k agreements, f deaths, lost nodes.
		folder  = "era/twolevel"
		pairs   = "TestExhaustive/2,2,k=1,f=1,lost=0,leaves"
		triple  = "TestExhaustive/1,2,1,k=1,f=2,lost=0,noack"
		chained = "TestExhaustive/1,1,2,k=1,f=2,lost=0,noack"
		rumours = "TestExhaustive/1,1,2,k=1,f=1,lost=1,cutoff,first,begun,noack,elsewhere"
	)
	found := func(run, says string) []Test { return []Test{{Package: folder, Run: run, Says: says}} }
	return []Edit{
		{
			Name: "A25", Rule: "a member that waits for a node contributes again to the next leader of the node",
			Changes: []Change{{eraAgreement, "case a.state == waiting && p == a.parent:", "case false:"}},
			Tests:   found(pairs, "termination:"),
		},
		{
			Name: "A25-ask", Rule: "a root that has asked a node asks the next leader of the node again",
			Changes: []Change{{eraAgreement, "case a.state == gathering && a.asked.Has(p) && !a.contributors.Has(p):", "case false:"}},
			Tests:   found(chained, "termination:"),
		},
		{
			Name: "A25-heir", Rule: "a new leader of the root node asks the nodes below, as the earlier leader may have done",
			Changes: []Change{{lead, "Again: k <= s.inherited", "Again: false"}},
			Tests:   found(triple, "termination:"),
		},
		{
			Name: "A25-answer", Rule: "an answer is sent to the leader that asked, even before the end of the earlier leader is known",
			Changes: []Change{{team, "if i <= t.speaker[p] {", "if true {"}},
			Tests:   found(pairs, "termination:"),
		},
		{
			Name: "A26", Rule: "a decision is in the memory of the node before it is sent or returned",
			// The leader writes the decision in its next Step, unless it dies before.
			Changes: []Change{
				{lead, "\t\t\ts.write(d.Seq, d.Value)\n", "\t\t\ts.late = append(s.late, d)\n"},
				{series, "\tout []era.Action // of the Step in progress\n", "\tout  []era.Action // of the Step in progress\n\tlate []era.Decide\n"},
				{series, "\ts.out = s.out[:0]\n", "\ts.out = s.out[:0]\n\tfor _, d := range s.late {\n\t\ts.write(d.Seq, d.Value)\n\t}\n\ts.late = nil\n"},
				{model, "\ts := c.members[r]\n", "\ts := c.members[r]\n\tif len(s.late) > 0 {\n\t\treturn false\n\t}\n"},
			},
			Tests: found(pairs, "agreement:"),
		},
		{
			Name: "A27", Rule: "only the list of the node closes another node",
			// A death that another communicator's agreement reports closes the node, too. A
			// leader then binds its node to another node, and its heir listens to a node that is
			// cut off. Splits.
			Changes: []Change{{series, "\tcase Failed:\n\t\ts.learnDeath(ev.Rank)\n", "\tcase Failed:\n\t\ts.learnDeath(ev.Rank)\n\t\ts.stop(ev.Rank, era.Failed{Rank: ev.Rank})\n"}},
			Tests:   found(rumours, "agreement:"),
		},
		{
			Name: "A28", Rule: "a node contributes all lines of its members, also lines of the dead",
			Changes: []Change{{lines, "if s.hasLine(i, k) &&", "if !s.stopped.Has(r) && s.hasLine(i, k) &&"}},
			Tests:   found(pairs, "A28:"),
		},
		{
			Name: "A28-own", Rule: "a node contributes nothing but lines",
			// The leader acknowledges all deaths that it knows by now.
			Changes: []Change{{lead, "\ts.stepUpper(era.Propose{", "\tv.Acked = s.dead.Clone()\n\ts.stepUpper(era.Propose{"}},
			Tests:   found(pairs, "value:"),
		},
		{
			Name: "twolevel-line", Rule: "a node waits for the lines of all its members that live",
			Changes: []Change{{lines, "if len(s.missing(k)) > 0 {", "if !s.hasLine(s.place, k) {"}},
			Tests:   found(pairs, "participation:"),
		},
		{
			Name: "twolevel-learn", Rule: "a new leader learns decisions from memory, also later than a missing one",
			Changes: []Change{{lead, "; there {\n\t\ts.stepUpper(era.Learned", "; there && false {\n\t\ts.stepUpper(era.Learned"}},
			Tests:   found("TestScripts/early_word", ""),
		},
		{
			Name: "twolevel-agreed", Rule: "every later agreement reports an agreed death",
			Changes: []Change{{lines, "\ts.dead.Union(v.Dead)\n", ""}},
			Tests:   found("TestAgreedDeathsAreReported", ""),
		},
		{
			Name: "twolevel-close", Rule: "a node is closed when all its members have stopped",
			Changes: []Change{{team, "if gone = !slices.ContainsFunc(t.members[p], t.lives); gone {", "if gone = true; gone {"}},
			Tests:   found(pairs, ""),
		},
	}
}
