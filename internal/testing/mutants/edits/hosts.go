package edits

import "slices"

// hosts returns bugs of packages that serve several nodes, or host the rules of a job. The tests of
// these packages find them with fake hosts in one process. Whole jobs do not: a second path has the
// same result there, or the schedule is rare.
func hosts() []Edit {
	return slices.Concat(daemonHosts(), clients(), jobRules(), drivers(), launchers(), lifelines(), keepers())
}

// planter returns a function that makes an edit of one file of a folder below internal, and
// names the test of that folder which finds the bug.
func planter(folder, test, name string) func(rule, file, old, new string) Edit {
	return func(rule, file, old, new string) Edit {
		return Edit{Name: name, Rule: rule, Changes: []Change{{File: "internal/" + folder + "/" + file + ".go", Old: old, New: new}}, Tests: []Test{{Run: test}}}
	}
}

// daemonHosts returns bugs of the daemon of one of several nodes.
func daemonHosts() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("joblaunch/remotedaemon", test, "remotedaemon-"+name)
	}
	return []Edit{
		edit("news", "TestADeathIsNews")("a death reaches the other nodes without the launcher",
			"host_linux", "\to.driver.Publish(membership.Process(kind, uint32(proc)))\n", "\t_ = kind\n"),
		edit("declaration", "TestAPartition")("after the declaration of a node the ranks of the others learn that its ranks are dead",
			"watch_linux", "\tw.roll.lose(member - 1)\n", ""),
		edit("freeze", "TestAPartition")("a node stops its ranks before another node may declare its death",
			"watch_linux", "\tw.d.Stop(daemon.Frozen)\n", ""),
		edit("announced", "TestALostNodeIsAnnouncedLater")("the processes of a lost node are dead when they are announced",
			"roll_linux", "\tr.d.Announce(n)\n\tr.enterLostNodes()\n", "\tr.d.Announce(n)\n"),
		edit("notice", "TestANodeIsTakenBack")("the ranks of a withdrawn node end before its daemon is killed",
			"drain_linux", "o.drain.grace-endFor-time.Since(begun)", "o.drain.grace-time.Since(begun)"),
		edit("finished", "TestADeathIsNews")("revocations of a process that has finished are not repeated",
			"host_linux", "\t\to.revocations.take(proc) // Finalize", "\t\t// Finalize"),
	}
}

// clients returns bugs of the launcher's client of the daemons of several nodes.
func clients() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("joblaunch/daemonclient", test, "client-"+name)
	}
	return []Edit{
		edit("found", "TestANodeDies")("a death that its daemon has reported is not found again with its node",
			"node_linux", "if !p.isFound {", "if true {"),
		edit("reaped", "TestANodeDies")("a process is reaped once, by its daemon or with its node",
			"node_linux", "\tif again {\n", "\tif false && again {\n"),
		edit("inexact", "TestANodeDies")("the death of a process with its node is declared without exact evidence",
			"client_linux", "Lost: f.nodeOf(proc).isLost()", "Lost: false"),
		edit("census", "TestWhatAllNodesKnow")("a slot is vacant only if all nodes know the death of its process",
			"slots_linux", "if knows[slot] == nodes {", "if knows[slot] <= nodes {"),
		edit("forgets", "TestWhatAllNodesKnow")("the launcher forgets a process only if all nodes have vacated its slot",
			"slots_linux", "if why == nil {", "if true {"),
		edit("withdrawn", "TestANodeIsTakenBack")("nothing is started on a node that its engine withdraws",
			"client_linux", " || n.leaving.Load()", ""),
		edit("invitation", "TestAnInvitationEnds")("the end of an invitation does not free a node slot that a node has taken",
			"late_linux", "func() { n.become(isInvited, isAbsent) }", "func() { n.state.Store(int32(isAbsent)) }"),
	}
}

// jobRules returns bugs of the rules about processes. A death at a certain moment of a request
// shows them.
func jobRules() []Edit {
	edit := func(name string) func(rule, file, old, new string) Edit {
		return planter("protocol/job", "TestRandomJobs", "job-"+name)
	}
	return []Edit{
		edit("missed")("a request is forgotten if one of its processes was not started",
			"batch", "b.over && (b.missed || !toStart())", "b.over && !toStart()"),
		edit("first")("the slot of an initial rank is in use before its process starts",
			"slots", "!p.Present && !r.cfg.beginsWith(*p) && ", "!p.Present && (!r.cfg.beginsWith(*p) || true) && "),
		edit("started")("a process that starts after the failure of its request is ended",
			"batch", "\tif b.over {\n\t\tp.Dropped = true\n", "\tif b.over && b.missed {\n\t\tp.Dropped = true\n"),
		edit("unanswered")("a request is answered if one of its processes ends before Init, also with its node",
			"batch", "!b.told && !b.over {", "!b.told && !b.over && p.By != ByNode {"),
	}
}

