package cluster

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Case is the full description of one run: its parameters and each fault. A case can be written as
// a script and read again.
type Case struct {
	Seed     uint64 // of delays and choices
	Watchdog mono.Duration
	Faults   []Fault
	Breaks   string // the invariant that breaks, "" if none

	swarm swarm
	part  part     // the part of the whole run that is left in this case
	calls [][]made // calls of the programs in this run, by process
}

// Run carries out the case. The error is a *Violation.
func (c Case) Run(o Options) (Report, error) {
	o.Seed, o.Watchdog, o.given = c.Seed, c.Watchdog, &c
	return Run(o)
}

// N returns the number of processes.
func (c Case) N() int { return c.swarm.n }

// field is one option of a run with its name.
type field struct {
	name  string
	value any // pointer
}

func (f field) text() string { return fmt.Sprint(reflect.ValueOf(f.value).Elem().Interface()) }

func (f field) set(text string) error {
	var err error
	switch v := f.value.(type) {
	case *int:
		*v, err = strconv.Atoi(text)
	case *uint64:
		*v, err = strconv.ParseUint(text, 0, 64)
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *string:
		*v = text
	case *Detector:
		*v, err = ParseDetector(text)
	case *mono.Duration:
		*v, err = parseDuration(text)
	}
	return err
}

func parseDuration(text string) (mono.Duration, error) {
	for _, u := range []struct {
		name string
		unit mono.Duration
	}{{"ns", 1}, {"us", mono.Microsecond}, {"ms", mono.Millisecond}, {"s", mono.Second}} {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			if v, err := strconv.ParseFloat(number, 64); err == nil {
				return mono.Duration(v*float64(u.unit) + 0.5), nil
			}
		}
	}
	return 0, fmt.Errorf("duration %q", text)
}

// fields lists the options of a run. The names are those of the scripts.
func (s *swarm) fields() []field {
	return []field{
		{"n", &s.n}, {"agreements", &s.agreements}, {"detector", &s.detector}, {"tails", &s.tails}, {"slowpairs", &s.slowPairs},
		{"notices", &s.noticeDelay}, {"safety", &s.safety}, {"deaths", &s.deaths}, {"cascade", &s.cascade}, {"midstep", &s.midStep}, {"loses", &s.loses},
		{"lastwords", &s.lastWords}, {"pauses", &s.pauses}, {"slows", &s.slows}, {"partitions", &s.partitions}, {"stalls", &s.stalls},
		{"bursts", &s.bursts}, {"traffic", &s.traffic}, {"ack", &s.ack}, {"revokes", &s.revokes}, {"creations", &s.creations}, {"closes", &s.closes}, {"memory", &s.memory}, {"uniform", &s.uniform}, {"gatherings", &s.gatherings}, {"longs", &s.longs},
	}
}

func (f *Fault) fields() []field {
	return []field{
		{"proc", &f.Proc}, {"after", &f.After}, {"step", &f.Step}, {"part", &f.Part}, {"lose", &f.Lose}, {"lastwords", &f.LastWords}, {"cascaded", &f.Cascaded},
		{"for", &f.For}, {"off", &f.Off}, {"times", &f.Times}, {"peers", &f.Peers}, {"oneway", &f.OneWay},
	}
}

// String returns the fault in one line, as in a script.
func (f Fault) String() string {
	text := f.Kind.String()
	for i, x := range f.fields() {
		if i == 0 || !reflect.ValueOf(x.value).Elem().IsZero() {
			text += " " + x.name + "=" + x.text()
		}
	}
	return text
}

func parseFault(words []string) (Fault, error) {
	var f Fault
	for f.Kind = Crash; f.Kind.String() != words[0]; f.Kind++ {
		if f.Kind == Stall {
			return f, fmt.Errorf("fault %q", words[0])
		}
	}
	return f, assign(f.fields(), words[1:])
}

// assign reads "name=value" words.
func assign(fields []field, words []string) error {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		found := false
		for _, f := range fields {
			if f.name == name {
				found = true
				if err := f.set(value); err != nil {
					return fmt.Errorf("%s: %w", w, err)
				}
			}
		}
		if !found {
			return fmt.Errorf("%s: no such name", w)
		}
	}
	return nil
}

// Script returns the case as text that ParseCase reads.
func (c Case) Script() string {
	var b strings.Builder
	if c.Breaks != "" {
		fmt.Fprintf(&b, "breaks %s\n", c.Breaks)
	}
	fmt.Fprintf(&b, "seed %d\n", c.Seed)
	if c.Watchdog > 0 {
		fmt.Fprintf(&b, "watchdog %v\n", c.Watchdog)
	}
	fmt.Fprintf(&b, "swarm %v\n", c.swarm)
	b.WriteString(c.part.script())
	for _, f := range c.Faults {
		fmt.Fprintf(&b, "fault %v\n", f)
	}
	return b.String()
}

// ParseCase reads a script. A line that begins with # is a comment.
func ParseCase(text string) (Case, error) {
	var c Case
	for i, line := range strings.Split(text, "\n") {
		if err := c.parse(line); err != nil {
			return c, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return c, c.check()
}

func (c *Case) parse(line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if verb == "" || verb[0] == '#' {
		return nil
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return fmt.Errorf("%s of what", verb)
	}
	var err error
	switch verb {
	case "breaks":
		c.Breaks = rest
	case "seed":
		c.Seed, err = strconv.ParseUint(rest, 0, 64)
	case "watchdog":
		c.Watchdog, err = parseDuration(rest)
	case "swarm":
		err = assign(c.swarm.fields(), words)
	case "part":
		err = c.part.parse(words)
	case "fault":
		var f Fault
		f, err = parseFault(words)
		c.Faults = append(c.Faults, f)
	default:
		err = fmt.Errorf("no such line: %s", verb)
	}
	return err
}

// check returns an error that explains why the case cannot run.
func (c *Case) check() error {
	s := &c.swarm
	if s.n < 2 || s.n > ProcessesMax || s.detector == Drawn || s.agreements < 1 || s.bursts < 1 || s.noticeDelay < 1 || s.safety < 1 || s.creations < 0 || s.gatherings < 0 || s.traffic < 0 || s.longs < 0 {
		return fmt.Errorf("the swarm line lacks something: %v", *s)
	}
	if s.memory && s.detector != Exact {
		return fmt.Errorf("memory=true takes detector=exact")
	}
	if err := c.part.check(s.n); err != nil {
		return err
	}
	for _, f := range c.Faults {
		if f.Proc < 0 || f.Proc >= s.n || f.Part < 0 || f.Part > 1000 || f.For < 0 || f.Off < 0 || f.Step < 1 || f.After < 0 {
			return fmt.Errorf("fault out of range: %v", f)
		}
	}
	return nil
}
