package edits

// outliving returns bugs of savings, epochs, parity and restores: in the execution of the decisions
// of the rules by package recovery, and in the rules themselves.
func outliving() []Edit {
	return []Edit{
		{
			Name: "restore-revoke", Rule: "a rank that cannot do its part of a restore ends the wait of the others",
			Changes: []Change{{File: "recovery/store.go", Old: "		w.revoke() // others wait for what this rank", New: "		// others wait for what this rank"}},
			Tests:   []Test{{Run: "TestDamagedFileAndSavings"}},
		},
		{
			Name: "saves-progress", Rule: "a rank that has saved data since is not lost at the same point again",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "	w.hist.saves(w.plan.Saved)\n", New: ""}},
			Tests:   []Test{{Run: "TestSavesAreProgress"}},
		},
		{
			Name: "saves-move", Rule: "the next owner of a home gets the saved data of the home",
			Changes: []Change{{File: "recovery/own.go", Old: "	for _, s := range moves {\n		if s.From == s.To {", New: "	for _, s := range moves {\n		if s.From >= 0 {"}},
			Tests:   []Test{{Run: "TestSaveAtEachPoint"}},
		},
		{
			Name: "saves-keep", Rule: "a keeper has the latest saved data of its partner",
			Changes: []Change{{File: "recovery/transfer.go", Old: "		w.r.own.put(home, saving{head[1], p})\n", New: "		if w.r.own.get(home).count == 0 {\n			w.r.own.put(home, saving{head[1], p})\n		}\n"}},
			Tests:   []Test{{Run: "TestSaveAtEachPoint"}},
		},
		{
			Name: "epoch-handover", Rule: "no epoch is assigned twice, even by uninformed replacements",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "epoch: max(h.last.Epoch, h.epoch)}", New: "epoch: h.last.Epoch}"}},
			Tests:   []Test{{Run: "TestScripts"}, {Package: repairsFolder, Run: "TestRepairsFound$", Says: "V2 broken"}},
		},
		{
			Name: "verify-one", Rule: "with Verify a repair rolls back one version more than necessary, and no further",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "!Replays(labels[i], spared.Label)", New: "labels[i].Number >= spared.Label.Number"}},
			Tests:   []Test{{Run: "TestVerifyGoesBackOne"}, {Package: repairsFolder, Run: "TestRepairsFound$", Says: "V2 broken"}},
		},
		{
			Name: "parity-anew", Rule: "a repair also encodes the parity shares of the replacements",
			Changes: []Change{{File: "recovery/store.go", Old: "			err = c.encode(s.Group, s.To)\n", New: ""}},
			Tests:   []Test{{Run: "TestErasureAfterErasure"}},
		},
	}
}

