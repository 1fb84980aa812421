package gridrpc

import (
	"fmt"
	"strings"
)

// Event reports a change of a call.
type Event struct {
	What    EventKind
	Attempt int
	Server  string
	Text    string   // progress, the key of a checkpoint, why a server refused or no master answers
	Near    []string // of Unoffered: the services with the most similar names
	Done    float64
	Total   float64
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of an Event.
const (
	Submitted    EventKind = "submitted"
	Began        EventKind = "began"
	Refused      EventKind = "refused"
	Progressed   EventKind = "progress"
	Checkpointed EventKind = "checkpoint"
	Suspected    EventKind = "suspected" // its server is silent
	Trusted      EventKind = "trusted"   // the suspicion was wrong
	StreamBroke  EventKind = "stream broke"
	Lost         EventKind = "server lost"
	Unoffered    EventKind = "no server offers the service" // the call waits for one, as Patience says
	Unheard      EventKind = "no master answers"            // the call waits for one, as Patience says
)

// String describes the event in one line.
func (e Event) String() string {
	text := string(e.What)
	if e.Server != "" {
		text = fmt.Sprintf("attempt %d at %s: %s", e.Attempt, e.Server, e.What)
	}
	if e.Total > 0 {
		text += fmt.Sprintf(" %g of %g", e.Done, e.Total)
	}
	if e.Text != "" {
		text += " " + e.Text
	}
	if len(e.Near) > 0 {
		text += ", known are " + strings.Join(e.Near, ", ")
	}
	return text
}
