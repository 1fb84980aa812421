package daemonproto

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/goulfm/goulfm/internal/base/fifo"
)

// MaxBytes bounds a line, with its newline. A line of package rankproto, which is a megabyte at
// most, takes a third more here.
const MaxBytes = 4 << 20

// ErrMessage is the error about a line that is no message.
var ErrMessage = errors.New("bad order")

type envelope struct {
	What string          `json:"what"`
	Body json.RawMessage `json:"body"`
}

// Encode returns a message as a line.
func Encode(m Message) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(envelope{m.what(), text})
	if err == nil && len(line) >= MaxBytes {
		err = fmt.Errorf("%w: %s of %d bytes, at most %d", ErrMessage, m.what(), len(line), MaxBytes)
	}
	return append(line, '\n'), err
}

// A Reader reads messages.
type Reader struct{ in *bufio.Scanner }

// NewReader returns a Reader of the messages from r.
func NewReader(r io.Reader) *Reader {
	in := bufio.NewScanner(r)
	in.Buffer(nil, MaxBytes)
	return &Reader{in}
}

// Next returns the next message; io.EOF after the last one.
func (r *Reader) Next() (Message, error) {
	if !r.in.Scan() {
		if err := r.in.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	var e envelope
	if err := json.Unmarshal(r.in.Bytes(), &e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	read := kindOf(e.What)
	if read == nil {
		return nil, fmt.Errorf("%w: there is no %.40q", ErrMessage, e.What)
	}
	m, err := read(e.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, nil
}

// A Mouth sends messages over a connection, in order, and never blocks its caller: a peer that
// does not read delays only its own messages.
type Mouth struct {
	conn  io.WriteCloser
	lines *fifo.Box[[]byte]
}

// NewMouth returns a Mouth that writes to conn.
func NewMouth(conn io.WriteCloser) *Mouth {
	return &Mouth{conn, fifo.New(func(lines [][]byte) error {
		_, err := (*net.Buffers)(&lines).WriteTo(conn)
		return err
	})}
}

// Say queues a message behind the earlier ones. A message that cannot be encoded is a mistake of
// the caller, and closes the connection.
func (m *Mouth) Say(msg Message) {
	line, err := Encode(msg)
	if err != nil {
		m.lines.Shut()
		_ = m.conn.Close() // the other side detects the mistake by the end of the connection
		return
	}
	m.lines.Post(line)
}

// Flush waits until all messages are written, or until the other end is gone.
func (m *Mouth) Flush() { m.lines.Flush() }
