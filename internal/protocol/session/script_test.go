package session

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt. The two ends are 0 and 1. A link is named by its dialer and the
// dialer's count, so 1.2 is the second dial of 1.
//
//	pair [copied=8] [referred=16]    the number of bytes that each end may keep
//	want 0; sweep 0; close 0; gone 0 [dead]; asked 0
//	append 0 5 [3]      5 bytes by copy, then 3 by reference; written at once if open
//	connect 0.1; refuse 0.1
//	deliver 0.1 1 [4]   the next item for end 1, or only its next 4 bytes
//	cut 0.1 [1] [4]     the link ends behind the first item of each direction and 4 bytes
//	take 0 5 [ask]      the engine takes 5 bytes, and is asked for an acknowledgement
//	ack 0 0.1 99        end 0 gets a forged acknowledgement; also bye-ack 0 0.1
//	stranger 0          end 0 gets the hello of a process with another birth
//	time 30             the clock of both shows 30 ms
//	run 2000 [0|1|none] no faults until 2 s; only the named end can dial
//	links               the items in flight
//	show                both ends
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	var p *pair
	return func(c golden.Command, out io.Writer) {
		words := c.Words
		if words[0] == "pair" {
			p = scriptPair(t, words[1:])
			p.log = func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
			return
		}
		require.NotNil(t, p, "a script begins with pair")
		command(t, p, words)
	}
}

func scriptPair(t *testing.T, args []string) *pair {
	copied, referred := 8, 16
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "copied":
			copied = number(t, value)
		case "referred":
			referred = number(t, value)
		default:
			t.Fatalf("no option %q", key)
		}
	}
	return newPair(copied, referred)
}

func command(t *testing.T, p *pair, words []string) {
	arg := func(i, otherwise int) int {
		if i >= len(words) {
			return otherwise
		}
		return number(t, words[i])
	}
	link := func(name string) *link {
		for _, l := range p.links {
			if l.name() == name {
				return l
			}
		}
		t.Fatalf("%v: no such link", words)
		return nil
	}
	last := words[len(words)-1]
	switch words[0] {
	case "want":
		p.step(arg(1, 0), Want{})
	case "asked":
		p.hearAsk(arg(1, 0))
	case "sweep":
		p.step(arg(1, 0), Sweep{})
	case "close":
		p.step(arg(1, 0), Close{})
	case "gone":
		p.step(arg(1, 0), Gone{Dead: last == "dead"})
	case "append":
		p.step(arg(1, 0), Append{Copied: arg(2, 0), Referred: arg(3, 0)})
	case "connect":
		p.connect(link(words[1]))
	case "refuse":
		p.refuse(link(words[1]))
	case "deliver":
		require.NotEmpty(t, link(words[1]).queue[arg(2, 0)], "%v: nothing to deliver", words)
		p.deliver(link(words[1]), arg(2, 0), arg(3, 0))
	case "cut":
		p.cut(link(words[1]), arg(2, 0), arg(3, 0))
	case "take":
		p.take(arg(1, 0), arg(2, 0), last == "ask")
	case "ack":
		p.step(arg(1, 0), Acked{Conn: link(words[2]).conn[arg(1, 0)], Taken: uint64(arg(3, 0))})
	case "bye-ack":
		p.step(arg(1, 0), ByeAck{Conn: link(words[2]).conn[arg(1, 0)]})
	case "stranger":
		p.meetStranger(arg(1, 0))
	case "time":
		p.now = mono.Time(arg(1, 0)) * mono.Time(ms)
		p.tick(0)
		p.tick(1)
	case "run":
		roads := map[string]road{"0": {true, false}, "1": {false, true}, "none": {}}
		open, ok := roads[last]
		if !ok || len(words) < 3 {
			open = road{true, true}
		}
		p.runQuietly(mono.Time(arg(1, 0))*mono.Time(ms), open)
	case "links":
		for _, l := range p.links {
			p.say("%s: to 0 %v, to 1 %v", l.name(), l.queue[0], l.queue[1])
		}
	case "show":
		p.say("%s", p.ends[0].s.Describe())
		p.say("%s", p.ends[1].s.Describe())
	default:
		t.Fatalf("no command %q", words[0])
	}
}

// meetStranger delivers the hello of a process with the right number and another birth.
func (p *pair) meetStranger(me int) {
	from := identity(1 - me)
	from.Birth++
	l := &link{dialer: 1 - me, dial: 99, up: true}
	l.conn[1-me] = 99
	p.links = append(p.links, l)
	l.queue[me] = []item{{kind: "hello", hello: Hello{Job: 7, From: from, To: identity(me)}}}
	p.deliver(l, me, 0)
	l.closed[1-me] = true
	p.sweepLinks()
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
