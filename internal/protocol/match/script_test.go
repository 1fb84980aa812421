package match

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// A script runs readable calls against the Matcher and the dumb version at once. A line is a verb,
// for post, arrive and withdraw a name, and key=value arguments; ctx is 0 unless given. "show"
// prints a context.
type script struct {
	twin  *twin
	ids   map[string]int // of receives and messages
	names []string       // by id
}

func newScript() *script {
	return &script{twin: newTwin(), ids: map[string]int{}, names: []string{"-"}}
}

// run executes one command and returns its events, one string for each.
func (s *script) run(line string) ([]string, error) {
	words := strings.Fields(line)
	if words[0] == "show" {
		o, err := s.parse(words)
		return s.show(o.ctx), err
	}
	o, err := s.parse(words)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	events, err := s.twin.do(o)
	if err == nil {
		err = s.twin.compare()
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	var out []string
	for _, ev := range events {
		out = append(out, s.describe(ev))
	}
	return out, nil
}

// describe puts an event into words; the subject of a line is not repeated.
func (s *script) describe(ev event) string {
	switch ev.what {
	case gotMessage, gotRecv, ended, isPending, droppedMsg, found:
		return fmt.Sprintf("%s %s", ev.what, s.names[ev.id])
	}
	return string(ev.what)
}

func (s *script) parse(words []string) (op, error) {
	o := op{verb: verb(words[0])}
	for _, word := range words[1:] {
		key, value, isArg := strings.Cut(word, "=")
		switch {
		case word == "all":
			o.all = true
		case word == "announced":
			o.announced = true
		case word == "blocking":
			o.blocking = true
		case !isArg:
			o.id = s.id(word)
		default:
			if err := o.set(key, value); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

func (s *script) id(name string) int {
	if _, ok := s.ids[name]; !ok {
		s.ids[name] = len(s.names)
		s.names = append(s.names, name)
	}
	return s.ids[name]
}

func (o *op) set(key, value string) error {
	n, err := Any, error(nil)
	if value != "any" {
		if n, err = strconv.Atoi(value); err != nil {
			return err
		}
	}
	switch key {
	case "ctx":
		o.ctx = uint32(n)
	case "src":
		o.src = n
	case "tag":
		o.tag = n
	case "size":
		o.size = n
	case "members":
		o.members = n
	default:
		return fmt.Errorf("unknown argument %s", key)
	}
	return nil
}

// show prints a context's queues.
func (s *script) show(ctx uint32) []string {
	m := s.twin.real.m
	sp := m.table.space(ctx)
	posted, unexpected := "", ""
	sp.each(func(r *Recv) { posted += fmt.Sprintf(" %s(%s,%s)", s.names[r.Slot], orAny(r.Src), orAny(r.Tag)) })
	for msg := sp.arrivals.head; msg != nil; msg = msg.links[byArrival].next {
		how := fmt.Sprintf("%dB", len(msg.Data))
		if msg.Announced {
			how = "announced"
		}
		unexpected += fmt.Sprintf(" %s(%d,%d,%s)", s.names[msg.Handle], msg.Src, msg.Tag, how)
	}
	return []string{fmt.Sprintf("%v, %d posted:%s, %d unexpected:%s", m.State(ctx), m.Posted(ctx), posted, m.Unexpected(ctx), unexpected)}
}

func orAny(n int) string {
	if n == Any {
		return "any"
	}
	return strconv.Itoa(n)
}

// TestScripts plays testdata/*.txt.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	s := newScript()
	return func(c golden.Command, out io.Writer) {
		events, err := s.run(c.Line)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			fmt.Fprintln(out, ev)
		}
	}
}
