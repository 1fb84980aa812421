package bootauth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// RequestMax is how long a request may be, AnswerMax an answer, in bytes, without the end of its
// line.
const (
	RequestMax = 4 << 10
	AnswerMax  = 64 << 10
)

// What a listener says begins with a word.
const (
	wordAnswer  = "answer"  // what was asked for
	wordRefused = "refused" // the listener is of this start and does not want to answer
	wordFailed  = "failed"  // it has not found the dialler to be of this start, or could not show that itself is
)

const (
	reasonMax = 1 << 10 // bytes
	replyMax  = len(wordRefused) + 1 + AnswerMax
)

// ErrRefused says that the listener, a daemon of this start, did not want to answer; the reason
// follows.
var ErrRefused = errors.New("refused")

// errFailed says what a listener said of the proof. It may be anybody who says so.
var errFailed = errors.New("the other end says")

// readLine reads as far as the end of a line, and not a byte further: what follows is
// another reader's.
func readLine(r io.Reader, most int) ([]byte, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		switch _, err := io.ReadFull(r, one); {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("closed by the other end after %d bytes: %w", len(line), io.ErrUnexpectedEOF)
		case err != nil:
			return nil, err
		case one[0] == '\n':
			return line, nil
		case len(line) == most:
			return nil, fmt.Errorf("more than %d bytes in a line", most)
		}
		line = append(line, one[0])
	}
}

// checkLine says why text cannot be sent as a line.
func checkLine(text []byte, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%d bytes are more than %d", len(text), most)
	case bytes.IndexByte(text, '\n') >= 0:
		return errors.New("more than one line")
	}
	return nil
}

// readRequest reads what a dialler asks for.
func readRequest(r io.Reader) ([]byte, error) { return readLine(r, RequestMax) }

// reply is a line that a listener says.
func reply(word string, text []byte) []byte {
	line := make([]byte, 0, len(word)+1+len(text)+1)
	line = append(line, word...)
	line = append(line, ' ')
	line = append(line, text...)
	return append(line, '\n')
}

// parseReply takes such a line apart, which has lost its end.
func parseReply(line []byte) ([]byte, error) {
	word, text, ok := bytes.Cut(line, []byte(" "))
	switch {
	case ok && string(word) == wordAnswer && len(text) <= AnswerMax:
		return text, nil
	case ok && string(word) == wordRefused:
		return nil, fmt.Errorf("%w: %s", ErrRefused, plain(string(text)))
	case ok && string(word) == wordFailed:
		return nil, fmt.Errorf("%w: %s", errFailed, plain(string(text)))
	}
	return nil, fmt.Errorf("no answer, but %q", line[:min(len(line), 40)])
}

// plain makes one short line of what others have written: it is shown on a terminal.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return '?'
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), reasonMax)], "")
}
