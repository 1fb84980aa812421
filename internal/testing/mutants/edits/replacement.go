package edits

// replacement returns bugs of the call that gives replacements ranks, of its use by package
// recovery, of the slots that it needs, and of the lock on the files of a job.
func replacement() []Edit {
	return []Edit{
		{
			Name: "replace-fresh", Rule: "agreements in the memory of a new first member begin with the tag of new memory",
			Changes: []Change{{File: "internal/protocol/commstate/node.go", Old: "if g.Fresh {", New: "if false {"}},
			Tests:   []Test{{Package: "recovery", Run: "TestEachPointOfARepair"}},
		},
		{
			Name: "replace-ranks", Rule: "replacements get the named ranks, in their order",
			Changes: []Change{{File: "internal/protocol/commstate/replace.go", Old: "started.First+i", New: "started.First+len(nc.Procs)%2"}},
			Tests:   []Test{{Run: "TestReplacePutsReplacementsInTheirRanks"}},
		},
		{
			Name: "replace-series", Rule: "a revocation does not end a replacement",
			Changes: []Change{{File: "internal/protocol/commstate/call.go", Old: "KindMerge, KindEndCreations:", New: "KindMerge, KindReplace, KindEndCreations:"}},
			Tests:   []Test{{Run: "TestReplaceIsARepair"}},
		},
		{
			Name: "recovery-static", Rule: "the static members of a replacement are restored",
			Changes: []Change{{File: "recovery/world.go", Old: "if m.option.Own || stands(m) || kept.Has(i) {", New: "if m.option.Own || m.option.Static || stands(m) || kept.Has(i) {"}},
			Tests:   []Test{{Run: "TestEachPoint$"}},
		},
		{
			Name: "recovery-kept", Rule: "a version is complete only after its keepers have it",
			Changes: []Change{{File: "recovery/store.go", Old: "for _, keeper := range layout.Keepers(owner) {", New: "for _, keeper := range layout.Keepers(owner)[:0] {"}},
			Tests:   []Test{{Run: "TestEachPoint$"}},
		},
		{
			Name: "recovery-stock", Rule: "a process has the data of no rank before a restore, even in a later attempt",
			Changes: []Change{
				{File: "recovery/world.go", Old: "	fits := stock.Fits(w.run, w.plan.Label)\n", New: "	fits := stock.Fits(w.run, w.plan.Label) || w.run.Attempt > 1 && !slices.Contains(w.run.Filled, w.run.Rank)\n"},
				{File: "internal/testing/sim/repairs/stock.go", Old: "	fits := s.Fits(a.run, a.plan.Label)\n", New: "	fits := s.Fits(a.run, a.plan.Label) || w.attempts > 1\n"},
			},
			Tests: []Test{{Run: "TestMembersOverTwoDeaths$"}, {Run: "TestMembersFromFilesOverADeath"}, {Package: repairsFolder, Run: "TestRepairs$", Says: "V13 broken"}},
		},
		{
			Name: "recovery-stock-of-a-rank", Rule: "static members hold the data of one rank in a world of one size",
			Changes: []Change{{File: "internal/ckpt/repair/role.go", Old: "return s.size == run.Size && s.rank == run.Rank && (", New: "return s.size > 0 && ("}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairs$", Says: "V13 broken"}},
		},
		{
			Name: "recovery-stock-of-a-version", Rule: "forward members that are older than the version are restored",
			Changes: []Change{{File: "internal/ckpt/repair/role.go", Old: "(l.IsZero() || s.knows(l))", New: "(l.IsZero() || len(s.been) > 0)"}},
			Tests:   []Test{{Run: "TestStock"}, {Package: repairsFolder, Run: "TestRepairsFound$", Says: "V13 broken"}},
		},
		{
			Name: "repair-lost-twice", Rule: "a rank stays lost until a Protect is agreed, even if another rank dies before",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "	w.hist.repairs++\n", New: "	w.hist.repairs++\n	w.hist.fresh = nil\n"}},
			Tests:   []Test{{Run: "TestNewUntilProtected|TestRandomSchedules"}, {Package: repairsFolder, Run: "TestRepairs$", Says: "V13 broken"}},
		},
		{
			Name: "repair-initial-twice", Rule: "an initial rank that has restored nothing is no survivor",
			Changes: []Change{{File: "internal/ckpt/repair/leave.go", Old: "	w.hist.repairs++\n", New: "	w.hist.repairs++\n	if w.role == Initial {\n		w.role = Survivor\n	}\n"}},
			Tests:   []Test{{Run: "TestNewUntilProtected"}, {Package: repairsFolder, Run: "TestRepairs$", Says: "V13 broken"}},
		},
		{
			Name: "recovery-leave-world", Rule: "the world does not hold its dead after a communicator has replaced it",
			Changes: []Change{
				{File: "recovery/attempt.go", Old: "	if r.c != r.world && engine", New: "	if r.c == nil && engine"},
				{File: "internal/testing/sim/repairs/drive.go", Old: "	if w.ends == a.base {\n", New: "	if w.ends != nil {\n"},
			},
			Tests: []Test{{Package: repairsFolder, Run: "TestRepairs$", Says: "V14 broken"}},
		},
		{
			Name: "control-let-go-in-replace", Rule: "a process that waits in a Replace releases dead processes that it has met before",
			Changes: []Change{{File: "internal/protocol/control/slot.go", Old: "s.wait.spawns && !c.met.Has(proc)", New: "s.wait.spawns"}},
			Tests:   []Test{{Run: "TestLetGoInAReplace"}, {Package: repairsFolder, Run: "TestRepairs$", Says: "V14 broken"}},
		},
		{
			Name: "job-leavers", Rule: "a Spawn waits for slots of processes that may be about to end",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: ", ev.Early && room.mayLeave():", New: ":"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "control-succeed", Rule: "Finalize ends the communicator that has replaced the world",
			Changes: []Change{{File: "internal/protocol/control/ending.go", Old: "	c.takePlaces(c.comm.live(c.world))\n", New: "	c.takePlaces(c.comm.live(World))\n"}},
			Tests:   []Test{{Run: "TestLetGoOfTheWorld"}},
		},
		{
			Name: "files-lock-joined", Rule: "all processes of a job hold the lock, not its first one alone",
			Changes: []Change{{File: "recovery/lock.go", Old: "	if job == \"\" || job == f.claim.job && f.claim.release != nil {\n", New: "	if true {\n"}},
			Tests:   []Test{{Run: "TestAllRanksHoldTheLock"}},
		},
		{
			Name: "files-lock", Rule: "a job does not continue while another job holds the lock",
			Changes: []Change{{File: "recovery/lock.go", Old: "locked != nil && locked.ID != job {", New: "locked != nil && locked.ID == job {"}},
			Tests:   []Test{{Run: "TestOneJobAtATime"}},
		},
		{
			Name: "files-arguments", Rule: "a version that was written with other arguments is not restored",
			Changes: []Change{{File: "recovery/lock.go", Old: "return v.Arguments == \"\" || v", New: "return v.Arguments != \"\" || v"}},
			Tests:   []Test{{Run: "TestOtherArguments"}},
		},
	}
}
