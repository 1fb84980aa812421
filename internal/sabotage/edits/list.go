package edits

import "slices"

// All returns the edits.
func All() []Edit { return slices.Concat(machinery(), adaptiveDetector(), repairs()) }

func machinery() []Edit {
	return []Edit{
		{
			Name: "idle-wildcard", Rule: "a receive from any source may take a message before a receive of its source",
			File: "internal/match/match.go", Test: "TestIdle",
			Old: "|| s.wild.head != nil {\n\t\treturn false\n\t}\n\tfrom := &s.sources[src]",
			New: "{\n\t\treturn false\n\t}\n\tfrom := &s.sources[src]",
		},
		{
			Name: "idle-messages", Rule: "a message that waits comes before the next one",
			File: "internal/match/match.go", Test: "TestIdle",
			Old: "return from.posted.head == nil && from.messages.head == nil",
			New: "return from.posted.head == nil",
		},
		{
			Name: "fd-left-flood", Rule: "who has left passes no death on",
			File: "fd/detector.go", Test: "TestFloodGoesRoundWhoLeft",
			Old: "\t\td.checks = d.checks[:0]\n\t\treturn\n\t}\n\td.close(rank)\n",
			New: "\t\td.checks = d.checks[:0]\n\t\treturn\n\t}\n\td.endCheck(rank)\n",
		},
		{
			Name: "onenode-take", Rule: "a line that was seen can be another communicator's when it is read",
			File: "era/onenode/decide.go", Test: "TestReusedLineIsNoContribution",
			Old: "if !s.takeAll(k) {", New: "if !s.takeAll(k) && false {",
		},
		{
			Name: "onenode-tag", Rule: "a decision word can be another communicator's",
			File: "era/onenode/decide.go", Test: "TestForeignWordIsNoDecision",
			Old: "if word&tagMask != s.tag || w < 0 || w >= s.n {", New: "if w < 0 || w >= s.n {",
		},
		{
			Name: "onenode-number", Rule: "a decision word can be of an older agreement",
			File: "era/onenode/decide.go", Test: "TestRandom",
			Old: "if uint16(word>>16) != uint16(k) {", New: "if uint16(word>>16)&31 != uint16(k)&31 {",
		},
		{
			Name: "nodecoll-met", Rule: "who has come to a meeting may still read there",
			File: "internal/nodecoll/collect.go", Test: "TestLateReadersOfAMeeting",
			Old: "g.safe = g.op - 1", New: "g.safe = g.op",
		},
		{
			Name: "nodecoll-released", Rule: "who was released from a meeting may still read there",
			File: "internal/nodecoll/central.go", Test: "TestLateReadersOfAMeeting",
			Old: "g.safe = g.op - 1", New: "g.safe = g.op",
		},
		{
			Name: "nodecoll-step", Rule: "who has done the last step of a reduction still copies the results",
			File: "internal/nodecoll/reduction.go", Test: "TestLateReadersOfAnArea",
			Old: "g.safe = g.op - 1", New: "g.safe = g.op",
		},
		{
			Name: "nodecoll-unfinished", Rule: "a line that is being written says so",
			File: "internal/nodecoll/arrival.go", Test: "TestNoMismatchBetweenStores", Tags: "killpoints",
			Old: "me.base+uint64(g.op)|unfinished)", New: "me.base+uint64(g.op))",
		},
		{
			Name: "engine-clear", Rule: "the line of a closed communicator is cleared before it is written over",
			File: "internal/engine/memory.go", Test: "TestNoHalfLine", Tags: "killpoints",
			Old: "\t\tsegment.Store64(word, m.number(0))\n", New: "",
		},
		{
			Name: "engine-long", Rule: "a contribution that was copied may have been written over",
			File: "internal/engine/memory.go", Test: "TestCopyOfWhatIsOverwritten",
			Old: " || segment.Load64(word) != before {", New: " {",
		},
		{
			Name: "engine-value", Rule: "a value that was copied may have been written over",
			File: "internal/engine/memory.go", Test: "TestCopyOfWhatIsOverwritten",
			Old: "s.Bytes(valueHead, int(n))...)\n\tif segment.Load64(s.Word(0)) != tag {",
			New: "s.Bytes(valueHead, int(n))...)\n\tif false {",
		},
		{
			Name: "engine-complete", Rule: "a collective whose part is complete survives a death",
			File: "internal/engine/shared.go", Test: "TestCompleteCollectiveOutlivesADeath",
			Old: "\tif c.advance(c.coll) {\n\t\terr = nil\n\t}\n", New: "",
		},
		{
			Name: "engine-revocations", Rule: "revocations in memory are heard before deaths",
			File: "internal/engine/engine.go", Test: "TestSpecR10RevokedThenDeadAtOneLook",
			Old: "\tp.lookRevocations() // before the deaths", New: "\tdefer p.lookRevocations() // before the deaths",
		},
		{
			Name: "engine-ring", Rule: "what a dead process has sent is heard before its death",
			File: "internal/engine/engine.go", Test: "TestSpecR10RevokedThenDeadAtOneLook",
			Old: "\t\t\tp.readControl(d.Proc)\n", New: "",
		},
		{
			Name: "engine-look", Rule: "the leader takes the lock for its last look",
			File: "internal/engine/lead.go", Test: "TestLastLookOfTheLeader",
			Old: "\tp.mu.Lock()\n\tready := l.g.ready(p)\n\tp.mu.Unlock()\n", New: "\tready := l.g.ready(p)\n",
		},
		{
			Name: "engine-member", Rule: "who is no member of a communicator is not heard there",
			File: "internal/engine/data.go", Test: "TestNoMessageOfANonMember",
			Old: "return c == nil || c.RankOf(from) >= 0", New: "return c == nil || from >= 0",
		},
	}
}
