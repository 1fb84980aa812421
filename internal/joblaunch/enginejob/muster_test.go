package enginejob

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScripts plays testdata/*.txt. A command is an event, and its output is the actions that
// follow. The command "muster" begins again.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script, which prints the actions of its events.
func begin(t *testing.T) golden.Run {
	var m *muster
	return func(c golden.Command, out io.Writer) {
		words := c.Words
		if words[0] == "muster" {
			timeout, err := time.ParseDuration(words[2])
			require.NoError(t, err)
			m = newMuster(words[1], 0, timeout)
			return
		}
		for _, a := range m.Step(eventOf(t, words)) {
			fmt.Fprintf(out, "%s\n", strings.TrimPrefix(fmt.Sprintf("%T%+v", a, a), "enginejob."))
		}
	}
}

func eventOf(t *testing.T, words []string) event {
	n := func(i int) int {
		n, err := strconv.Atoi(words[i])
		require.NoError(t, err)
		return n
	}
	switch words[0] {
	case "came": // came GUEST rank R of N [key K | here L]
		c := claim{Build: buildid.Build, Rank: n(3), Size: n(5)}
		switch {
		case len(words) > 6 && words[6] == "key":
			c.Key = words[7]
		case len(words) > 6:
			c.Several = &several{Locals: n(7), Channel: byCards}
		}
		return came{n(1), c}
	case "alien":
		return alien{n(1)}
	case "met":
		return met{}
	case "ended":
		return ended{n(1)}
	case "unable":
		return unable{strings.Join(words[1:], " ")}
	case "tick":
		seconds, err := strconv.ParseFloat(words[1], 64)
		require.NoError(t, err)
		return tick{mono.Time(seconds * 1e9)}
	}
	t.Fatalf("no event %q", words[0])
	return nil
}

// TestLateRanksAreHeard: a failed start is not over when the ranks that have come have ended.
func TestLateRanksAreHeard(t *testing.T) {
	m := newMuster("n", 0, time.Second)
	m.Step(came{0, claim{Rank: 0, Size: 3}})
	m.Step(ended{0})
	assert.False(t, m.allHeard())
	m.Step(came{1, claim{Rank: 2, Size: 3}})
	assert.False(t, m.allHeard())
	m.Step(came{2, claim{Rank: 1, Size: 3}})
	assert.True(t, m.allHeard())
}

// TestEveryOrder plays all orders in which three ranks come, one of them dies at any time or
// none, and the time is up at any time or not. There is a world if all came while all lived, and
// each guest gets exactly one last answer.
func TestEveryOrder(t *testing.T) {
	events := []event{came{0, claim{Rank: 0, Size: 3}}, came{1, claim{Rank: 1, Size: 3}}, came{2, claim{Rank: 2, Size: 3}}, ended{1}, tick{mono.Time(mono.Second)}}
	worlds, runs := 0, 0
	for _, order := range interleavings(len(events)) {
		for length := 3; length <= len(events); length++ {
			runs++
			m := newMuster("n", 0, time.Second)
			here, dead, late, started := map[int]bool{}, false, false, false
			refused, accepted := map[int]int{}, map[int]bool{}
			for _, i := range order[:length] {
				switch ev := events[i].(type) {
				case came:
					here[ev.guest] = true
				case ended:
					if !accepted[1] {
						continue // the daemon watches only accepted ranks
					}
					dead = dead || !started
				case tick:
					late = late || !started && len(here) > 0
				}
				for _, a := range m.Step(events[i]) {
					switch a := a.(type) {
					case accept:
						accepted[a.guest] = true
					case refuse:
						refused[a.guest]++
					case start:
						assert.False(t, started, "twice")
						started = true
					}
				}
				if _, first := events[i].(tick); first && len(here) == 0 {
					late = true
				}
			}
			require.Equal(t, len(here) == 3 && !dead && !late, started, "%v", order[:length])
			for guest := range here {
				switch {
				case started || m.state == gathering:
					require.Zero(t, refused[guest], "%v", order[:length])
				case guest == 1 && dead:
					require.LessOrEqual(t, refused[guest], 1, "%v", order[:length])
				default:
					require.Equal(t, 1, refused[guest], "%v", order[:length])
				}
			}
			if started {
				worlds++
			}
		}
	}
	assert.Positive(t, worlds)
	assert.Less(t, worlds, runs)
}

// interleavings returns all permutations of 0 to n-1.
func interleavings(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, rest := range interleavings(n - 1) {
		for at := range n {
			order := append([]int{}, rest[:at]...)
			order = append(order, n-1)
			all = append(all, append(order, rest[at:]...))
		}
	}
	return all
}
