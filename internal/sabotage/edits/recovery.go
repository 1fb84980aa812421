package edits

// outliving are the edits of what package recovery does with the decisions of the rules: files,
// savings, parity, replays.
func outliving() []Edit {
	return []Edit{
		{
			Name: "files-all", Rule: "a version is published when all have written their files",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "open && said == FilesDone:", New: "open && said != FilesFailed:"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "files-attempt", Rule: "what was being written is forgotten with the attempt",
			Changes: []Change{{File: "internal/repair/world.go", Old: "w.lastOne, w.stopped, w.over, w.filesOpen = false, false, false, false", New: "w.lastOne, w.stopped, w.over = false, false, false"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "files-last", Rule: "the last version before a stop is in files when its commit is agreed",
			Changes: []Change{{File: "recovery/store.go", Old: "		r.writeNow(a.Label)\n", New: ""}},
			Tests:   []Test{{Run: "TestRestart$"}},
		},
		{
			Name: "files-epoch", Rule: "a job that begins anew has greater epochs than what is in files",
			Changes: []Change{{File: "recovery/calls.go", Old: "max(a.Epoch, r.files.epoch)", New: "max(a.Epoch, 0*r.files.epoch)"}},
			Tests:   []Test{{Run: "TestRestartAsTold"}},
		},
		{
			Name: "saves-progress", Rule: "a rank that has saved something is not lost at the same point again",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "	w.hist.saves(w.plan.Saved)\n", New: ""}},
			Tests:   []Test{{Run: "TestSavesAreProgress"}},
		},
		{
			Name: "saves-move", Rule: "who goes on with a home gets what that has saved",
			Changes: []Change{{File: "recovery/own.go", Old: "	for _, s := range moves {\n		if s.From == s.To {", New: "	for _, s := range moves {\n		if s.From >= 0 {"}},
			Tests:   []Test{{Run: "TestSaveAtEachPoint"}},
		},
		{
			Name: "saves-keep", Rule: "a keeper has what its partner has saved last",
			Changes: []Change{{File: "recovery/transfer.go", Old: "		w.r.own.put(home, saving{head[1], p})\n", New: "		if w.r.own.get(home).count == 0 {\n			w.r.own.put(home, saving{head[1], p})\n		}\n"}},
			Tests:   []Test{{Run: "TestSaveAtEachPoint"}},
		},
		{
			Name: "parity-anew", Rule: "after a repair the newcomers' shares are made, too",
			Changes: []Change{{File: "recovery/store.go", Old: "			err = c.encode(s.Group, s.To)\n", New: ""}},
			Tests:   []Test{{Run: "TestErasureAfterErasure"}},
		},
		{
			Name: "verify-one-more", Rule: "a replay is compared with the version after the one that was restored",
			Changes: []Change{{File: "recovery/verify.go", Old: "restored.Number+1", New: "restored.Number+2"}},
			Tests:   []Test{{Run: "TestVerify"}},
		},
	}
}
