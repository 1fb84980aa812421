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
	}
}
