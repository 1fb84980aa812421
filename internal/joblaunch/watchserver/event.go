package watchserver

import (
	"encoding/json"

	"github.com/goulfm/goulfm/fd/watch"
)

// Version is the version of the lines, in both directions. Each change that an older side would
// misunderstand increments it.
const Version = 1

// Types of lines to one client that are no events.
const (
	cut        = "cut"        // the last line to a client that is too far behind
	refused    = "refused"    // the last line to a client that is not served
	registered = "registered" // the answer to a client that registers
)

// encode returns an event as a line.
func encode(e watch.Event) []byte {
	line, _ := json.Marshal(struct {
		Version int `json:"v"`
		watch.Event
	}{Version, e}) // an Event holds only numbers and texts, so Marshal cannot fail
	return append(line, '\n')
}

// word returns an event without a subject, with a text.
func word(what, text string) watch.Event {
	return watch.Event{What: what, Proc: watch.None, Node: watch.None, Evidence: text}
}
