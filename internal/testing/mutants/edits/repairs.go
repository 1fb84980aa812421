package edits

// repairs returns bugs of the rules by which a world outlives its processes.
func repairs() []Edit {
	return []Edit{
		{
			Name: "repair-one-agreement", Rule: "a rank that leaves an attempt makes the same agreement call as a rank that commits",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "w.agree(Ballot{Call: CallLeave, Fatal: w.result == Fatal, Stop: w.stopped})", New: "w.depart(Tally{Fatal: w.result == Fatal}, rankset.Set{})"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-revoke", Rule: "a rank that leaves an attempt ends the calls of the others",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "if !w.revoked {", New: "if w.revoked {"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-epoch", Rule: "a version number that is reused after a rollback has another epoch",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "w.label = Label{Epoch: w.epoch, Number", New: "w.label = Label{Epoch: 1, Number"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-stop-files", Rule: "files of a last version that was not committed are not published",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "case said == FilesDone && w.lastOne && !good:", New: "case said == FilesDone && w.lastOne && !good && w.over:"}},
			Tests:   []Test{{Run: "TestFilesBeforeAStopOfNothing"}},
		},
		{
			Name: "repair-finished", Rule: "no rank ends before all ranks have finished",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "w.agree(Ballot{Call: CallFinish})", New: "w.end(Outcome{End: Done})"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-finished-without-the-dead", Rule: "all ranks have finished only if no rank has died",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "case t.Finished && dead.IsEmpty():", New: "case t.Finished:"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-interval", Rule: "a rank uses the agreed interval, not its own request",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "w.interval = t.Interval", New: "w.interval = max(w.request.Want, 1)"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "repair-dead-commit", Rule: "a commit with deaths commits nothing, and deletes no older version",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "!t.Replica && dead.IsEmpty()\n", New: "!t.Replica\n"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-leaver-vouches", Rule: "no version is committed if a rank leaves",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "good := t.AllStay && t.Complete", New: "good := t.Complete"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts"}},
		},
		{
			Name: "repair-keep", Rule: "older versions are deleted only after the agreement on a newer one",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "\tw.agree(Ballot{\n\t\tCall: CallCommit,", New: "\tw.do(Keep{w.label})\n\tw.agree(Ballot{\n\t\tCall: CallCommit,"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-initial", Rule: "parts of an uncommitted first version are no version",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "h.Label.Number > 1", New: "h.Label.Number > 0"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-ranks", Rule: "survivors keep their ranks, and replacements get the ranks of the dead",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "w.rank = place(kept, w.rank)", New: "w.rank = place(w.left, w.rank)"}},
			Tests:   []Test{{Run: "TestOneDeath$"}},
		},
		{
			Name: "repair-old-epochs", Rule: "an epoch is greater than that of any version in memory",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "e = max(e, h.Label.Epoch)", New: "e = max(e, h.Label.Epoch*0)"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts"}},
		},
		{
			Name: "repair-lost-again", Rule: "a death while replacements are awaited is a loss, too",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "\tw.left = now\n", New: "\tif w.fills == 0 {\n\t\tw.left = now\n\t}\n"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestScripts|TestTwoDeaths"}},
		},
		{
			Name: "repair-placement", Rule: "parity of one placement is not used in another placement",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "if slices.Equal(h.Nodes, nodes) {", New: "if len(h.Nodes) == len(nodes) {"}},
			Tests:   []Test{{Run: "TestRandomSchedules|TestPlanWithErasure"}},
		},
		{
			Name: "repair-known", Rule: "the committed version that survivors know has priority over the contents of memory",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "if r.Known {", New: "if r.Known && !r.Committed.IsZero() {"}},
			Tests:   []Test{{Run: "TestWhatIsCommitted"}},
		},
	}
}

