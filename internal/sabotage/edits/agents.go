package edits

// agents are the edits of gridrpc/internal/tree: the rules that the published algorithm lacks.
func agents() []Edit {
	const file = "gridrpc/internal/tree/tree.go"
	lives := []Test{{Run: "TestRandomLives"}}
	return []Edit{
		{
			Name: "tree-tier", Rule: "an agent accepts a child of a greater tier only (T1)",
			Changes: []Change{{File: file, Old: "tiered := t.me.Tier != Untiered && (ev.Child.Tier == Untiered || ev.Child.Tier > t.me.Tier)", New: "tiered := true"}},
			Tests:   lives,
		},
		{
			Name: "tree-tier-told", Rule: "the same, of who has a tier: what the oracle says may be old (T1)",
			Changes: []Change{{File: file, Old: "(ev.Child.Tier == Untiered || ev.Child.Tier > t.me.Tier)", New: "true"}},
			Tests:   lives,
		},
		{
			Name: "tree-generation", Rule: "a list of a former parent changes nothing (T2)",
			Changes: []Change{{File: file, Old: "|| ev.From != t.parent.ID || ev.Generation != t.generation", New: ""}},
			Tests:   lives,
		},
		{
			Name: "tree-first", Rule: "children are told if any place of the list differs, also the first (T3)",
			Changes: []Change{{File: file, Old: "if slices.Equal(list, t.ancestors) {", New: "if len(t.ancestors) > 0 && slices.Equal(list[1:], t.ancestors[1:]) {"}},
			Tests:   lives,
		},
		{
			Name: "tree-leave", Rule: "a parent that is left by a wrong suspicion is told (T9)",
			Changes: []Change{{File: file, Old: "t.act(Leave{Peer: ev.Who, Generation: t.generation, Up: true}) // T9", New: ""}},
			Tests:   lives,
		},
	}
}

// calls are the edits of gridrpc/internal/session.
func calls() []Edit {
	const file, desk = "gridrpc/internal/session/session.go", "gridrpc/internal/session/desk.go"
	scripts := []Test{{Run: "TestScripts"}}
	return []Edit{
		{
			Name: "call-old-attempt", Rule: "a server refuses an attempt below the highest that it has seen (S1)",
			Changes: []Change{{File: desk, Old: "case known && attempt < seen:", New: "case false:"}},
			Tests:   []Test{{Run: "TestDesk"}},
		},
		{
			Name: "call-once", Rule: "at most once: the loss of the server is the end (S2)",
			Changes: []Change{{File: file, Old: "case s.cfg.AtMostOnce:", New: "case false:"}},
			Tests:   scripts,
		},
		{
			Name: "call-forgotten", Rule: "a server that has forgotten what it accepted may have run it (S2)",
			Changes: []Change{{File: file, Old: "if s.accepted && s.cfg.AtMostOnce {", New: "if false {"}},
			Tests:   scripts,
		},
		{
			Name: "call-poison", Rule: "a call under which three servers are lost is not tried again (S4)",
			Changes: []Change{{File: file, Old: "case s.lost >= s.cfg.Losses:", New: "case false:"}},
			Tests:   scripts,
		},
	}
}
