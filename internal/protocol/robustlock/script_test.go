package robustlock

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt.
//
//	cluster n=3
//	lock 0 exclusive|shared|mend
//	start 0 exclusive     the same, but no access is made yet
//	step 0 3              three accesses
//	look 0                as far as it goes
//	unlock 0; withdraw 0; return 0
//	start-unlock 0        no access is made yet
//	die 0                 between two accesses
//	notice 1 0            1 hears of the death of 0
//	state
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	t.Helper()
	w := newWorld()
	return func(c golden.Command, out io.Writer) {
		words := c.Words
		if words[0] == "cluster" {
			n, err := strconv.Atoi(strings.TrimPrefix(words[1], "n="))
			require.NoError(t, err)
			w = newWorld(make([]string, n)...)
			return
		}
		if did := command(t, w, words); did != "" {
			fmt.Fprintln(out, did)
		}
	}
}

func command(t *testing.T, w *world, words []string) string {
	t.Helper()
	var args [2]int
	for i, word := range words[1:] {
		if n, err := strconv.Atoi(word); err == nil {
			args[i] = n
		}
	}
	p := args[0]
	l := &w.locks[p]
	switch words[0] {
	case "lock":
		l.Lock(parseMode(t, words[2]))
	case "start":
		l.startLock(parseMode(t, words[2]))
		return ""
	case "step":
		for range args[1] {
			l.step()
		}
	case "look":
		l.Look()
	case "unlock":
		l.Unlock()
	case "start-unlock":
		l.startUnlock()
		return ""
	case "withdraw":
		l.Withdraw()
	case "return":
		l.Return()
	case "die":
		w.kill(p)
		return ""
	case "notice":
		w.told[p][args[1]] = true
		return ""
	case "state":
		return w.String()
	default:
		t.Fatalf("unknown command %q", words)
	}
	out := fmt.Sprintf("%d: %v", p, l.Outcome())
	if l.Outcome() == Broken {
		out += fmt.Sprintf(", %d died as its holder", l.Dead()-1)
	}
	return out + "; W=" + wordText(w.word)
}

func parseMode(t *testing.T, text string) Mode {
	t.Helper()
	for m := Shared; m <= Mend; m++ {
		if m.String() == text {
			return m
		}
	}
	t.Fatalf("unknown mode %q", text)
	return None
}
