package edits

// repairs are the edits of the rules by which a world outlives its processes.
func repairs() []Edit {
	return []Edit{
		{
			Name: "repair-one-agreement", Rule: "who leaves an attempt makes the same call as who commits",
			File: "internal/repair/leave.go", Test: "TestOneDeath$",
			Old: "w.agree(Ballot{Call: CallLeave, Fatal: w.result == Fatal, Stop: w.stopped})",
			New: "w.depart(Tally{Fatal: w.result == Fatal}, rankset.Set{})",
		},
		{
			Name: "repair-revoke", Rule: "who leaves an attempt ends the calls of the others",
			File: "internal/repair/leave.go", Test: "TestRandomSchedules",
			Old: "if !w.revoked {", New: "if w.revoked {",
		},
		{
			Name: "repair-epoch", Rule: "a version's number is made again after a rollback: its epoch is another",
			File: "internal/repair/attempt.go", Test: "TestRandomSchedules",
			Old: "w.label = Label{Epoch: w.epoch, Number", New: "w.label = Label{Epoch: 1, Number",
		},
		{
			Name: "repair-finished", Rule: "nobody goes home before all have finished",
			File: "internal/repair/leave.go", Test: "TestOneDeath$",
			Old: "w.agree(Ballot{Call: CallFinish})", New: "w.end(Outcome{End: Done})",
		},
		{
			Name: "repair-finished-without-the-dead", Rule: "all have finished only if nobody has died",
			File: "internal/repair/leave.go", Test: "TestRandomSchedules",
			Old: "case t.Finished && dead.IsEmpty():", New: "case t.Finished:",
		},
		{
			Name: "repair-interval", Rule: "the interval is the agreed one, not one's own",
			File: "internal/repair/attempt.go", Test: "TestRandomSchedules",
			Old: "w.interval = t.Interval", New: "w.interval = max(w.request.Want, 1)",
		},
		{
			Name: "repair-dead-keeper", Rule: "a version counts if it is whole without the memory of the agreed dead",
			File: "internal/repair/attempt.go", Test: "TestOneDeath$",
			Old: " && (dead.IsEmpty() || w.layout != nil && w.layout.Recoverable(dead))", New: "",
		},
		{
			Name: "repair-leaver-vouches", Rule: "who leaves vouches for no version",
			File: "internal/repair/attempt.go", Test: "TestRandomSchedules|TestScripts",
			Old: "good := t.AllStay && t.Complete", New: "good := t.Complete",
		},
		{
			Name: "repair-keep", Rule: "older versions go only once a newer one is agreed",
			File: "internal/repair/attempt.go", Test: "TestOneDeath$",
			Old: "\tw.agree(Ballot{\n\t\tCall: CallCommit,", New: "\tw.do(Keep{w.label})\n\tw.agree(Ballot{\n\t\tCall: CallCommit,",
		},
		{
			Name: "repair-initial", Rule: "parts of a first version that was never committed are no version",
			File: "internal/repair/choose.go", Test: "TestOneDeath$",
			Old: "h.Label.Number > 1", New: "h.Label.Number > 0",
		},
		{
			Name: "repair-ranks", Rule: "survivors keep their ranks, newcomers get those of the dead",
			File: "internal/repair/leave.go", Test: "TestOneDeath$",
			Old: "w.rank = place(kept, w.rank)", New: "w.rank = place(w.left, w.rank)",
		},
		{
			Name: "repair-old-epochs", Rule: "an epoch is greater than that of any version in memory",
			File: "internal/repair/choose.go", Test: "TestRandomSchedules|TestScripts",
			Old: "e = max(e, h.Label.Epoch)", New: "e = max(e, h.Label.Epoch*0)",
		},
		{
			Name: "repair-lost-again", Rule: "a death while newcomers are awaited is a loss, too",
			File: "internal/repair/leave.go", Test: "TestRandomSchedules|TestScripts|TestTwoDeaths",
			Old: "\tw.left = now\n", New: "\tif w.fills == 0 {\n\t\tw.left = now\n\t}\n",
		},
	}
}
