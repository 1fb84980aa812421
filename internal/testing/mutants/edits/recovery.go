package edits

// outliving are the edits of what package recovery does with the decisions of the rules: savings,
// parity, restores.
func outliving() []Edit {
	return []Edit{
		{
			Name: "restore-revoke", Rule: "who cannot do its part of a restore does not let the others wait for it",
			Changes: []Change{{File: "recovery/store.go", Old: "		w.revoke() // others wait for what this rank", New: "		// others wait for what this rank"}},
			Tests:   []Test{{Run: "TestDamagedFileAndSavings"}},
		},
		{
			Name: "saves-progress", Rule: "a rank that has saved something is not lost at the same point again",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "	w.hist.saves(w.plan.Saved)\n", New: ""}},
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
			Name: "epoch-handover", Rule: "no epoch is given twice, also by replacements that nobody has told of it",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "epoch: max(h.last.Epoch, h.epoch)}", New: "epoch: h.last.Epoch}"}},
			Tests:   []Test{{Run: "TestScripts"}, {Package: repairsFolder, Run: "TestRepairsFound$", Says: "V2 broken"}},
		},
		{
			Name: "verify-one", Rule: "with Verify a repair goes back one version more than it must, not further",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "!Replays(labels[i], spared.Label)", New: "labels[i].Number >= spared.Label.Number"}},
			Tests:   []Test{{Run: "TestVerifyGoesBackOne"}, {Package: repairsFolder, Run: "TestRepairsFound$", Says: "V2 broken"}},
		},
		{
			Name: "parity-anew", Rule: "after a repair the replacements' shares are made, too",
			Changes: []Change{{File: "recovery/store.go", Old: "			err = c.encode(s.Group, s.To)\n", New: ""}},
			Tests:   []Test{{Run: "TestErasureAfterErasure"}},
		},
	}
}

// inFiles are the edits of versions in files: when there is one, which is restored, which goes.
func inFiles() []Edit {
	return []Edit{
		{
			Name: "files-all", Rule: "a version is published when all have written their files",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "case said == FilesDone && open:", New: "case said != FilesFailed && open:"}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "files-awaited", Rule: "nobody looks for a version before the lowest rank has published it",
			Changes: []Change{{File: "internal/testing/sim/repairs/files.go", Old: "		d.afterPublishing(tell)\n", New: "		tell()\n"}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairsFound$", Says: "V9 broken"}},
		},
		{
			Name: "files-reports", Rule: "all make their plan of the same reports",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "slices.Clone(a.known), slices.Clone(a.bad)", New: "a.known, a.bad"}},
			Tests:   []Test{{Run: "TestReportsStay"}},
		},
		{
			Name: "files-keep", Rule: "of versions in files the newest stay",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "return b.compare(a)", New: "return a.compare(b)"}},
			Hunt:    lives("V11"),
			Tests:   []Test{{Run: "TestSuperfluous"}},
		},
		{
			Name: "files-examined", Rule: "all bytes of a version are read before anybody goes on with it",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "file += size", New: "file += size + files"}},
			Hunt:    lives("V10"),
			Tests:   []Test{{Run: "TestExamined"}},
		},
		{
			Name: "files-unread", Rule: "nobody goes on with a version that one could not read",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "Incomplete: !ev.OK, ", New: "Incomplete: !ev.OK && w.plan.Source != FromFiles, "}},
			Hunt:    lives("V10"),
		},
		{
			Name: "files-bad", Rule: "what one could not read nobody is to restore",
			Changes: []Change{{File: "internal/ckpt/repair/choose.go", Old: "slices.Contains(r.Bad, l)", New: "false"}},
			Tests:   []Test{{Run: "TestArchive$"}},
		},
		{
			Name: "files-publisher", Rule: "nobody goes home before the last version before a stop is in files",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: " && !(w.filesOpen && dead.Has(0))", New: ""}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "files-look", Rule: "what a job has written is found also if all have died who knew",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "(!g.Known || !a.told)", New: "!g.Known"}},
			Hunt:    lives("V9"),
			Tests:   []Test{{Package: "recovery", Run: "TestAllWhoKnewOfFilesAreLost"}},
		},
		{
			Name: "files-order", Rule: "versions are published in their order",
			Changes: []Change{{File: "recovery/files.go", Old: "			<-before //", New: "			//"}},
			Tests:   []Test{{Run: "TestPublishedInOrder"}},
		},
		{
			Name: "files-last-must", Rule: "who must have files is not told of a last commit that is not in files",
			Changes: []Change{{File: "recovery/world.go", Old: "case lost != nil && errors.Is(err, ErrStopped):", New: "case lost != nil && err == nil:"}},
			Tests:   []Test{{Run: "TestLastManifestIsLost"}},
		},
		{
			Name: "files-attempt", Rule: "what was being written is forgotten with the attempt",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "w.lastOne, w.stopped, w.over, w.filesOpen = false, false, false, false", New: "w.lastOne, w.stopped, w.over = false, false, false"}},
			Tests:   []Test{{Run: "TestRandomSchedules"}},
		},
		{
			Name: "files-last", Rule: "the last version before a stop is in files when its commit is agreed",
			Changes: []Change{{File: "recovery/store.go", Old: "		r.writeNow(a.Label)\n", New: ""}},
			Tests:   []Test{{Run: "TestRestart$"}},
		},
		{
			Name: "files-epoch", Rule: "a job that begins anew has greater epochs than what is in files",
			Changes: []Change{{File: "internal/ckpt/repair/archive.go", Old: "max(r.Epoch, a.epoch)", New: "max(r.Epoch, 0*a.epoch)"}},
			Tests:   []Test{{Package: "recovery", Run: "TestRestartAsTold"}, {Run: "TestArchive$"}},
		},
	}
}

// unseen are the edits of what finds that data have changed unseen: digests of what is equal at all
// ranks, and replays that are compared.
func unseen() []Edit {
	return []Edit{
		{
			Name: "replica-restored", Rule: "what is equal at all ranks is compared when it is restored, too",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: ", Same: ev.OK && ev.Same, Digest: salted(ev.Digest, w.plan.Label)})", New: "})"}},
			Hunt:    lives("V3"),
			Tests:   []Test{{Run: "TestReplicasAreComparedWhenRestored"}},
		},
		{
			Name: "verify-last", Rule: "with Verify the last version before a stop is made where it is due",
			Changes: []Change{{File: "internal/ckpt/repair/world.go", Old: "return w.lastOne && !w.cfg.Verify", New: "return w.lastOne"}},
			Hunt:    lives("V12"),
			Tests:   []Test{{Run: "TestLastVersionWithVerify"}},
		},
		{
			Name: "replica-digest", Rule: "a boundary tells whether equal members differ",
			Changes: []Change{{File: "internal/ckpt/repair/attempt.go", Old: "Same: ev.Same, Digest", New: "Digest"}},
			Hunt:    lives("V12"),
		},
		{
			Name: "replica-salt", Rule: "the digest of equal members is salted by what is equal, too",
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
