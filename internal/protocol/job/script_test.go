package job

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt. A line is an event, the indented lines after it are the
// actions that follow; "job" begins anew; # is a comment.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script, which prints the actions of its events.
func begin(t *testing.T) golden.Run {
	var rules *Rules
	return func(c golden.Command, out io.Writer) {
		switch c.Words[0] {
		case "job":
			rules = New(config(t, c.Words[1:]))
		case "verdict":
			v := rules.Verdict()
			fmt.Fprintf(out, "%d %s\n", v.Code, v.Text)
		default:
			for _, a := range rules.Step(event(t, c.Words)) {
				fmt.Fprintf(out, "%s\n", strings.TrimPrefix(fmt.Sprintf("%T%+v", a, a), "job."))
			}
		}
	}
}

func config(t *testing.T, words []string) Config {
	cfg := Config{Survive: SurviveKilled}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "ranks":
			cfg.Ranks = number(t, value)
		case "room":
			cfg.Procs = number(t, value)
		case "nodes": // of the slots, as 0,0,1,1
			for _, node := range strings.Split(value, ",") {
				cfg.Nodes = append(cfg.Nodes, number(t, node))
			}
		case "spares":
			cfg.Spares = number(t, value)
		case "respawn":
			cfg.Limited, cfg.Respawn = true, number(t, value)
		case "ring":
			cfg.Ring = true
		case "fence":
			cfg.Fence = true
		case "survive":
			cfg.Survive = Survive(value)
		default:
			t.Fatalf("job %s", w)
		}
	}
	return cfg
}

// event reads an event: its name, numbers, and at the end words.
func event(t *testing.T, words []string) Event {
	n := func(i int) int { return number(t, words[i]) }
	numbers := func(from int) (all []int) {
		for i := from; i < len(words); i++ {
			all = append(all, n(i))
		}
		return all
	}
	switch words[0] {
	case "forked":
		return Forked{n(1)}
	case "notstarted":
		return NotStarted{Proc: n(1), NodeLost: words[2] == "node", Why: strings.Join(words[2:], " ")}
	case "joined":
		return Joined{n(1)}
	case "found":
		return Found{Proc: n(1), By: ByTombstone, AtNs: int64(n(2)), Left: len(words) > 3 && words[3] == "left"}
	case "lost": // with its node
		return Found{Proc: n(1), By: ByNode, AtNs: int64(n(2))}
	case "exits":
		return Reaped{n(1), Status{Code: n(2)}}
	case "killed":
		return Reaped{n(1), Status{Signal: sigkill}}
	case "heard":
		return Heard{n(1)}
	case "killdue":
		return KillDue{n(1), int64(n(2)), words[3]}
	case "aborts":
		return Aborted{n(1), n(2), numbers(3)}
	case "fenced":
		return Fenced{n(1)}
	case "silent":
		return Silent{Proc: n(1), By: n(2), AtNs: 9}
	case "nolife":
		return NoLife{n(1), int64(n(2))}
	case "room": // for a spare; slots as below
		ev := event(t, append([]string{"wants", "0", "1"}, words[1:]...)).(Wanted)
		return SpareRoom{Vacant: ev.Vacant, Barred: ev.Barred}
	case "roomier":
		return Roomier{}
	case "replaces":
		ev := event(t, append([]string{"wants"}, words[1:]...)).(Wanted)
		ev.Replace = true
		return ev
	case "wants", "wantslast", "wantsearly": // root, number; parents; of slots that are vacant: +SLOT, of a lost node: -SLOT
		ev := Wanted{Root: n(1), Token: 7, N: n(2), Last: words[0] == "wantslast", Early: words[0] == "wantsearly", Held: "slot 1 by 0"}
		for _, w := range words[3:] {
			if slot, ok := strings.CutPrefix(w, "+"); ok {
				ev.Vacant = append(ev.Vacant, number(t, slot))
				continue
			}
			if slot, ok := strings.CutPrefix(w, "-"); ok {
				ev.Barred = append(ev.Barred, number(t, slot))
				continue
			}
			ev.Parents = append(ev.Parents, number(t, w))
		}
		return ev
	case "badprogram":
		return Wanted{Root: n(1), Token: 7, N: 1, Bad: "no such program"}
	case "kept":
		return Kept{First: n(1), By: n(2), Ranked: len(words) > 3}
	case "unwanted":
		return Unwanted{n(1), n(2), n(3), n(4)}
	case "unjoined":
		return Unjoined{strings.Join(words[1:], " ")}
	case "stopped":
		return Stopped{n(1), strings.Join(words[2:], " ")}
	case "interrupted":
		return Interrupted{n(1), strings.Join(words[2:], " ")}
	}
	t.Fatalf("no event %q", words[0])
	return nil
}

// number reads a number. SLOT.GENERATION is that of a process whose slot others had before.
func number(t *testing.T, text string) int {
	slot, generation, later := strings.Cut(text, ".")
	n, err := strconv.Atoi(slot)
	require.NoError(t, err)
	if !later {
		return n
	}
	g, err := strconv.Atoi(generation)
	require.NoError(t, err)
	return NumberOf(n, g)
}
