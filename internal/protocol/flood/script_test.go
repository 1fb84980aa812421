package flood

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt: commands, with their output below. The scripts are examples.
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		var stage scriptStage
		return func(c golden.Command, out io.Writer) { io.WriteString(out, stage.run(t, c)) }
	})
}

// A scriptStage is a group of members whose messages wait until they are delivered.
type scriptStage struct {
	members []*Flood
	queues  [][][][]byte // queues[from][to]: messages in flight, first in, first out
}

func (s *scriptStage) run(t *testing.T, c golden.Command) string {
	t.Helper()
	word, rest, line := c.Words[0], c.Rest, c.Line
	var a, b int
	var set string
	scan := func(format string, args ...any) {
		if _, err := fmt.Sscanf(rest, format, args...); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	switch word {
	case "group":
		scan("n=%d items=%d", &a, &b)
		return s.start(a, b)
	case "publish":
		scan("%d %s", &a, &set)
		return s.step(a, Publish{Items: parse(t, set)})
	case "failed":
		scan("%d %d", &a, &b)
		return s.step(a, Failed{Rank: b})
	case "compare":
		scan("%d %d", &a, &b)
		return s.step(a, Compare{With: b, Digest: s.members[b].Digest()})
	case "raw":
		var msg []byte
		scan("%d->%d %x", &a, &b, &msg)
		return s.step(b, Receive{From: a, Msg: msg})
	case "deliver":
		scan("%d->%d", &a, &b)
		return s.deliver(a, b)
	case "deliver-all":
		return s.deliverAll()
	case "sets":
		return s.sets()
	}
	t.Fatalf("unknown command %q", line)
	return ""
}

func (s *scriptStage) start(n, items int) string {
	*s = scriptStage{}
	var out strings.Builder
	for me := range n {
		s.members = append(s.members, New(Config{N: n, Me: me, Items: items}))
		s.queues = append(s.queues, make([][][]byte, n))
		fmt.Fprintf(&out, "%d has neighbours %v\n", me, Neighbors(n, me))
	}
	return out.String()
}

func (s *scriptStage) step(me int, ev Event) string {
	var out strings.Builder
	for _, a := range s.members[me].Step(ev) {
		switch a := a.(type) {
		case Deliver:
			fmt.Fprintf(&out, "%d: deliver %v\n", me, a.Items)
		case Send:
			s.queues[me][a.To] = append(s.queues[me][a.To], a.Msg)
			fmt.Fprintf(&out, "%d: send %v to %d\n", me, wire.NewReader(a.Msg).Set(rankset.RankMax), a.To)
		case Anomaly:
			fmt.Fprintf(&out, "%d: anomaly from %d: %s\n", me, a.From, a.Text)
		}
	}
	if out.Len() == 0 {
		return fmt.Sprintf("%d: nothing\n", me)
	}
	return out.String()
}

func (s *scriptStage) deliver(from, to int) string {
	queue := &s.queues[from][to]
	if len(*queue) == 0 {
		return fmt.Sprintf("%d->%d: no message\n", from, to)
	}
	msg := (*queue)[0]
	*queue = (*queue)[1:]
	return s.step(to, Receive{From: from, Msg: msg})
}

// deliverAll delivers until nothing is in flight, and prints the deliveries only.
func (s *scriptStage) deliverAll() string {
	var out strings.Builder
	messages := 0
	for again := true; again; {
		again = false
		for from := range s.queues {
			for to := range s.queues[from] {
				if len(s.queues[from][to]) == 0 {
					continue
				}
				again = true
				messages++
				for line := range strings.Lines(s.deliver(from, to)) {
					if strings.Contains(line, "deliver") {
						out.WriteString(line)
					}
				}
			}
		}
	}
	fmt.Fprintf(&out, "%d messages\n", messages)
	return out.String()
}

func (s *scriptStage) sets() string {
	var out strings.Builder
	for me, f := range s.members {
		fmt.Fprintf(&out, "%d: %v\n", me, f.Items())
	}
	return out.String()
}

func parse(t *testing.T, text string) rankset.Set {
	t.Helper()
	s, err := rankset.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
