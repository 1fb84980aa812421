package boot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MessageMax bounds a message, with the newline at its end: one that names 4,096 members
// of a communicator has a twentieth of it, the stacks of some thousand goroutines all of it.
const MessageMax = 1 << 20

// ErrMessage is a line that is no message: too long, no JSON, or with a number that nothing
// has. The lifeline on which it came is of no use any more.
var ErrMessage = errors.New("bad message")

// Encode returns m as a line. A Text that makes it longer than MessageMax loses its end,
// which it then says; without a Text such a message is an error.
func (m Message) Encode() ([]byte, error) {
	whole, kept := m.Text, len(m.Text)
	for {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if len(line) < MessageMax {
			return append(line, '\n'), nil
		}
		if kept == 0 {
			return nil, fmt.Errorf("%w: %d bytes: at most %d", ErrMessage, len(line), MessageMax)
		}
		// JSON makes up to six bytes of one: what is kept shrinks in that ratio, and some.
		kept = int(int64(kept) * MessageMax / int64(len(line)) * 9 / 10)
		m.Text = fmt.Sprintf("%s\n(%d bytes are left out)", whole[:kept], len(whole)-kept)
	}
}

// A Decoder reads the messages on one end of a lifeline. A program may have written there
// what it likes, so no line is longer than MessageMax and every number of a process is one
// that the job has.
type Decoder struct {
	in    *bufio.Scanner
	procs int
}

// NewDecoder returns a Decoder of a job with room for that many processes.
func NewDecoder(r io.Reader, procs int) *Decoder {
	d := &Decoder{in: bufio.NewScanner(r), procs: procs}
	d.in.Buffer(nil, MessageMax)
	d.in.Split(wholeLines)
	return d
}

// Next returns the next message, io.EOF after the last one, and an error that Is ErrMessage
// for what is none. After an error there is no next message.
func (d *Decoder) Next() (Message, error) {
	if !d.in.Scan() {
		switch err := d.in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return Message{}, fmt.Errorf("%w: longer than %d bytes", ErrMessage, MessageMax)
		case err != nil:
			return Message{}, err
		}
		return Message{}, io.EOF
	}
	var m Message
	err := json.Unmarshal(d.in.Bytes(), &m)
	if err == nil {
		err = m.check(d.procs)
	}
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, nil
}

// wholeLines splits at newlines. What follows the last one is of a process that was killed
// while it wrote.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// check says what is wrong with the numbers of a message.
func (m Message) check(procs int) error {
	if err := checkProcs(procs, m.Procs...); err != nil {
		return err
	}
	for _, w := range m.Waits {
		if err := checkProcs(procs, w.Procs...); err != nil {
			return err
		}
	}
	if err := checkProcs(procs, m.First, m.Rank); err != nil {
		return err
	}
	switch m.What {
	case SaysJoined, SaysKill, SaysEvent, SaysAlive, SaysSilent, SaysDump, SaysFenced, SaysDrop:
		return nil
	case SaysAborted:
		if m.N < 1 || m.N > 255 {
			return fmt.Errorf("abort with code %d", m.N)
		}
	case SaysSpawn:
		if m.N < 1 {
			return fmt.Errorf("%d processes to start", m.N)
		}
	case SaysSpawned:
		if m.N < 0 || m.N > procs {
			return fmt.Errorf("%d processes started", m.N)
		}
	case SaysKeep:
		if len(m.Indices) != len(m.Procs) {
			return fmt.Errorf("%d context indices of %d members", len(m.Indices), len(m.Procs))
		}
	default:
		return fmt.Errorf("%q: the launcher and the program are built from different versions", m.What)
	}
	return nil
}

func checkProcs(procs int, numbers ...int) error {
	for _, number := range numbers {
		if number < 0 || number >= procs {
			return fmt.Errorf("process %d of %d", number, procs)
		}
	}
	return nil
}
