package era

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// waitsFor returns the ranks from which this agreement needs a message, ascending.
func (a *agreement) waitsFor() []int {
	switch a.state {
	case waiting:
		return []int{a.teams.speaks(a.parent)}
	case gathering:
		return a.teams.speakers(rankset.Of(slices.Collect(a.missing)...)).Slice()
	}
	return nil
}

// String prints the agreement on one line.
func (a *agreement) String() string {
	if a.state == decided {
		return fmt.Sprintf("agreement %d: decided %v", a.seq, a.value)
	}
	text := fmt.Sprintf("agreement %d: %v, holds %v", a.seq, a.state, a.value)
	if w := a.waitsFor(); w != nil {
		text += fmt.Sprintf(", waits for %v", w)
	}
	if !a.requesters.IsEmpty() {
		text += fmt.Sprintf(", requested by %v", a.teams.speakers(a.requesters))
	}
	if !a.asked.IsEmpty() {
		text += fmt.Sprintf(", asked %v", a.teams.speakers(a.asked))
	}
	return text
}

// String returns the state's name.
func (s state) String() string {
	switch s {
	case notEntered:
		return "not entered"
	case gathering:
		return "gathering"
	case waiting:
		return "waiting"
	}
	return "decided"
}

// String prints an Up as "UP [value]".
func (m Up) String() string { return fmt.Sprintf("UP [%v]", m.Value) }

// String prints a Down as "DOWN [value]".
func (m Down) String() string { return fmt.Sprintf("DOWN [%v]", m.Value) }

// String returns "REQUEST".
func (ResultRequest) String() string { return "REQUEST" }
