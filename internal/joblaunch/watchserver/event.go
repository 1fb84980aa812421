package watchserver

import (
	"encoding/json"

	"github.com/goulfm/goulfm/fd/watch"
)

// Version is that of the lines, in both directions. It grows with each change that an older side
// would misunderstand.
const Version = 1

// What lines say to one client that are no events.
const (
	cut        = "cut"        // the last line to who is too far behind
	refused    = "refused"    // the last line to who is not served
	registered = "registered" // the answer to who wants to be watched
)

// encode returns an event as a line.
func encode(e watch.Event) []byte {
	line, _ := json.Marshal(struct {
		Version int `json:"v"`
		watch.Event
	}{Version, e}) // of numbers and texts: it cannot fail
	return append(line, '\n')
}

// word is an event about nobody, with a text.
func word(what, text string) watch.Event {
	return watch.Event{What: what, Proc: watch.None, Node: watch.None, Evidence: text}
}
