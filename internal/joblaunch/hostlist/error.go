package hostlist

import (
	"fmt"
	"unicode/utf8"
)

// The bounds of the result of a text.
const (
	HostsMax = 1 << 16 // hosts of one text
	SlotsMax = 1 << 20 // slots of one host; all hosts together have at most HostsMax times that many
	NameMax  = 255     // bytes of a host's name, or of a user's
)

// Error is the position and the cause of a fault in a text. Line and Col count from 1. Col counts
// bytes, which are characters, since an error is at the first character outside of ASCII. The
// caller adds the name of the file or of the variable in front.
type Error struct {
	Line, Col int
	Want      string // the expected text, in words
	Found     string // the text at the position: a piece of it, quoted, or "the end"
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: expected %s, found %s", e.Line, e.Col, e.Want, e.Found)
}

// scanner reads one line of text.
type scanner struct {
	text string
	line int // of the text in its file, from 1
	at   int // the next byte
}

// fail returns an error about the text at byte position at.
func (s *scanner) fail(at int, want string) *Error {
	return &Error{Line: s.line, Col: at + 1, Want: want, Found: s.found(at)}
}

// found quotes the word at a position: enough to recognise the place, never a whole file.
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

// take skips the next byte if that is c.
func (s *scanner) take(c byte) bool {
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// skipBlanks skips spaces and tabs, and the carriage return of a file that was written on
// Windows.
func (s *scanner) skipBlanks() {
	for s.at < len(s.text) && isBlank(s.text[s.at]) {
		s.at++
	}
}

// while skips the bytes for which is holds, and returns them.
func (s *scanner) while(is func(byte) bool) string {
	from := s.at
	for s.at < len(s.text) && is(s.text[s.at]) {
		s.at++
	}
	return s.text[from:s.at]
}

// number reads a decimal number from 1 to most. want names the number in an error.
func (s *scanner) number(most int, want string) (int, error) {
	from := s.at
	n, ok := decimal(s.while(isDigit))
	if !ok || n < 1 || n > most {
		return 0, s.fail(from, fmt.Sprintf("%s from 1 to %d", want, most))
	}
	return n, nil
}

// decimal reads digits; ok is false without digits, and above the digits that an int holds
// safely.
func decimal(digits string) (n int, ok bool) {
	if digits == "" || len(digits) > digitsMax {
		return 0, false
	}
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n, true
}

// digitsMax bounds the digits of a number: 18 fit an int of 64 bits.
const digitsMax = 18

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isName reports whether c may appear in the name of a host or user.
func isName(c byte) bool {
	return isDigit(c) || isAlpha(c) || c == '.' || c == '-' || c == '_'
}