// versions returns bugs of the placement and the storage of versions, and of the interval between
// them.
func versions() []Edit {
	return []Edit{
		{
			Name: "redundancy-pairs", Rule: "partners are on different nodes where there are enough",
			Changes: []Change{{File: "internal/ckpt/redundancy/mirror.go", Old: "at := byNode(m.nodes)", New: "at := byNode(make([]int, len(m.nodes)))"}},
			Tests:   []Test{{Run: "TestPairs|TestStrength"}},
		},
		{
			Name: "redundancy-half", Rule: "even on a node with more than half of the ranks no rank has its keeper on its own node",
			Changes: []Change{{File: "internal/ckpt/redundancy/mirror.go", Old: "\tm.moveOut(at)\n", New: ""}},
			Tests:   []Test{{Run: "TestPairs"}},
		},
		{
			Name: "redundancy-groups", Rule: "the ranks of a node are dealt to different groups",
			Changes: []Change{{File: "internal/ckpt/redundancy/code.go", Old: "g := &c.groups[i%count]\n\t\tg.Members = append(g.Members, r)\n\t\tc.of[r] = i % count", New: "at := i * count / len(nodes)\n\t\tg := &c.groups[at]\n\t\tg.Members = append(g.Members, r)\n\t\tc.of[r] = at"}},
			Tests:   []Test{{Run: "TestErasureOnSixNodes"}},
		},
		{
			Name: "redundancy-pieces", Rule: "a part is rebuilt only from enough pieces of each stripe",
			Changes: []Change{{File: "internal/ckpt/redundancy/restore.go", Old: "common(st.Data, data)+common(st.Parity, parity) < g.Parts()", New: "common(st.Data, data)+common(st.Parity, parity) < g.Parts()-1"}},
			Tests:   []Test{{Run: "TestEveryPlacementAndLoss"}},
		},
		{
			Name: "relayout-offset", Rule: "a rank stores its runs one after the other",
			Changes: []Change{{File: "internal/ckpt/relayout/run.go", Old: "\t\t\toffset += r.Count\n", New: "\t\t\toffset = r.Count\n"}},
			Tests:   []Test{{Run: "TestEachElementMovesOnce"}},
		},
		{
			Name: "relayout-join", Rule: "two moves are joined only if they are contiguous at both ends",
			Changes: []Change{{File: "internal/ckpt/relayout/move.go", Old: " && last.ToOffset+last.Count == m.ToOffset", New: ""}},
			Tests:   []Test{{Run: "TestEachElementMovesOnce"}},
		},
		{
			Name: "pace-rounded-up", Rule: "a requested interval is not rounded up",
			Changes: []Change{{File: "internal/ckpt/commitinterval/unary.go", Old: "stepLength(n) <= points", New: "stepLength(n-1) < points"}},
			Tests:   []Test{{Run: "TestUnaryIsTheLeast"}},
		},
		{
			Name: "pace-lost-time", Rule: "time lost to a failure counts as time without another failure",
			Changes: []Change{
				{File: "internal/ckpt/commitinterval/pacer.go", Old: "	p.cost = smooth(p.cost, cost)\n", New: "	p.kept += work + cost\n	p.cost = smooth(p.cost, cost)\n"},
				{File: "internal/ckpt/commitinterval/pacer.go", Old: "	return MTBF(now.Sub(p.begun), p.prior", New: "	return MTBF(p.kept+0*now.Sub(p.begun), p.prior"},
				{File: "internal/ckpt/commitinterval/pacer.go", Old: "	begun    mono.Time     // start of the observed time\n", New: "	begun    mono.Time     // start of the observed time\n	kept     mono.Duration\n"},
			},
			Tests: []Test{{Run: "TestTimeThatIsLostCounts"}},
		},
		{
			Name: "pace-cold", Rule: "the first measurement after a repair is dropped",
			Changes: []Change{{File: "internal/ckpt/commitinterval/pacer.go", Old: "func (p *Pacer) Resumed() { p.cold = true }", New: "func (p *Pacer) Resumed() {}"}},
			Tests:   []Test{{Run: "TestTimeThatIsLostCounts"}},
		},
		{
			Name: "pace-replacement", Rule: "a replacement has no requested interval before it has measured a commit",
			Changes: []Change{{File: "recovery/world.go", Old: "if w.r.joined && !w.r.pacer.Measured() {", New: "if false {"}},
			Tests:   []Test{{Run: "TestWhoCountsWhichFailures"}},
		},
		{
			Name: "pace-predecessor", Rule: "a replacement does not count the failure that it repairs",
			Changes: []Change{{File: "recovery/attempt.go", Old: "	r.w = w\n	return w\n", New: "	if run.Role == repair.Recovered {\n		r.pacer.Failed(len(run.Lost))\n	}\n	r.w = w\n	return w\n"}},
			Tests:   []Test{{Run: "TestWhoCountsWhichFailures"}},
		},
		{
			Name: "erasure-padding", Rule: "bytes after the data are zero, whatever their earlier contents",
			Changes: []Change{{File: "internal/ckpt/erasure/cut.go", Old: "clear(dst[n:])", New: "clear(dst[n:n])"}},
			Tests:   []Test{{Run: "TestCut"}},
		},
		{
			Name: "ckptfile-head", Rule: "the checksum of a chunk covers its head, too",
			Changes: []Change{{File: "internal/ckpt/ckptfile/reader.go", Old: "case castagnoli(CRC(head[:12]), stored) != little.Uint32(head[12:]):", New: "case CRC(stored) != little.Uint32(head[12:]) && castagnoli(CRC(head[:12]), stored) != little.Uint32(head[12:]) && codec != Zstd:"}},
			Tests:   []Test{{Run: "TestEveryByteCounts"}},
		},
		{
			Name: "ckptfile-members", Rule: "a head is refused at the first member too many",
			Changes: []Change{{File: "internal/ckpt/ckptfile/decode.go", Old: "if len(*m) == MembersMax {", New: "if len(*m) == MembersMax<<16 {"}},
			Tests:   []Test{{Run: "TestHostileHead"}},
		},
		{
			Name: "ckptfile-undecoded", Rule: "a head is not decoded before its checksum was compared",
			Changes: []Change{{File: "internal/ckpt/ckptfile/reader.go", Old: "if err := f.findIndex(size, crc); err != nil {", New: "if _, err := decodeHead(text); err != nil {\n\t\treturn nil, fmt.Errorf(\"%w: %w\", ErrCorrupt, err)\n\t}\n\tif err := f.findIndex(size, crc); err != nil {"}},
			Tests:   []Test{{Run: "TestDamagedHead"}},
		},
		{
			Name: "ckptfile-rename", Rule: "a file gets its name only when it is complete",
			Changes: []Change{{File: "internal/ckpt/ckptfile/folder.go", Old: "f, err := os.CreateTemp(dir, filepath.Base(path)+\".*\"+Unfinished)", New: "f, err := os.Create(path)"}},
			Tests:   []Test{{Run: "TestWriteFile"}},
		},
	}
}
