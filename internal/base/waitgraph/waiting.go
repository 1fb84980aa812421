package waitgraph

import "fmt"

// A Waiting is one thing that a process waits for, as the process reports it.
type Waiting struct {
	Op   string `json:"op"`
	Comm string `json:"comm"`
	// Ranks of Comm that could end the wait; empty: any.
	Ranks []int `json:"ranks"`
	Tag   int   `json:"tag"`
	// Procs are the same ranks in numbers of the world. If any of several ranks could end the wait,
	// Procs are the living members of Comm.
	Procs []int `json:"procs"`
	// Any: one of Procs can end the wait; otherwise all must act.
	Any bool `json:"any"`
	// Together is true for a call that all members of Comm make.
	Together bool `json:"together"`
}

// String prints "recv on world from [3], tag 7".
func (w Waiting) String() string {
	from := fmt.Sprint(w.Ranks)
	if len(w.Ranks) == 0 {
		from = "any rank"
	}
	return fmt.Sprintf("%s on %s for %s, tag %d", w.Op, w.Comm, from, w.Tag)
}

// A Reason describes a call that is about to sleep, for a report on a job that hangs.
type Reason struct {
	Op    string
	Ranks []int        // the awaited ranks; empty: any
	All   bool         // the wait ends when all of Ranks have acted; otherwise when one has
	Ask   func() []int // if not nil: Ranks, at the time of the report
}
