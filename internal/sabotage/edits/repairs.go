package edits

// repairs are the edits of the rules by which a world outlives its processes.
func repairs() []Edit {
	return []Edit{
		{
			Name: "repair-one-agreement", Rule: "who leaves an attempt makes the same call as who commits",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "w.agree(Ballot{Call: CallLeave, Fatal: w.result == Fatal, Stop: w.stopped})", New: "w.depart(Tally{Fatal: w.result == Fatal}, rankset.Set{})"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-revoke", Rule: "who leaves an attempt ends the calls of the others",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "if !w.revoked {", New: "if w.revoked {"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-epoch", Rule: "a version's number is made again after a rollback: its epoch is another",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "w.label = Label{Epoch: w.epoch, Number", New: "w.label = Label{Epoch: 1, Number"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-finished", Rule: "nobody goes home before all have finished",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "w.agree(Ballot{Call: CallFinish})", New: "w.end(Outcome{End: Done})"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-finished-without-the-dead", Rule: "all have finished only if nobody has died",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "case t.Finished && dead.IsEmpty():", New: "case t.Finished:"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-interval", Rule: "the interval is the agreed one, not one's own",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "w.interval = t.Interval", New: "w.interval = max(w.request.Want, 1)"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-dead-keeper", Rule: "a version counts if it is whole without the memory of the agreed dead",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: " && (dead.IsEmpty() || w.layout != nil && w.layout.Recoverable(dead))", New: ""}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-leaver-vouches", Rule: "who leaves vouches for no version",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "good := t.AllStay && t.Complete", New: "good := t.Complete"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts"}},
		},
		{
			Name: "repair-keep", Rule: "older versions go only once a newer one is agreed",
			Changes: []Change{{File: "internal/repair/attempt.go", Old: "\tw.agree(Ballot{\n\t\tCall: CallCommit,", New: "\tw.do(Keep{w.label})\n\tw.agree(Ballot{\n\t\tCall: CallCommit,"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-initial", Rule: "parts of a first version that was never committed are no version",
			Changes: []Change{{File: "internal/repair/choose.go", Old: "h.Label.Number > 1", New: "h.Label.Number > 0"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-ranks", Rule: "survivors keep their ranks, newcomers get those of the dead",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "w.rank = place(kept, w.rank)", New: "w.rank = place(w.left, w.rank)"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-old-epochs", Rule: "an epoch is greater than that of any version in memory",
			Changes: []Change{{File: "internal/repair/choose.go", Old: "e = max(e, h.Label.Epoch)", New: "e = max(e, h.Label.Epoch*0)"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts"}},
		},
		{
			Name: "repair-lost-again", Rule: "a death while newcomers are awaited is a loss, too",
			Changes: []Change{{File: "internal/repair/leave.go", Old: "\tw.left = now\n", New: "\tif w.fills == 0 {\n\t\tw.left = now\n\t}\n"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts|TestTwoDeaths"}},
		},
	}
}
