// Package flagtext turns the errors of package flag into messages for a person: the flag with its
// dashes, the value, and the form of the values that the flag takes.
//
//	--timeout 5: want a duration such as 5s
//
// Package flag prints the flag with one dash, and "parse error" in place of the form.
package flagtext

import (
	"flag"
	"fmt"
	"regexp"
	"time"
)

// An Unknown is a flag that a command does not have.
type Unknown struct{ Name string }

func (u *Unknown) Error() string { return Dashed(u.Name) + ": no such flag" }

// The messages of package flag.
var (
	noFlag   = regexp.MustCompile(`^flag provided but not defined: -((?s).*)$`)
	noValue  = regexp.MustCompile(`^flag needs an argument: -((?s).*)$`)
	badValue = regexp.MustCompile(`^invalid (?:boolean )?value "((?s).*)" for (?:flag )?-([^:]*): ((?s).*)$`)
)

// Parse is f.Parse with errors of Explain.
func Parse(f *flag.FlagSet, args []string) error { return Explain(f, f.Parse(args)) }

// Explain returns err, which f.Parse has returned, in plain words. Other errors, and nil, are
// returned unchanged.
func Explain(f *flag.FlagSet, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if m := noFlag.FindStringSubmatch(text); m != nil {
		return &Unknown{Name: m[1]}
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: a value is missing", Dashed(m[1]))
	}
	m := badValue.FindStringSubmatch(text)
	if m == nil {
		return err
	}
	value, name, why := m[1], m[2], m[3]
	if one := f.Lookup(name); one != nil && why != outOfRange {
		if form := formOf(one.Value); form != "" {
			why = "want " + form
		}
	}
	return fmt.Errorf("%s %s: %s", Dashed(name), value, why)
}

// outOfRange is the reason that package flag gives for a number with too many digits.
const outOfRange = "value out of range"

// formOf returns the form of the values of a flag; "": the flag's own error has it.
func formOf(v flag.Value) string {
	get, ok := v.(flag.Getter)
	if !ok {
		return ""
	}
	switch get.Get().(type) {
	case time.Duration:
		return "a duration such as 5s"
	case int, int64:
		return "a whole number"
	case uint, uint64:
		return "a whole number of at least 0"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	}
	return ""
}

// Dashed returns the name of a flag with one dash, if the name is a letter, or two.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
