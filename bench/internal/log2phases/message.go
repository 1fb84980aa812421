package log2phases

import (
	"fmt"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// A kind is the first byte of a message.
type kind byte

const (
	vote    kind = 1 // the contributions of the sender's subtree, to its parent
	commit  kind = 2 // the decision
	request kind = 3 // asks a child for its vote
)

// String returns the name of the kind.
func (k kind) String() string {
	switch k {
	case vote:
		return "VOTE"
	case commit:
		return "COMMIT"
	}
	return "REQUEST"
}

// A message belongs to one attempt of one agreement.
type message struct {
	kind    kind
	attempt int       // position of the root of the attempt: the number of dead roots before
	value   era.Value // empty in a request
}

// String prints the message on one line.
func (m message) String() string {
	text := m.kind.String()
	if m.attempt > 0 {
		text += fmt.Sprintf(" attempt %d", m.attempt)
	}
	if m.kind == request {
		return text
	}
	return fmt.Sprintf("%s [%v]", text, m.value)
}

// encode returns the bytes of m.
func encode(m message) []byte {
	b := wire.AppendUint([]byte{byte(m.kind)}, uint64(m.attempt))
	if m.kind == request {
		return b
	}
	return era.AppendMessage(b, era.Up{Value: m.value})
}

// decode decodes the output of encode, in a group of n members. Any other input gives an error that
// wraps wire.ErrMalformed. The message shares nothing with b.
func decode(b []byte, n int) (message, error) {
	r := wire.NewReader(b)
	m := message{kind: kind(r.Byte()), attempt: r.Below(n)}
	switch m.kind {
	case request:
		return m, r.Done()
	case vote, commit:
		if err := r.Err(); err != nil {
			return m, err
		}
		v, err := era.DecodeUp(r.Rest(), n)
		m.value = v
		return m, err
	}
	return m, fmt.Errorf("%w: message of kind %d, want 1 to 3", wire.ErrMalformed, m.kind)
}
