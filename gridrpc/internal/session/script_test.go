package session

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt. A line is a time in milliseconds, an event and its
// arguments; servers are named by letters, a2 is the second incarnation of a.
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		s := New(Config{})
		return func(c golden.Command, out io.Writer) {
			if c.Words[0] == "new" {
				s = New(readConfig(t, c.Words[1:]))
				return
			}
			for _, a := range s.Step(readEvent(t, c.Words)) {
				fmt.Fprintln(out, show(a))
			}
			if at, ok := s.Deadline(); ok {
				fmt.Fprintf(out, "(tick at %v)\n", mono.Duration(at))
			}
		}
	})
}

func readConfig(t *testing.T, words []string) (c Config) {
	for _, w := range words {
		switch {
		case w == "once":
			c.AtMostOnce = true
		case strings.HasPrefix(w, "stall="):
			c.Stall = mono.Duration(number(t, w[6:])) * mono.Millisecond
		case strings.HasPrefix(w, "tries="):
			c.Tries = number(t, w[6:])
		case strings.HasPrefix(w, "losses="):
			c.Losses = number(t, w[7:])
		default:
			require.Fail(t, "what is "+w)
		}
	}
	return c
}

func readEvent(t *testing.T, w []string) Event {
	require.GreaterOrEqual(t, len(w), 2, "%v", w)
	at := mono.Time(number(t, w[0])) * mono.Time(mono.Millisecond)
	attempt := func() uint32 { require.Len(t, w, 3, "%v", w); return uint32(number(t, w[2])) }
	switch w[1] {
	case "begin":
		return Begin{At: at}
	case "found":
		require.Len(t, w, 4, "%v", w)
		return Found{At: at, Server: readServer(w[2]), Attempt: uint32(number(t, w[3]))}
	case "left":
		return Left{At: at}
	case "candidates", "held":
		ev := Candidates{At: at, Held: w[1] == "held"}
		for _, name := range w[2:] {
			ev.Servers = append(ev.Servers, readServer(name))
		}
		return ev
	case "unknown":
		return Candidates{At: at, Unknown: true, Quiet: mono.Duration(attempt()) * mono.Millisecond}
	case "unreachable":
		return Unreachable{At: at}
	case "accepted":
		return Accepted{At: at, Attempt: attempt()}
	case "refused":
		return Refused{At: at, Attempt: attempt()}
	case "progress":
		return Progressed{At: at, Attempt: attempt()}
	case "checkpoint":
		return Checkpointed{At: at, Manifest: Manifest{uint32(number(t, w[2])), uint32(number(t, w[3]))}}
	case "result":
		return Result{At: at, Attempt: attempt()}
	case "failed":
		return Failed{At: at, Attempt: attempt()}
	case "broken":
		return Broken{At: at, Attempt: attempt()}
	case "dead":
		return Declared{At: at, Server: readServer(w[2])}
	case "cancel":
		return Cancelled{At: at}
	case "tick":
		return Tick{Now: at}
	}
	require.Fail(t, "what is "+w[1])
	return nil
}

func readServer(s string) Server {
	if s[len(s)-1] == '2' {
		return Server{s[:len(s)-1], 2}
	}
	return Server{s, 1}
}

func number(t *testing.T, s string) (n int) {
	_, err := fmt.Sscanf(s, "%d", &n)
	require.NoError(t, err, s)
	return n
}

func name(s Server) string {
	if s.Incarnation == 1 {
		return s.Name
	}
	return fmt.Sprint(s.Name, s.Incarnation)
}

// from describes the checkpoint from which a call continues.
func from(m Manifest) string {
	if m == (Manifest{}) {
		return ""
	}
	return fmt.Sprintf(" from checkpoint %d.%d", m.Attempt, m.Number)
}

func show(a Action) string {
	switch a := a.(type) {
	case Ask:
		text := "ask"
		if a.Fresh {
			text += " everybody"
		}
		for _, s := range a.Exclude {
			text += ", not " + name(s)
		}
		return text + from(a.Manifest)
	case Submit:
		return fmt.Sprintf("submit attempt %d to %s", a.Attempt, name(a.Server)) + from(a.Manifest)
	case Attach:
		text := fmt.Sprintf("attach to attempt %d at %s", a.Attempt, name(a.Server))
		if !a.Accepted {
			text += ", or begin it"
		}
		return text
	case Abandon:
		if !a.Over {
			return fmt.Sprintf("abandon attempt %d, the call goes on", a.Attempt)
		}
		return fmt.Sprintf("abandon attempt %d", a.Attempt)
	case End:
		return fmt.Sprintf("end: %v, attempt %d", a.Outcome, a.Attempt)
	}
	return fmt.Sprintf("%T", a)
}
