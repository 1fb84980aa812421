package edits

// lives returns the hunt in jobs whose ranks die and are replaced.
func lives(breaks ...string) Hunt { return Hunt{Arena: "repairs", Breaks: breaks} }

// worlds returns bugs of the mechanisms below the rules of a world that outlives its processes:
// slots, replacements, late notices. The rules alone do not show these bugs. Some bugs of the
// rules are here, too; the others are in repairs.go.
func worlds() []Edit {
	return []Edit{
		{
			Name: "world-cancel", Rule: "a revocation ends the context of the attempt",
			// The program's own agreement waits for a rank that has left.
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "\t\tw.broken()\n", New: ""}},
			Hunt:    lives("V4"),
		},
		{
			Name: "world-homes", Rule: "the saved data of a rank are filed by its home, which a shrink does not renumber",
			Changes: []Change{{File: "internal/ckpt/repair/handover.go", Old: "homes[i], lost[i], saved[i] = h.homes[r]", New: "homes[i], lost[i], saved[i] = i"}},
			Hunt:    lives("V8"),
		},
		{
			Name: "world-settle", Rule: "old copies remain until Protect is agreed",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "\t\tw.agree(Ballot{Call: CallSeal", New: "\t\tif w.plan.Source == FromMemory {\n\t\t\tw.do(Settle{w.plan.Label})\n\t\t}\n\t\tw.agree(Ballot{Call: CallSeal"}},
			Hunt:    lives("V2"),
		},
		{
			Name: "world-copies", Rule: "Protect makes all copies that the layout requires",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "p.Copies = redundancy.Complete(p.Layout, have)", New: "p.Copies = redundancy.Complete(p.Layout, redundancy.Full(p.Layout))"}},
			Hunt:    lives("V6"),
		},
		{
			Name: "world-own", Rule: "the newest saved data of a home are restored",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "o.Count > newest", New: "o.Count < newest"}},
			Hunt:    lives("V8"),
		},
		{
			Name: "world-arrival", Rule: "replacements get the ranks of the dead, not the last ones",
			Changes: []Change{{File: "internal/protocol/commstate/replace.go", Old: "slices.Index(p.Ranks, rank); i >= 0", New: "rank - (size - started.Count); i >= 0"}},
			Hunt:    lives("V1", "V3"),
		},
		{
			Name: "world-plain-replace", Rule: "a revocation does not end a replacement",
			Changes: []Change{{File: "internal/protocol/commstate/call.go", Old: "KindMerge, KindEndCreations:\n\t\treturn SeriesCreate", New: "KindMerge, KindReplace, KindEndCreations:\n\t\treturn SeriesCreate"}},
			Hunt:    lives("V4", "V7"),
		},
		{
			Name: "world-slots", Rule: "a slot is not free while a communicator contains its process",
			Changes: []Change{{File: "internal/protocol/control/slot.go", Old: " || c.refersTo(proc) {", New: " {"}},
			Hunt:    lives("V5", "V4"),
		},
		{
			Name: "world-news", Rule: "a slot is not free while a process has not learnt of the death in the slot",
			Changes: []Change{{File: "internal/protocol/control/slot.go", Old: "if !c.departed.Has(proc) || c.lost", New: "if c.lost"}},
			Hunt:    lives("V5", "V4"),
		},
		{
			Name: "job-unnamed", Rule: "a request of a dead root is dropped on the reports of others",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "unnamed := ev.N == 0 &&", New: "unnamed := ev.N < 0 &&"}},
			Hunt:    lives("V4"),
		},
		{
			Name: "job-orphans", Rule: "replacements that only dead processes have kept are ended",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "b.refused = b.refused ||", New: "b.refused = false &&"}},
			// They wait for ever, or begin again alone after the end of the others: without the
			// commits of the others.
			Hunt: lives("V4", "V2"),
		},
		{
			Name: "shrink-sends", Rule: "a survivor sends nothing to the launcher between a death and the return of Shrink",
			Changes: []Change{{File: "comm/spawn.go", Old: "c.w.starter.Note(rankproto.Drop{Root: proc})", New: "c.w.starter.Say(rankproto.Drop{Root: proc})"}},
			Tests:   []Test{{Package: "comm/commtest", Run: "TestShrinkSendsNothing"}},
		},
		{
			Name: "shrink-reports", Rule: "a survivor reports that it keeps nothing of a member that a shrink left out",
			Changes: []Change{{File: "comm/spawn.go", Old: "made.RankOfNumber(proc) < 0", New: "made.RankOfNumber(proc) < -1"}},
			Tests:   []Test{{Package: "comm/commtest", Run: "TestShrinkSendsNothing"}},
		},
		{
			Name: "job-late-word", Rule: "a message about spawned processes counts only from their parents",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "b.over || !slices.Contains(b.parents, ev.By)", New: "b.over"}},
			Tests:   []Test{{Run: "TestScripts"}}, // one simulated run in ten thousand reaches this
		},
		{
			Name: "job-speaks", Rule: "a slot is not free while other processes may still report about it",
			Changes: []Change{{File: "internal/protocol/job/slots.go", Old: "p.Heard && !slices.ContainsFunc(r.batches, speaks)", New: "(p.Heard || slices.ContainsFunc(r.batches, speaks))"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "recovery-made-on", Rule: "a version of a world of another size keeps its placement until the next commit",
			Changes: []Change{{File: "internal/ckpt/repair/holding.go", Old: "if p.Size != len(nodes) {", New: "if p.Size < 0 {"}},
			Tests:   []Test{{Run: "TestMadeOn"}},
		},
		{
			Name: "recovery-calls-of-the-dead", Rule: "a shrink that meets a call of a dead process is repeated",
			Changes: []Change{{File: "recovery/run.go", Old: "return named && errors.Is(err, comm.ErrMismatch)", New: "return false && named && errors.Is(err, comm.ErrMismatch)"}},
			Tests:   []Test{{Run: "TestCallsOfTheDead"}},
		},
	}
}