// drivers returns bugs of the host of the rules about nodes.
func drivers() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("net/membershiphost", test, "driver-"+name)
	}
	return []Edit{
		edit("copies", "TestCopiesOfDatagrams")("a datagram counts once, and not after a later one",
			"arrive", " || sequence <= v.seen[from]", ""),
		edit("birth", "TestAnotherBirth")("a connection is accepted only from a member with the birth that the table has",
			"arrive", " || binary.LittleEndian.Uint64(hello[4:]) != v.ways[member].to.Load().Birth", " || binary.LittleEndian.Uint64(hello[4:]) == 0"),
		edit("came", "TestTheEndOfALateMember")("the coordinator opens a connection to a member that came late",
			"driver", "\t\tv.keeping.coordinator = nobody // the", "\t\t// the"),
		edit("declaration", "TestTheEndOfALateMember")("no connection to a dead member is kept",
			"driver", "\t\t\tv.keeping.coordinator = nobody // it", "\t\t\t// it"),
		edit("queue", "TestALinkWithoutEnd")("the queue of messages for an unreachable member is bounded",
			"link", " || len(l.queue) >= queueMax", ""),
	}
}

// launchers returns bugs of the launcher. A fake crew finds them in virtual time.
func launchers() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("joblaunch/launch", test, "launch-"+name)
	}
	return []Edit{
		edit("lost", "TestTheNodeIsLostWhileProcessesStart")("a request that fails with a node may be repeated",
			"start_linux", "errors.Is(why, daemonclient.ErrNodeLost),", "errors.Is(why, daemonclient.ErrNodeLost) && number < 0,"),
		edit("balance", "TestTheNodeIsLostWhileProcessesStart")("the job waits for no process that was not started",
			"start_linux", "l.crew.Unexpect(b.Count - i)", "l.crew.Unexpect(b.Count - i - 1)"),
		edit("own", "TestSlotsOfTheDead")("a requester waits only 200 ms for slots that it holds itself",
			"start_linux", "if time.Since(begun) > slotsOwn {", "if time.Since(begun) > slotsMax {"),
		edit("spare", "TestSparesOnALateNode")("a spare is announced before it is started",
			"spares_linux", "l.slots = max(l.slots, a.First+1)", "l.slots = max(l.slots, a.First)"),
		edit("pause", "TestSparesOnALateNode")("no spare is started beside the repair that has used one",
			"host_linux", "\t\tif a.Later {", "\t\tif a.Later && l.spec.Spares == 0 {"),
		edit("request", "TestTwoRequestsToEnd")("another signal is a second request to end, however soon",
			"signals_linux", "asked > 0 && sig == last && ", "asked > 0 && last != 0 && "),
	}
}

// lifelines returns bugs of the connection between a rank and its daemon.
func lifelines() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("joblaunch/boot", test, "boot-"+name)
	}
	return []Edit{
		edit("token", "TestAnswersOutOfOrder")("each request has a token of its own",
			"join_linux", "\tp.token++\n", "\tp.token = 1\n"),
		edit("late", "TestAnswersOutOfOrder")("the late answer to an abandoned request is handled, not lost",
			"join_linux", "{ late(<-ch) }()", "{ <-ch }()"),
		edit("meet", "TestOneWayOnly")("a process that waits for its world dials a node that cannot dial this process",
			"join_linux", "\t\t\tp.wasAsked(m)\n\t\tcase rankproto.Keep:", "\t\tcase rankproto.Keep:"),
	}
}

// keepers returns bugs of a server that holds results for later clients.
func keepers() []Edit {
	const file = "gridrpc/server/keep.go"
	tests := []Test{{Run: "TestResultsOutliveTheirServer"}}
	return []Edit{
		{
			Name: "keeper-newest", Rule: "a result in the store replaces an older attempt",
			Changes: []Change{{file, "old == nil || old.number < a.number {", "old == nil {"}}, Tests: tests,
		},
		{
			Name: "keeper-rest", Rule: "the next incarnation holds a result for the rest of its time",
			Changes: []Change{{file, "keep: max(1, time.Until(r.Until)),", "keep: max(time.Hour, time.Until(r.Until)),"}}, Tests: tests,
		},
		{
			Name: "keeper-stream", Rule: "a client that is receiving a result receives all of it",
			Changes: []Change{{file, "\tattended := a.streams > 0\n\tif !attended {\n\t\ta.spent", "\tattended := a.streams > 1\n\tif !attended {\n\t\ta.spent"}}, Tests: tests,
		},
	}
}
