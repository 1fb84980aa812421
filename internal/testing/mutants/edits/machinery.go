package edits

// unreachedBugs returns bugs in lines of the rules that simulated worlds do not reach, or reach
// only after many hours. Tests of the package find them.
func unreachedBugs() []Edit {
	return []Edit{
		{
			Name: "B2-answer", Rule: "a sender whose set lacks items receives them",
			Changes: []Change{{floodFlood, "\tif lacking {\n", "\tif lacking && false {\n"}},
			Tests:   []Test{{Run: "TestCompareRepairs"}},
		},
		{
			Name: "B3-digests", Rule: "after a death neighbours compare their revocations",
			Changes: []Change{{controlDigest, "range c.neighbors() {", "range c.neighbors()[:0] {"}},
			Tests:   []Test{{Run: "TestB3DigestsRepair"}},
		},
		{
			Name: "idle-wildcard", Rule: "a receive from any source may take a message before a receive of its source",
			Changes: []Change{{File: matchQueues, Old: "|| s.wild.head != nil {\n\t\treturn false\n\t}\n\tfrom := s.sources.At(src)", New: "{\n\t\treturn false\n\t}\n\tfrom := s.sources.At(src)"}},
			Tests:   []Test{{Run: "TestIdle"}},
		},
		{
			Name: "idle-messages", Rule: "a message that waits comes before the next one",
			Changes: []Change{{File: matchQueues, Old: "return from.posted.head == nil && from.messages.head == nil", New: "return from.posted.head == nil"}},
			Tests:   []Test{{Run: "TestIdle"}},
		},
		{
			Name: "fd-left-flood", Rule: "a flood does not rely on a process that has left: it relays no death",
			Changes: []Change{{File: fdDetector, Old: "\t\td.checks = d.checks[:0]\n\t\treturn\n\t}\n\td.close(rank)\n", New: "\t\td.checks = d.checks[:0]\n\t\treturn\n\t}\n\td.endCheck(rank)\n"}},
			Tests:   []Test{{Run: "TestFloodGoesRoundWhoLeft"}},
		},
		{
			Name: "onenode-take", Rule: "a line may belong to another communicator between its poll and its read",
			Changes: []Change{{File: nodeDecide, Old: "if !s.takeAll(k) {", New: "if !s.takeAll(k) && false {"}},
			Tests:   []Test{{Run: "TestReusedLineIsNoContribution"}},
		},
		{
			Name: "onenode-tag", Rule: "a decision word may belong to another communicator",
			Changes: []Change{{File: nodeDecide, Old: "if word&tagMask != s.tag || w < 0 || w >= s.n {", New: "if w < 0 || w >= s.n {"}},
			Tests:   []Test{{Run: "TestForeignWordIsNoDecision"}},
		},
		{
			Name: "onenode-number", Rule: "a decision word may belong to an older agreement",
			Changes: []Change{{File: nodeLine, Old: "if uint16(word>>16) != uint16(k) {", New: "if uint16(word>>16)&31 != uint16(k)&31 {"}},
			Tests:   []Test{{Run: "TestRandom"}},
		},
	}
}

