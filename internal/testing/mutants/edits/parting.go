package edits

// partings returns bugs of processes that leave while members of another world still complete an
// operation with them.
func partings() []Edit {
	edit := func(name, rule, file, old, text, test string) Edit {
		return Edit{Name: "parting-" + name, Rule: rule, Changes: []Change{{File: file, Old: old, New: text}}, Tests: []Test{{Run: test}}}
	}
	of := func(name, rule, file, old, text, test string) Edit {
		e := edit("disconnect-"+name, rule, file, old, text, "")
		e.Tests = []Test{{Package: "comm", Run: test}}
		return e
	}
	return []Edit{
		edit("goes-on", "a collective continues if all departed members left after Finalize and took part in it", "internal/protocol/departure/departure.go",
			"return t.parted > 0 && t.parted == t.deaths", "return t.parted > 0 && t.parted != t.deaths", "TestTally"),
		edit("later", "a collective fails if a member left without taking part in it", "internal/protocol/departure/departure.go",
			"int32(t.lastOfAll-number) >= 0", "t.lastOfAll > 0", "TestTally"),
		edit("told", "a process reports its last collectives before it leaves", "internal/engine/ending.go", "\te.tellLasts()\n", "", "TestCollectivesGoOnAfterADeparture"),
		edit("early", "a notice that comes before its communicator exists is kept", "internal/engine/parting.go", "\t\tp.gone.early.Keep(from, l)\n", "", "TestDepartureBeforeTheCommunicator"),
		edit("ask-finalize", "a member answers a question only in Finalize", "internal/engine/inquiry.go", "if e.busy && ", "if ", "TestAskAMemberThatComputes"),
		edit("ask-answer", "a member in Finalize answers the question", "internal/engine/inquiry.go", "e.p.trySend(to, &transport.Header{Kind: transport.Eager, Ctx: dataContext(0, inOrder)}, nil)", "_ = transport.Eager", "TestAskAMemberThatComputes"),
		edit("receives", "a departure ends only receives that name the process", "internal/protocol/match/life.go",
			"\t\tend(s, &s.sources.At(src).posted, ended)\n", "\t\tm.endAll(s, ended)\n", "TestPartEndsReceivesFromOneSource"),
		of("deaths", "Disconnect fails at all members after a death", "internal/protocol/commstate/agree.go",
			"out.Err = failed(p.Call, v.Dead)", "out.Dead = nil", "TestSpecC11DisconnectAfterADeath"),
		of("under-way", "a member contributes to Disconnect when nothing is under way", "internal/engine/freeing.go",
			"if isUnderWay(c) && (", "if isUnderWay(c) && leaving.kind == commstate.KindClose && (", "TestSpecC11DisconnectWaitsForAReceive"),
		of("pending", "a receive that a death has interrupted holds up no Disconnect", "internal/engine/freeing.go",
			" || !onlyPending(c)", " || onlyPending(c)", "TestSpecC11DisconnectAfterADeath"),
	}
}

// wakes returns bugs of sleepers, and of steps of windows that a death or a revocation
// interrupts.
func wakes() []Edit {
	edit := func(name, rule, file, old, text, in, test string) Edit {
		return Edit{Name: "wakes-" + name, Rule: rule, Changes: []Change{{File: file, Old: old, New: text}}, Tests: []Test{{Package: in, Run: test}}}
	}
	return []Edit{
		edit("all", "a declared death wakes every sleeper where no daemon does", "internal/engine/control.go", "\t\tp.node.WakeAll()\n", "\t\tp.node.MoveEpoch()\n", "", "TestDeathOfARingerInEveryOrder"),
		edit("always", "a wake-up of all processes rings each doorbell, whether a flag is raised or not", "internal/shm/park/round.go",
			"\tatomic.AddUint32(word, count)\n\tr.move(word)\n", "\t_ = atomic.AddUint32\n\tr.Ring(word, flags)\n", "internal/engine", "TestDeathOfARingerInEveryOrder"),
		edit("epoch", "a wake-up of all processes moves the epoch first", "internal/shm/segment/node.go", "\tn.MoveEpoch()\n\tround :=", "\tround :=", "internal/engine", "TestDeathOfARingerInEveryOrder"),
		edit("declared", "the end of a process after the declaration of its death wakes every sleeper", "internal/protocol/job/job.go",
			"\tif r.cfg.Fence && !p.Left {\n", "\tif false {\n", "internal/engine", "TestDeathAfterTheDeclarationInEveryOrder"),
		edit("silence", "the handling of a death on another node does not wait for a reaper of this node", "internal/engine/watch.go",
			"if !s.opened.Load() || p.others.isAway(proc) {", "if !s.opened.Load() {", "", "TestDeathWithoutMembarrier"),
		edit("reaped", "without membarrier the handling of a death on this node waits until the process is reaped", "internal/engine/watch.go",
			"\tfor !p.node.HasEnded(proc) {\n", "\tfor false {\n", "", "TestDeathWithoutMembarrier"),
		edit("complete", "a Complete on a revoked window counts nowhere", "rma/epoch.go",
			"\tif s.err != nil { // its puts may have been refused: the targets must not count it\n\t\te.open = false\n\t\treturn k.fail(op, nil, s.err)\n\t}\n", "", "rma", "TestCompleteOnARevokedWindow"),
		edit("withdrawn", "memory that its owner has withdrawn is not reported as a lack of room", "internal/shm/window/region.go",
			"return errors.Is(err, syscall.ENOENT) || ", "return ", "internal/shm/window", "TestFind"),
	}
}
