package edits

import "slices"

// processes are the bugs of the daemon, the launcher and the rules of a job.
func processes() []Edit { return slices.Concat(generations()) }

// generations are bugs that take a process for the next one in its seat, or an earlier one for it.
func generations() []Edit {
	const dir = "internal/daemon/"
	return []Edit{
		{
			Name: "daemon-tombstone", Rule: "a tombstone belongs to the process whose generation was read with it",
			Changes: []Change{{File: dir + "daemon_linux.go", Old: "p != nil && p.number == number", New: "p != nil"}},
			Tests:   []Test{{Run: "TestTombstoneOfAnEarlierProcess"}},
		},
	}
}
