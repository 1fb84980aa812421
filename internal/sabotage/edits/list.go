package edits

// All returns the edits.
func All() []Edit {
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
	}
}
