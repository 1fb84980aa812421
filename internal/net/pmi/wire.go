package pmi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of a line, without its end.
const (
	LineMax   = 1023 // of a request: Slurm reads one with a single read of 1,024 bytes
	AnswerMax = 2047 // of an answer: a value alone may have 1,024 bytes by the servers' own limits
)

// ErrProtocol is wrapped by the error about an answer that is no answer of PMI-1.
var ErrProtocol = errors.New("not an answer of a PMI-1 server")

// answer is a line from the server: a name, and fields in order.
type answer struct {
	cmd    string
	fields []field
}

type field struct{ key, value string }

// value returns the first field of that name.
func (a *answer) value(key string) (string, bool) {
	for _, f := range a.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return "", false
}

// number returns a field that has to be a number not below low.
func (a *answer) number(key string, low int) (int, error) {
	text, ok := a.value(key)
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < low || n > 1<<30 {
		return 0, fmt.Errorf("%w: %s with %s=%q instead of a number", ErrProtocol, a.cmd, key, text)
	}
	return n, nil
}

// refusal returns rc, which is 0 if the field is missing, and the server's message.
func (a *answer) refusal() (rc int, msg string, err error) {
	if text, ok := a.value("rc"); ok {
		if rc, err = strconv.Atoi(text); err != nil {
			return 0, "", fmt.Errorf("%w: %s with rc=%q", ErrProtocol, a.cmd, text)
		}
	}
	msg, _ = a.value("msg")
	return rc, msg, nil
}

// parse reads an answer. Words are separated by blanks, and by zero bytes, with which some
// servers pad. Only a message for users may have blanks in it: words behind msg= without a "="
// belong to the message.
func parse(line string) (answer, error) {
	var a answer
	for i := range len(line) {
		if b := line[i]; !isPadding(b) && (b < ' ' || b > '~') {
			return a, fmt.Errorf("%w: byte %#x in %.80q", ErrProtocol, b, line)
		}
	}
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return isPadding(byte(r)) }) {
		key, value, ok := strings.Cut(word, "=")
		last := len(a.fields) - 1
		switch {
		case a.cmd == "" && (key != "cmd" || value == ""):
			return a, fmt.Errorf("%w: %.80q does not begin with cmd=", ErrProtocol, line)
		case a.cmd == "":
			a.cmd = value
		case ok && key != "":
			a.fields = append(a.fields, field{key, value})
		case last >= 0 && a.fields[last].key == "msg":
			a.fields[last].value += " " + word
		default:
			return a, fmt.Errorf("%w: %.40q in %.80q", ErrProtocol, word, line)
		}
	}
	if a.cmd == "" {
		return a, fmt.Errorf("%w: an empty line", ErrProtocol)
	}
	return a, nil
}

func isPadding(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == 0 }

// lines cuts a stream into lines. It keeps at most one answer, and the bytes behind the answer
// that came in the same read.
type lines struct {
	from io.Reader
	buf  [AnswerMax + 1]byte
	held int // bytes of buf that have come and are not consumed
}

// next returns the next line that is not empty, without its end. The bound covers skipped lines,
// too, so that a server which sends nothing else cannot block next for ever.
func (l *lines) next() (string, error) {
	for skipped := 0; skipped <= AnswerMax; {
		for end := bytes.IndexByte(l.buf[:l.held], '\n'); end < 0; end = bytes.IndexByte(l.buf[:l.held], '\n') {
			if err := l.fill(); err != nil {
				return "", err
			}
		}
		end := bytes.IndexByte(l.buf[:l.held], '\n')
		line := string(l.buf[:end])
		l.held = copy(l.buf[:], l.buf[end+1:l.held])
		if !blank(line) {
			return line, nil
		}
		skipped += end + 1
	}
	return "", fmt.Errorf("%w: more than %d bytes of empty lines", ErrProtocol, AnswerMax)
}

// fill reads once. A read that returns no bytes and no error is left to the reader; connections
// do not do that.
func (l *lines) fill() error {
	if l.held == len(l.buf) {
		return fmt.Errorf("%w: a line of more than %d bytes: %.80q", ErrProtocol, AnswerMax, l.buf[:])
	}
	n, err := l.from.Read(l.buf[l.held:])
	l.held += n
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// pending returns received bytes that no request asked for, and "" if they are only padding.
func (l *lines) pending() string {
	if text := string(l.buf[:l.held]); !blank(text) {
		return text
	}
	l.held = 0
	return ""
}

func blank(text string) bool { return strings.Trim(text, " \t\r\n\x00") == "" }

// graphic reports whether text has at least one character and only characters that pass every
// server: visible ASCII without separators and escapes.
func graphic(text string) bool {
	for i := range len(text) {
		if b := text[i]; b <= ' ' || b > '~' || strings.IndexByte(`=;\`, b) >= 0 {
			return false
		}
	}
	return text != ""
}
