package hostlist

import (
	"fmt"
	"unicode/utf8"
)

// The bounds of what a text may stand for.
const (
	HostsMax = 1 << 16 // hosts of one text
	SlotsMax = 1 << 20 // slots of one host; all hosts together have at most HostsMax times that many
	NameMax  = 255     // bytes of a host's name, or of a user's
)

// Error says where a text is not what it should be. Line and Col count from 1; Col counts bytes,
// which are characters, since an error stands at the first that is not ASCII. The caller puts the
// name of the file or of the variable before it.
type Error struct {
	Line, Col int
	Want      string // what was expected, in words
	Found     string // what stands there: a piece of the text, quoted, or "the end"
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: expected %s, found %s", e.Line, e.Col, e.Want, e.Found)
}

// scanner goes through one line of text.
type scanner struct {
	text string
	line int // of the text in its file, from 1
	at   int // the next byte
}

// fail returns an error about what stands at byte position at.
func (s *scanner) fail(at int, want string) *Error {
	return &Error{Line: s.line, Col: at + 1, Want: want, Found: s.found(at)}
}

// found quotes the word at a position: enough of it to recognise, never a whole file.
func (s *scanner) found(at int) string {
	const most = 24
	rest := s.text[at:]
	if rest == "" {
		return "the end"
	}
	end := 0
	for end < len(rest) && end < most && !isBlank(rest[end]) {
		_, n := utf8.DecodeRuneInString(rest[end:])
		end += n
	}
	if end == 0 {
		return "a blank"
	}
	return fmt.Sprintf("%q", rest[:end])
}

// peek returns the next byte, 0 at the end of the line.
func (s *scanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// take goes past the next byte if that is c.
func (s *scanner) take(c byte) bool {
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// skipBlanks goes past spaces and tabs, and past the carriage return of a file that was
// written on Windows.
func (s *scanner) skipBlanks() {
	for s.at < len(s.text) && isBlank(s.text[s.at]) {
		s.at++
	}
}

// while goes past the bytes for which is holds, and returns them.
func (s *scanner) while(is func(byte) bool) string {
	from := s.at
	for s.at < len(s.text) && is(s.text[s.at]) {
		s.at++
	}
	return s.text[from:s.at]
}

// number reads a decimal number from 1 to most, want being the words for it.
func (s *scanner) number(most int, want string) (int, error) {
	from := s.at
	n, ok := decimal(s.while(isDigit))
	if !ok || n < 1 || n > most {
		return 0, s.fail(from, fmt.Sprintf("%s from 1 to %d", want, most))
	}
	return n, nil
}

// decimal reads digits; ok is false without any, and above what an int holds safely.
func decimal(digits string) (n int, ok bool) {
	if digits == "" || len(digits) > digitsMax {
		return 0, false
	}
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n, true
}

// digitsMax is how many digits a number may have: 18 fit an int of 64 bits.
const digitsMax = 18

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isName says whether c may stand in the name of a host or user.
func isName(c byte) bool {
	return isDigit(c) || isAlpha(c) || c == '.' || c == '-' || c == '_'
}
