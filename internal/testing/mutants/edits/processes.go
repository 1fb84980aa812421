package edits

import "slices"

// processes returns the bugs of the daemon, the launcher and the rules of a job.
func processes() []Edit { return slices.Concat(generations(), fencedOnes(), losses(), strays()) }

// generations returns bugs that confuse a process with the next process in its slot, or with an
// earlier one.
func generations() []Edit {
	const dir = "internal/joblaunch/daemon/"
	return []Edit{
		{
			Name: "daemon-tombstone", Rule: "a tombstone of, or an order for, an earlier process of a slot has no effect on the next one",
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
			Name: "job-late-keep", Rule: "a late Keep that names an earlier batch is ignored",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: " || b.number != ev.First", New: ""}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
		{
			Name: "job-late-drop", Rule: "a late Drop that names an earlier batch is ignored",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "b.number == ev.First", New: "b.first == SlotOf(ev.First)"}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
		{
			Name: "job-all-parents", Rule: "a slot is not reused before all parents that could keep its process have answered",
			Changes: []Change{{File: "internal/protocol/job/batch.go", Old: "if !split && !slices", New: "if !b.ranked || !split && !slices"}},
			Tests:   []Test{{Run: "TestScripts/slots"}},
		},
	}
}

// fencedOnes returns bugs that let a process run although it was declared dead.
func fencedOnes() []Edit {
	return []Edit{
		{
			Name: "job-ring-fence", Rule: "a process that the ring has declared dead is ended with the job",
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

// losses returns bugs that hide lost output from the result of the job.
func losses() []Edit {
	const dir = "internal/joblaunch/remotedaemon/"
	return []Edit{
		{
			Name: "remotedaemon-unwritten", Rule: "output that a node loses reaches the verdict",
			Changes: []Change{{File: dir + "files_linux.go", Old: "f.o.mouth.Say(daemonproto.Unwritten{Why: text})", New: ""}},
			Tests:   []Test{{Package: "cmd/goulfm", Run: "TestOutputThatCannotBeWritten"}},
		},
		{
			Name: "remotedaemon-unwritten-alone", Rule: "output that a node loses reaches the exit code of the daemon after the loss of the launcher",
			Changes: []Change{{File: dir + "files_linux.go", Old: "lost && o.solo.is.Load()", New: "lost && !o.solo.is.Load()"}},
			Tests:   []Test{{Run: "TestLostOutputWithoutLauncher"}},
		},
	}
}

// strays returns bugs that hide a process which cannot join its job.
func strays() []Edit {
	return []Edit{
		{
			Name: "job-unjoined", Rule: "if no process has joined, one that cannot join is a failure of the job, however it ends",
			Changes: []Change{{File: "internal/protocol/job/verdict.go", Old: `r.unjoined != "" &&`, New: "false &&"}},
			Tests:   []Test{{Run: "TestScripts/ends"}},
		},
		{
			Name: "boot-alone", Rule: "a process below goulfm run never continues as a single rank",
			Changes: []Change{{File: "internal/joblaunch/boot/stray_linux.go", Old: "if standing() != Stray {", New: "if true {"}},
			Tests:   []Test{{Package: "cmd/goulfm", Run: "TestWrapperHidesTheJob"}},
		},
	}
}
