package rankproto

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Decoder reads the messages on one end of a lifeline.
type Decoder struct {
	in    *bufio.Scanner
	procs int
	kinds func(what string) func([]byte) (Message, error)
}

// Received is a message and the time at which it was made (CLOCK_MONOTONIC, ns).
type Received struct {
	AtNs    int64
	Message Message
}

// FromRank returns a Decoder of the messages of a rank, in a job with room for procs processes.
func FromRank(r io.Reader, procs int) *Decoder { return newDecoder(r, procs, saidByRank) }

// FromDaemon returns a Decoder of the messages of the daemon to a rank.
func FromDaemon(r io.Reader, procs int) *Decoder { return newDecoder(r, procs, saidByDaemon) }

func newDecoder(r io.Reader, procs int, kinds func(string) func([]byte) (Message, error)) *Decoder {
	d := &Decoder{in: bufio.NewScanner(r), procs: procs, kinds: kinds}
	d.in.Buffer(nil, MaxBytes)
	d.in.Split(splitLines)
	return d
}

// saidByRank returns the function that reads the body of a rank's message of a type, or nil.
func saidByRank(what string) func([]byte) (Message, error) {
	switch what {
	case Joined{}.what():
		return body[Joined]
	case Killing{}.what():
		return body[Killing]
	case Event{}.what():
		return body[Event]
	case Silent{}.what():
		return body[Silent]
	case Fenced{}.what():
		return body[Fenced]
	case Aborted{}.what():
		return body[Aborted]
	case Finalizes{}.what():
		return body[Finalizes]
	case Spawn{}.what():
		return body[Spawn]
	case Keep{}.what():
		return body[Keep]
	case Drop{}.what():
		return body[Drop]
	case Dump{}.what():
		return body[Dump]
	case Revoked{}.what():
		return body[Revoked]
	case Unmet{}.what():
		return body[Unmet]
	}
	return nil
}

// saidByDaemon returns the function that reads the body of a daemon's message of a type, or nil.
func saidByDaemon(what string) func([]byte) (Message, error) {
	switch what {
	case Spawned{}.what():
		return body[Spawned]
	case Keep{}.what():
		return body[Keep]
	case Prove{}.what():
		return body[Prove]
	case Describe{}.what():
		return body[Describe]
	case Meet{}.what():
		return body[Meet]
	case Revoked{}.what():
		return body[Revoked]
	}
	return nil
}

func body[M Message](text []byte) (Message, error) {
	var m M
	err := json.Unmarshal(text, &m)
	return m, err
}

// Next returns the next message, io.EOF after the last one, and an error that Is ErrMessage for a
// line that is no message. After an error there is no next message.
func (d *Decoder) Next() (Received, error) {
	if !d.in.Scan() {
		switch err := d.in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return Received{}, fmt.Errorf("%w: longer than %d bytes", ErrMessage, MaxBytes)
		case err != nil:
			return Received{}, err
		}
		return Received{}, io.EOF
	}
	m, err := d.decode(d.in.Bytes())
	if err != nil {
		return Received{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, nil
}

func (d *Decoder) decode(line []byte) (Received, error) {
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		return Received{}, err
	}
	read := d.kinds(e.What)
	if read == nil {
		return Received{}, fmt.Errorf("there is no %.40q", e.What)
	}
	m, err := read(e.Body)
	if err == nil {
		err = m.check(d.procs)
	}
	return Received{e.AtNs, m}, err
}

// splitLines splits at newlines. Bytes after the last newline are from a process that was killed
// during a write. At the end of the stream they are dropped.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}
