package adaptive

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays every script of testdata: a line that starts in the first column is a command
// or a comment; the indented lines below are its result. Read the scripts as examples.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// A scriptStage is one observer and some processes on a network without surprises: each message
// takes 20 ms. Commands, with times in milliseconds:
//
//	observe 1 detection=30000 [recurrence=...] [duration=...] [confirm=...] [beats=...] [offset=...]
//	run 5000          time passes; what is decided is printed, with the moment
//	trace on|off      messages are printed, too
//	lose 1            all that is sent is lost, and nobody can connect; lose 0: no more
//	deaf 1            no datagram arrives
//	lose-next 3       the next 3 messages are lost
//	lose-adjusts 3    the next 3 Adjusts are lost
//	delay 200         each message takes so long from now on
//	kill 1; pause 1; cont 1      of an observed process; pause and cont alone: the observer
//	refused 1; broken 1; left 1; forget 1      evidence
//	show 1            what is known
type scriptStage struct {
	*world
	out       io.Writer
	loseNext  int
	adjusting bool // the message that is sent just now is an Adjust
	tracing   bool
}

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	t.Helper()
	s := &scriptStage{world: newWorld(3)}
	s.delay = func() Duration { return 20 * Millisecond }
	s.said = func(a Action) { s.print("%s", describe(a)) }
	s.sent = func(m Message) {
		_, s.adjusting = m.(Adjust)
		if s.tracing {
			s.print("%s", describeMessage(m))
		}
	}
	return func(c golden.Command, out io.Writer) {
		s.out = out
		s.command(t, c)
	}
}

func (s *scriptStage) print(format string, args ...any) {
	fmt.Fprintf(s.out, "%v "+format+"\n", append([]any{Duration(s.now)}, args...)...)
}

func (s *scriptStage) command(t *testing.T, c golden.Command) {
	t.Helper()
	word, rest, line := c.Words[0], c.Rest, c.Line
	n := 0
	if rest != "" && word != "trace" && word != "observe" {
		_, err := fmt.Sscan(rest, &n)
		require.NoError(t, err, line)
	}
	switch word {
	case "observe":
		s.start(t, rest)
	case "run":
		s.run(s.now.Add(Duration(n) * Millisecond))
	case "trace":
		s.tracing = rest == "on"
	case "lose":
		s.lost, s.cut = func() bool { return n == 1 }, n == 1
	case "lose-next":
		s.loseNext = n
		s.lost = func() bool { s.loseNext--; return s.loseNext >= 0 }
	case "lose-adjusts":
		s.loseNext = n
		s.lost = func() bool {
			if s.adjusting {
				s.loseNext--
			}
			return s.adjusting && s.loseNext >= 0
		}
	case "deaf":
		s.deaf = n == 1
	case "delay":
		s.delay = func() Duration { return Duration(n) * Millisecond }
	case "kill":
		s.emitters[n].dead = true
	case "pause":
		if rest == "" {
			s.pause = true
		} else {
			s.emitters[n].paused = true
		}
	case "cont":
		if rest == "" {
			s.resume()
		} else {
			s.world.cont(n)
		}
	case "refused", "broken", "left", "forget":
		s.observe(map[string]Event{"refused": Refused{n, s.now}, "broken": Broken{n, s.now}, "left": Left{n}, "forget": Forget{n}}[word])
	case "show":
		s.show(n)
	default:
		t.Fatalf("unknown command %q", line)
	}
}

func (s *scriptStage) start(t *testing.T, rest string) {
	t.Helper()
	words := strings.Fields(rest)
	ev := Observe{At: s.now}
	_, err := fmt.Sscan(words[0], &ev.Peer)
	require.NoError(t, err)
	for _, word := range words[1:] {
		name, text, _ := strings.Cut(word, "=")
		var n int
		_, err := fmt.Sscan(text, &n)
		require.NoError(t, err, word)
		ms := Duration(n) * Millisecond
		switch name {
		case "detection":
			ev.QoS.Detection = ms
		case "recurrence":
			ev.QoS.Recurrence = ms
		case "duration":
			ev.QoS.Duration = ms
		case "confirm":
			ev.Limits.Confirm = ms
			if n < 0 {
				ev.Limits.Confirm = Unconfirmed
			}
		case "beats":
			ev.Limits.Beats = n
		case "offset":
			s.emitters[ev.Peer].offset = ms
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	require.NoError(t, ev.QoS.Check())
	require.NoError(t, ev.Limits.Check(ev.QoS))
	s.observe(ev)
}

func (s *scriptStage) show(peer int) {
	p := s.observer.peer(peer)
	n, q := p.Network(), p.Quality()
	s.print("%d %v: period %v (wanted %v), loss %.3g, deviation %.3g ms, rtt %v, suspected from %v, mistakes each %v: %v", peer, p.state,
		p.Period(), p.Wanted(), n.Loss, 1e3*math.Sqrt(n.Variance), n.RTT, Duration(p.Freshness()), q.Recurrence, q.Attainable)
}

func describe(a Action) string {
	switch a := a.(type) {
	case Suspect:
		return fmt.Sprintf("suspect %d, silent for %v", a.Peer, a.Silent)
	case Trust:
		return fmt.Sprintf("trust %d", a.Peer)
	case Declare:
		return fmt.Sprintf("declare %d dead by %v", a.Peer, a.Evidence)
	case Anomaly:
		return fmt.Sprintf("anomaly %d: %s", a.Peer, a.Text)
	}
	return fmt.Sprintf("%T", a)
}

func describeMessage(m Message) string {
	switch m := m.(type) {
	case Beat:
		return fmt.Sprintf("beat %d of epoch %d, nominal %v, period %v", m.Seq, m.Epoch, Duration(m.Nominal), m.Period)
	case Adjust:
		return fmt.Sprintf("adjust, epoch %d, period %v", m.Epoch, m.Period)
	case Probe:
		return "probe"
	case Echo:
		return fmt.Sprintf("echo of %v", Duration(m.Clock))
	}
	return "?"
}
