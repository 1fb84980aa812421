package gridrpc

import "fmt"

// Event is something that happened to a call.
type Event struct {
	What    EventKind
	Attempt int
	Server  string
	Text    string // progress, the key of a checkpoint, why a server refused
	Done    float64
	Total   float64
}

// EventKind is what an Event is.
type EventKind string

// The kinds of an Event.
const (
	Submitted    EventKind = "submitted"
	Began        EventKind = "began"
	Refused      EventKind = "refused"
	Progressed   EventKind = "progress"
	Checkpointed EventKind = "checkpoint"
	Suspected    EventKind = "suspected" // its server is silent
	Trusted      EventKind = "trusted"   // that was a mistake
	StreamBroke  EventKind = "stream broke"
	Lost         EventKind = "server lost"
)

// String tells the event in one line.
func (e Event) String() string {
	text := fmt.Sprintf("attempt %d at %s: %s", e.Attempt, e.Server, e.What)
	if e.Total > 0 {
		text += fmt.Sprintf(" %g of %g", e.Done, e.Total)
	}
	if e.Text != "" {
		text += " " + e.Text
	}
	return text
}
