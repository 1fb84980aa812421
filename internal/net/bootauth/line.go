package bootauth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// RequestMax bounds a request, and AnswerMax an answer, in bytes, without the end of the line.
const (
	RequestMax = 4 << 10
	AnswerMax  = 64 << 10
)

// Each line of a listener begins with a word.
const (
	wordAnswer  = "answer"  // the requested answer
	wordRefused = "refused" // the listener is of this start and refuses to answer
	wordFailed  = "failed"  // the dialler did not prove to be of this start, or the listener could not prove itself
)

const (
	reasonMax = 1 << 10 // bytes
	replyMax  = len(wordRefused) + 1 + AnswerMax
)

// ErrRefused reports that the listener, a daemon of this start, refused to answer; the reason
// follows.
var ErrRefused = errors.New("refused")

// errFailed is a listener's report about the proof. The listener may be a stranger.
var errFailed = errors.New("the other end says")

// readLine reads up to the end of a line, and not a byte further: the bytes behind belong to
// another reader.
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

// checkLine returns the reason why text cannot be sent as a line, or nil.
func checkLine(text []byte, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%d bytes are more than %d", len(text), most)
	case bytes.IndexByte(text, '\n') >= 0:
		return errors.New("more than one line")
	}
	return nil
}

// readRequest reads the request of a dialler.
func readRequest(r io.Reader) ([]byte, error) { return readLine(r, RequestMax) }

// reply returns a line of a listener.
func reply(word string, text []byte) []byte {
	line := make([]byte, 0, len(word)+1+len(text)+1)
	line = append(line, word...)
	line = append(line, ' ')
	line = append(line, text...)
	return append(line, '\n')
}

// parseReply parses such a line, without its end.
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

// plain makes one short line of a foreign text, for a terminal.
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
