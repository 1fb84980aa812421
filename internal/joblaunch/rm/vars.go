package rm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ErrEvidence is wrapped by the error of a process that was started as one of several, and whose
// rank cannot be determined.
var ErrEvidence = errors.New("the program that started this process cannot be determined")

// vars are environment variables by name. Callers never iterate over them.
type vars map[string]string

// index keeps the first of repeated variables, and skips an entry without "=".
func index(env []string) vars {
	v := make(vars, len(env))
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if _, double := v[name]; ok && !double {
			v[name] = value
		}
	}
	return v
}

func (v vars) has(name string) bool {
	_, ok := v[name]
	return ok
}

// number reads a variable that has to be a number from 0 to below limit.
func (v vars) number(name string, limit int) (int, bool) {
	return number(v[name], limit)
}

// number reads digits only: no sign, no blank.
func number(text string, limit int) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return int(n), err == nil && n < int64(limit)
}

// rankOf reads a rank and its size.
func (v vars) rankOf(rank, size string) (r, n int, ok bool) {
	r, okRank := v.number(rank, RanksMax)
	n, okSize := v.number(size, RanksMax+1)
	return r, n, okRank && okSize && r < n
}

// place reads the number of a process on its node, and the number of processes there, of a world
// of size, where Unknown admits any number. The result is nil if the variables are missing or
// contradict each other.
func (v vars) place(local, locals string, size int) *place {
	l, n, ok := v.rankOf(local, locals)
	if !ok || size != Unknown && n > size {
		return nil
	}
	return &place{l, n}
}

// show writes a variable for users, cut to a readable length.
func (v vars) show(name string) string {
	const most = 60
	value, ok := v[name]
	switch {
	case !ok:
		return name + " is not set"
	case len(value) > most:
		value = strconv.Quote(value[:most]) + "..."
	case value == "" || strconv.Quote(value) != `"`+value+`"` || strings.Contains(value, " "):
		value = strconv.Quote(value)
	}
	return name + "=" + value
}

// key makes text fit to be a part of a key. A key has no blanks and no control characters,
// because a mark joins keys with blanks, and users read them.
func key(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
}

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEvidence, fmt.Sprintf(format, args...))
}
