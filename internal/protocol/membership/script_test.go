package membership

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt: a job in virtual time. A line that starts in the first column
// is a command or a comment; the indented lines below it are its effects, with the time in
// milliseconds. Member 0 is the launcher, m the daemon of node m-1. A message takes a millisecond.
//
//	job members=4 [survive]   all durations are the defaults; absent={3}: 3 is not there yet;
//	                          racks=0,1,1,2: the rack of each member
//	come 3                    it comes
//	run 2000                  until two seconds
//	kill 2; off 2             the daemon ends; the machine loses its power, and is silent
//	pause 2 300               the machine stands still for that long
//	refuse 1 2                1 finds its connection to 2 ended, and new ones refused
//	cut {0,1} {2,3}; cut {2} > {0}; heal     nothing passes, in both directions or one
//	unreachable 1 2; reachable 1 2           reports of processes of 1 about those of 2
//	condemn 0 2               0, the coordinator, cannot give orders to 2 any more
//	publish 2 died 77         also left, revoked
//	replay grant 0>2          the last message of that kind comes again; also beat
//	show [2]                  all, or one
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	var w *world
	return func(c golden.Command, out io.Writer) {
		words := c.Words
		if words[0] == "job" {
			w = scriptJob(t, words[1:])
			w.log = func(format string, args ...any) {
				at := (w.now + mono.Time(ms)/2) / mono.Time(ms)
				fmt.Fprintf(out, "%d: %s\n", at, fmt.Sprintf(format, args...))
			}
			return
		}
		require.NotNil(t, w, "a script begins with job")
		command(t, w, words)
	}
}

func scriptJob(t *testing.T, args []string) *world {
	cfg := Config{}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "members":
			cfg.Members = number(t, value)
		case "absent":
			cfg.Absent = parseSet(t, value)
		case "racks":
			for rack := range strings.SplitSeq(value, ",") {
				cfg.Racks = append(cfg.Racks, number(t, rack))
			}
		case "survive":
			cfg.Survive = true
		default:
			t.Fatalf("no option %q", key)
		}
	}
	return newWorld(nil, cfg)
}

func command(t *testing.T, w *world, words []string) {
	arg := func(i int) int { return number(t, words[i]) }
	switch words[0] {
	case "run":
		w.runUntil(mono.Time(arg(1)) * mono.Time(ms))
	case "come":
		w.come(arg(1))
	case "kill":
		w.kill(arg(1))
	case "off":
		w.powerOff(arg(1))
	case "pause":
		w.pause(arg(1), mono.Duration(arg(2))*ms)
	case "refuse":
		w.wronged.Add(arg(2))
		w.step(arg(1), Refused{Member: arg(2)})
	case "cut":
		from, to := parseSet(t, words[1]), parseSet(t, words[len(words)-1])
		w.sever(from, to, true)
		if len(words) == 3 {
			w.sever(to, from, true)
		}
	case "heal":
		w.heal()
	case "unreachable":
		w.step(arg(1), Unreachable{Member: arg(2)})
	case "reachable":
		w.step(arg(1), Reachable{Member: arg(2)})
	case "condemn":
		w.step(arg(1), Condemned{Member: arg(2)})
	case "publish":
		kinds := map[string]Kind{"died": Died, "left": Left, "revoked": Revoked}
		w.step(arg(1), Publish{Entries: []Entry{Process(kinds[words[2]], uint32(arg(3)))}})
	case "replay":
		from, to, _ := strings.Cut(words[2], ">")
		msg := w.last[[2]int{number(t, from), number(t, to)}][words[1]]
		require.NotNil(t, msg, "%v: nothing to replay", words)
		w.step(number(t, to), Receive{From: number(t, from), Msg: msg})
	case "show":
		for me, m := range w.members {
			if len(words) == 1 && !m.gone || len(words) == 2 && me == arg(1) {
				w.say("%s", m.r.Describe())
			}
		}
	default:
		t.Fatalf("no command %q", words[0])
	}
}

func parseSet(t *testing.T, text string) rankset.Set {
	set, err := rankset.Parse(text)
	require.NoError(t, err)
	return set
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
