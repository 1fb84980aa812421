package edits

import "slices"

// processes are the bugs of the daemon, the launcher and the rules of a job.
func processes() []Edit { return slices.Concat(generations(), fencedOnes(), losses(), strays()) }

// generations are bugs that take a process for the next one in its slot, or an earlier one for it.
func generations() []Edit {
	const dir = "internal/joblaunch/daemon/"
	return []Edit{
		{
			Name: "daemon-tombstone", Rule: "a tombstone belongs to the process whose generation was read with it",
			Changes: []Change{{File: dir + "daemon_linux.go", Old: "p != nil && p.number == number", New: "p != nil"}},
			Tests:   []Test{{Run: "TestTombstoneOfAnEarlierProcess"}, {Run: "TestOrdersForAnEarlierProcess"}},
		},
		{
			Name: "daemon-pulse", Rule: "the silence of a process does not count against the next one in its slot",
			Changes: []Change{{File: dir + "life_linux.go", Old: "if number != p.number {", New: "if number < p.number {"}},
			Tests:   []Test{{Run: "TestPulseOfAnEarlierProcess"}},
		},
		{
			Name: "job-generation", Rule: "an event about an earlier process of a slot changes nothing",
			Changes: []Change{{File: "internal/protocol/job/job.go", Old: " || r.procs[slot].Number() != number", New: ""}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
		{
			Name: "job-late-keep", Rule: "a late Keep names an earlier batch",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: " || b.number != ev.First", New: ""}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
		{
			Name: "job-late-drop", Rule: "a late Drop names an earlier batch",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "b.number == ev.First", New: "b.first == SlotOf(ev.First)"}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
		{
			Name: "job-all-parents", Rule: "a slot is not used again before all who could keep its process have said so",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "if !split && !slices", New: "if !b.ranked || !split && !slices"}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
	}
}

// fencedOnes are bugs that leave a process that was declared dead to itself.
func fencedOnes() []Edit {
	return []Edit{
		{
			Name: "job-ring-fence", Rule: "a process that the ring has declared is ended with the job",
			Changes: []Change{{File: "internal/protocol/job/silence.go", Old: "r.cfg.Fence && p.Declared", New: "r.cfg.Fence"}},
			Tests:   []Test{{Run: "TestScripts/silence"}},
		},
		{
			Name: "engine-ring-fence", Rule: "members report a process that they have declared without exact evidence",
			Changes: []Change{{File: "internal/engine/control.go", Old: "p.cfg.Detector.Fences() && a.Evidence", New: "false && a.Evidence"}},
			Tests:   []Test{{Package: "cmd/goulfm", Run: "TestTheRingFindsAStoppedRank/fenced_for_ever"}},
		},
	}
}

// losses are bugs by which lost output is no failure of the job.
func losses() []Edit {
	const dir = "internal/joblaunch/remotedaemon/"
	return []Edit{
		{
			Name: "remotedaemon-unwritten", Rule: "output that a node loses reaches the verdict",
			Changes: []Change{{File: dir + "files_linux.go", Old: "f.o.mouth.Say(daemonproto.Unwritten{Why: text})", New: ""}},
			Tests:   []Test{{Package: "cmd/goulfm", Run: "TestOutputThatCannotBeWritten"}},
		},
		{
			Name: "remotedaemon-unwritten-alone", Rule: "so it does where the launcher is gone",
			Changes: []Change{{File: dir + "files_linux.go", Old: "lost && o.solo.is.Load()", New: "lost && !o.solo.is.Load()"}},
			Tests:   []Test{{Run: "TestLostOutputWithoutLauncher"}},
		},
	}
}

// strays are bugs by which a process that cannot join its job is not noticed.
func strays() []Edit {
	return []Edit{
		{
			Name: "job-unjoined", Rule: "a process that cannot join is a failure, however it ends",
			Changes: []Change{{File: "internal/protocol/job/verdict.go", Old: `r.unjoined != "" &&`, New: "false &&"}},
			Tests:   []Test{{Run: "TestScripts/ends"}},
		},
		{
			Name: "boot-alone", Rule: "a process below goulfm run is no world of one",
			Changes: []Change{{File: "internal/joblaunch/boot/stray_linux.go", Old: "if standing() != Stray {", New: "if true {"}},
			Tests:   []Test{{Package: "cmd/goulfm", Run: "TestWrapperHidesTheJob"}},
		},
	}
}
