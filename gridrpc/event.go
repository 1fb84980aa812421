package gridrpc

import (
	"fmt"
	"strings"
)

// Event reports a change of a call.
type Event struct {
	What    EventKind // kind of the event
	Attempt int       // number of the attempt, from 1
	Server  string    // name of the server of the attempt
	Text    string    // progress, the key of a checkpoint, why a server refused or no master answers
	Near    []string  // of Unoffered: the services with the most similar names
	Done    float64   // of Progressed: the part that is done, in the unit of Total
	Total   float64   // of Progressed: the whole; 0: unknown
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of an Event.
const (
	Submitted    EventKind = "submitted"                    // the call was sent to a server
	Began        EventKind = "began"                        // the server has accepted the call
	Refused      EventKind = "refused"                      // the server did not accept the call, which is tried again
	Progressed   EventKind = "progress"                     // the body has reported progress
	Checkpointed EventKind = "checkpoint"                   // the body has made a checkpoint
	Suspected    EventKind = "suspected"                    // the server of the attempt is silent
	Trusted      EventKind = "trusted"                      // the suspicion was wrong
	StreamBroke  EventKind = "stream broke"                 // the stream of the call broke
	Lost         EventKind = "server lost"                  // the server has died or was declared dead
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