// inFiles returns bugs of versions in files: their creation, their choice for a restore, and
// their deletion.
func inFiles() []Edit {
	return []Edit{
		{
			Name: "files-all", Rule: "a version is published after all ranks have written their files",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "case said == FilesDone && open:", New: "case said != FilesFailed && open:"}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "files-awaited", Rule: "no rank searches for a version before the lowest rank has published it",
			Changes: []Change{{File: "internal/testing/sim/repairs/files.go", Old: "		d.afterPublishing(tell)\n", New: "		tell()\n"}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairsFound$", Says: "V9 broken"}},
		},
		{
			Name: "files-reports", Rule: "all ranks plan with the same reports",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "slices.Clone(a.known), slices.Clone(a.bad)", New: "a.known, a.bad"}},
			Tests:   []Test{{Run: "TestReportsStay"}},
		},
		{
			Name: "files-keep", Rule: "the newest versions in files remain",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "return b.compare(a)", New: "return a.compare(b)"}},
			Hunt:    lives("V11"),
			Tests:   []Test{{Run: "TestSuperfluous"}},
		},
		{
			Name: "files-examined", Rule: "all bytes of a version are read before any rank restores it",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "file += size", New: "file += size + files"}},
			Hunt:    lives("V10"),
			Tests:   []Test{{Run: "TestExamined"}},
		},
		{
			Name: "files-unread", Rule: "no rank continues with a version that another rank could not read",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "Incomplete: !ev.OK, ", New: "Incomplete: !ev.OK && w.plan.Source != FromFiles, "}},
			Hunt:    lives("V10"),
		},
		{
			Name: "files-bad", Rule: "a version that a rank could not read is never restored",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "slices.Contains(r.Bad, l)", New: "false"}},
			Tests:   []Test{{Run: "TestArchive$"}},
		},
		{
			Name: "files-publisher", Rule: "no rank ends before the last version before a stop is in files",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: " && !(w.filesOpen && dead.Has(0))", New: ""}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "files-look", Rule: "the files of a job are found after the deaths of all ranks that knew them",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "(!g.Known || !a.told)", New: "!g.Known"}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Package: "recovery", Run: "TestAllWhoKnewOfFilesAreLost"}},
		},
		{
			Name: "files-order", Rule: "versions are published in order",
			Changes: []Change{{File: "recovery/files.go", Old: "			<-before //", New: "			//"}},
			Tests:   []Test{{Run: "TestPublishedInOrder"}},
		},
		{
			Name: "files-last-must", Rule: "a last commit that is not in files returns an error if the job requires files",
			Changes: []Change{{File: "recovery/world.go", Old: "case lost != nil && errors.Is(err, ErrStopped):", New: "case lost != nil && err == nil:"}},
			Tests:   []Test{{Run: "TestLastManifestIsLost"}},
		},
		{
			Name: "files-attempt", Rule: "the next attempt forgets unfinished files",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "w.lastOne, w.stopped, w.over, w.filesOpen = false, false, false, false", New: "w.lastOne, w.stopped, w.over = false, false, false"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "files-last", Rule: "the last version before a stop is in files when its commit is agreed",
			Changes: []Change{{File: "recovery/store.go", Old: "		r.writeNow(a.Label)\n", New: ""}},
			Tests:   []Test{{Run: "TestRestart$"}},
		},
		{
			Name: "files-epoch", Rule: "a restarted job has greater epochs than all versions in files",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "max(r.Epoch, a.epoch)", New: "max(r.Epoch, 0*a.epoch)"}},
			Tests:   []Test{{Package: "recovery", Run: "TestRestartAsTold"}, {Run: "TestArchive$"}},
		},
	}
}

// unseen returns bugs of the detection of silent data corruption: digests of members that are
// equal at all ranks, and the comparison of replays.
func unseen() []Edit {
	return []Edit{
		{
			Name: "replica-restored", Rule: "members that are equal at all ranks are compared after a restore, too",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: ", Same: ev.OK && ev.Same, Digest: salted(ev.Digest, w.plan.Label)})", New: "})"}},
			Hunt:    lives("V3"),
			Tests:   []Test{{Run: "TestReplicasAreComparedWhenRestored"}},
		},
		{
			Name: "verify-last", Rule: "with Verify the last version before a stop is made at its regular point",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "return w.lastOne && !w.cfg.Verify", New: "return w.lastOne"}},
			Hunt:    lives("V12"),
			Tests:   []Test{{Run: "TestLastVersionWithVerify"}},
		},
		{
			Name: "replica-digest", Rule: "a boundary reports whether equal members differ",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "Same: ev.Same, Digest", New: "Digest"}},
			Hunt:    lives("V12"),
		},
		{
			Name: "replica-salt", Rule: "the salt of the digest of equal members is equal at all ranks",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "salted(ev.Digest, w.label)", New: "salted(ev.Digest+uint64(w.rank), w.label)"}},
			Hunt:    lives("V12"),
		},
		{
			Name: "verify-one-more", Rule: "a replay is compared with the version after the one that was restored",
			Changes: []Change{{File: "internal/ckpt/repair/replay.go", Old: "restored.Number+1", New: "restored.Number+2"}},
			Hunt:    lives("V12"),
			Tests:   []Test{{Package: "recovery", Run: "TestVerify"}},
		},
	}
}
