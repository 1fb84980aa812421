package edits

// replacement are the edits of the call that gives newcomers ranks, and of what recovery does
// with it.
func replacement() []Edit {
	return []Edit{
		{
			Name: "replace-fresh", Rule: "agreements in the memory of a first member that is new begin as that memory does",
			Changes: []Change{{File: "internal/member/node.go", Old: "if g.Fresh {", New: "if false {"}},
			Tests:   []Test{{Package: "recovery", Run: "TestEachPointOfARepair"}},
		},
		{
			Name: "replace-ranks", Rule: "newcomers get the ranks that are named, in their order",
			Changes: []Change{{File: "internal/member/replace.go", Old: "started.First+i", New: "started.First+len(nc.Procs)%2"}},
			Tests:   []Test{{Run: "TestReplacePutsNewcomersInTheirRanks"}},
		},
		{
			Name: "replace-series", Rule: "a revocation does not end a replacement",
			Changes: []Change{{File: "internal/member/call.go", Old: "KindMerge, KindEndCreations:", New: "KindMerge, KindReplace, KindEndCreations:"}},
			Tests:   []Test{{Run: "TestReplaceIsARepair"}},
		},
		{
			Name: "recovery-static", Rule: "what a newcomer has of a static member is restored",
			Changes: []Change{{File: "recovery/world.go", Old: "if m.option.Own || w.role == Survivor && (m.option.Static || m.option.Forward) {", New: "if m.option.Own || m.option.Static || m.option.Forward {"}},
			Tests:   []Test{{Run: "TestEachPoint$"}},
		},
		{
			Name: "recovery-kept", Rule: "a version is complete once its keepers have it",
			Changes: []Change{{File: "recovery/store.go", Old: "for _, keeper := range layout.Keepers(owner) {", New: "for _, keeper := range layout.Keepers(owner)[:0] {"}},
			Tests:   []Test{{Run: "TestEachPoint$"}},
		},
	}
}
