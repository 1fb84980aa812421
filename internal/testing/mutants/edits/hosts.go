package edits

import "slices"

// hosts are bugs of packages that serve several nodes. The tests of these packages find them with
// fake hosts in one process. Whole jobs do not: a second path has the same result there, or the
// schedule is rare.
func hosts() []Edit { return slices.Concat(daemonHosts()) }

// planter returns a function that makes an edit of one file of a folder, below internal, and names
// the test of that folder that finds it.
func planter(folder, test, name string) func(rule, file, old, new string) Edit {
	return func(rule, file, old, new string) Edit {
		return Edit{Name: name, Rule: rule, Changes: []Change{{File: "internal/" + folder + "/" + file + ".go", Old: old, New: new}}, Tests: []Test{{Run: test}}}
	}
}

// daemonHosts are bugs of the daemon of a node among several.
func daemonHosts() []Edit {
	edit := func(name, test string) func(rule, file, old, new string) Edit {
		return planter("joblaunch/remotedaemon", test, "outpost-"+name)
	}
	return []Edit{
		edit("news", "TestADeathIsNews")("a death reaches the other nodes without the launcher",
			"host_linux", "\to.vigil.Publish(membership.Process(kind, uint32(proc)))\n", "\t_ = kind\n"),
		edit("verdict", "TestAPartition")("the verdict about a node is enough for the ranks of the others",
			"watch_linux", "\tw.roll.lose(member - 1)\n", ""),
		edit("freeze", "TestAPartition")("a node that may be declared dead stops its ranks before",
			"watch_linux", "\tw.d.Stop(daemon.Frozen)\n", ""),
		edit("announced", "TestALostNodeIsAnnouncedLater")("the processes of a lost node are dead when they are announced",
			"roll_linux", "\tr.d.Announce(n)\n\tr.enterLostNodes()\n", "\tr.d.Announce(n)\n"),
		edit("notice", "TestANodeIsTakenBack")("the ranks of a node that is taken back end before its daemon is killed",
			"drain_linux", "o.drain.grace-endFor-time.Since(begun)", "o.drain.grace-time.Since(begun)"),
		edit("finished", "TestADeathIsNews")("revocations of a process that has finished are not repeated",
			"host_linux", "\t\to.revocations.take(proc) // Finalize", "\t\t// Finalize"),
	}
}
