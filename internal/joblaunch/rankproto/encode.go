package rankproto

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxBytes bounds a line, with its newline. A message that names 4,096 members of a communicator
// takes a twentieth of MaxBytes, and the stacks of about a thousand goroutines take all of it.
const MaxBytes = 1 << 20

// ErrMessage is the error about a line that is no message: too long, no JSON, of an unknown type,
// or with a process number that the job does not have. The lifeline of the line is of no use any
// more.
var ErrMessage = errors.New("bad message")

// envelope is a line.
type envelope struct {
	What string          `json:"what"`
	AtNs int64           `json:"atNs,omitempty"`
	Body json.RawMessage `json:"body"`
}

// Encode returns a message of the time atNs as a line. A text that makes the line longer than
// MaxBytes loses its end, which the text then states. Without a text such a message is an error.
func Encode(atNs int64, m Message) ([]byte, error) {
	whole := textOf(m)
	for kept := len(whole); ; {
		line, err := encode(atNs, m)
		if err != nil {
			return nil, err
		}
		if len(line) < MaxBytes {
			return append(line, '\n'), nil
		}
		if kept == 0 {
			return nil, fmt.Errorf("%w: %d bytes: at most %d", ErrMessage, len(line), MaxBytes)
		}
		// JSON may expand a byte to six: shrink the kept text in that ratio, and by a tenth more.
		kept = int(int64(kept) * MaxBytes / int64(len(line)) * 9 / 10)
		m = withText(m, fmt.Sprintf("%s\n(%d bytes are left out)", whole[:kept], len(whole)-kept))
	}
}

func encode(atNs int64, m Message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{What: m.what(), AtNs: atNs, Body: body})
}

// textOf returns the text that Encode may cut, or an empty string.
func textOf(m Message) string {
	switch m := m.(type) {
	case Dump:
		return m.Text
	case Event:
		return m.Text
	case Spawned:
		return m.Why
	}
	return ""
}

func withText(m Message, text string) Message {
	switch m := m.(type) {
	case Dump:
		m.Text = text
		return m
	case Event:
		m.Text = text
		return m
	case Spawned:
		m.Why = text
		return m
	}
	return m
}