// machineryBugs returns bugs of code that no simulator hosts.
func machineryBugs() []Edit {
	return []Edit{
		{
			Name: "nodecoll-met", Rule: "a member that has arrived at a meeting may still read its lines",
			Changes: []Change{{File: collCollect, Old: "g.safe = g.op - 1", New: "g.safe = g.op"}},
			Tests:   []Test{{Run: "TestLateReadersOfAMeeting"}},
		},
		{
			Name: "nodecoll-released", Rule: "a member that was released from a meeting may still read its lines",
			Changes: []Change{{File: collCentral, Old: "g.safe = g.op - 1", New: "g.safe = g.op"}},
			Tests:   []Test{{Run: "TestLateReadersOfAMeeting"}},
		},
		{
			Name: "nodecoll-step", Rule: "a member that has made the last step of a reduction still copies the results",
			Changes: []Change{{File: collReduction, Old: "g.safe = g.op - 1", New: "g.safe = g.op"}},
			Tests:   []Test{{Run: "TestLateReadersOfAnArea"}},
		},
		{
			Name: "nodecoll-broken", Rule: "a member that has abandoned an operation counts no steps until all members have left that operation",
			// Other members count such steps as missing chunks.
			Changes: []Change{{collGroup, "g.broken > g.safe &&", "g.broken > g.op &&"}},
			Tests:   []Test{{Run: "TestNoStepsAfterABrokenOne"}},
		},
		{
			Name: "nodecoll-unfinished", Rule: "a line is marked as unfinished while a member writes it",
			Changes: []Change{{File: collArrival, Old: "me.base+uint64(g.op)|unfinished)", New: "me.base+uint64(g.op))"}},
			Tests:   []Test{{Run: "TestNoMismatchBetweenStores", Tags: "failpoints"}},
		},
		{
			Name: "engine-clear", Rule: "the line of a closed communicator is cleared before the next write",
			Changes: []Change{{File: nodeMemory, Old: "\t\tsegment.Store64(word, m.Number(0))\n", New: ""}},
			Tests:   []Test{{Run: "TestNoHalfLine", Tags: "failpoints"}},
		},
		{
			Name: "engine-long", Rule: "a contribution may be overwritten during its copy",
			Changes: []Change{{File: nodeMemory, Old: " || segment.Load64(word) != before {", New: " {"}},
			Tests:   []Test{{Run: "TestCopyOfWhatIsOverwritten"}},
		},
		{
			Name: "engine-value", Rule: "a value may be overwritten during its copy",
			Changes: []Change{{File: nodeMemory, Old: "s.Bytes(valueHead, int(n))...)\n\tif segment.Load64(s.Word(0)) != tag {", New: "s.Bytes(valueHead, int(n))...)\n\tif false {"}},
			Tests:   []Test{{Run: "TestCopyOfWhatIsOverwritten"}},
		},
		{
			Name: "engine-complete", Rule: "a collective whose part is complete survives a death",
			Changes: []Change{{File: engineShared, Old: "\tif c.advance(c.coll) {\n\t\terr = nil\n\t}\n", New: ""}},
			Tests:   []Test{{Run: "TestCompleteCollectiveOutlivesADeath"}},
		},
		{
			Name: "engine-revocations", Rule: "revocations in memory are read before deaths",
			Changes: []Change{{File: engineGone, Old: "\tp.memory.pollRevocations() // before the deaths", New: "\tdefer p.memory.pollRevocations() // before the deaths"}},
			Tests:   []Test{{Run: "TestSpecR10RevokedThenDeadAtOnePoll"}},
		},
		{
			Name: "engine-ring", Rule: "the control frames of a dead process are read before its death is handled",
			Changes: []Change{{File: engineGone, Old: "\tp.links.readControl(of.Proc)\n", New: ""}},
			Tests:   []Test{{Run: "TestSpecR10RevokedThenDeadAtOnePoll"}},
		},
		{
			Name: "engine-look", Rule: "the leader takes the lock for its last poll",
			Changes: []Change{{File: engineLead, Old: "\tld.p.mu.Lock()\n\tready := l.g.ready(ld.p)\n\tld.p.mu.Unlock()\n", New: "\tready := l.g.ready(ld.p)\n"}},
			Tests:   []Test{{Run: "TestLastPollOfTheLeader"}},
		},
		{
			Name: "engine-member", Rule: "a frame of a non-member of the communicator is dropped",
			Changes: []Change{{File: engineArrive, Old: "return c == nil || c.RankOf(from) >= 0", New: "return c == nil || from >= 0"}},
			Tests:   []Test{{Run: "TestNoMessageOfANonMember"}},
		},
	}
}
