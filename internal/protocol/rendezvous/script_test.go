package rendezvous

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays the scripts in testdata. Commands: "world N", "send P NAME TO SIZE", "recv P
// NAME FROM ROOM", "cancel P NAME", "publish P NAME", "push P NAME", "data A B" and "control A B"
// (the next frame from A to B on a lane), "revoke P", "die P KEPT", "learn P DEAD".
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		var w *world
		t.Cleanup(func() { assert.Empty(t, w.wrong) })
		return func(c golden.Command, out io.Writer) {
			w = play(t, w, c.Line)
			for _, text := range w.log {
				_, _ = fmt.Fprintln(out, text)
			}
			w.log = nil
		}
	})
}

// play carries out one command.
func play(t *testing.T, w *world, line string) *world {
	var verb, name string
	var p, a, b int
	_, _ = fmt.Sscan(line, &verb)
	switch verb {
	case "world":
		_, err := fmt.Sscan(line, &verb, &p)
		require.NoError(t, err, line)
		return newWorld(p)
	case "send", "recv":
		_, err := fmt.Sscan(line, &verb, &p, &name, &a, &b)
		require.NoError(t, err, line)
		if verb == "send" {
			w.procs[p].isend(name, a, 0, b)
		} else {
			w.procs[p].irecv(name, a, 0, b)
		}
	case "cancel", "publish", "push":
		_, err := fmt.Sscan(line, &verb, &p, &name)
		require.NoError(t, err, line)
		do := map[string]func(*end){"cancel": w.procs[p].cancel, "publish": w.procs[p].publish, "push": w.procs[p].push}
		do[verb](w.procs[p].named(name))
	case "data", "control":
		_, err := fmt.Sscan(line, &verb, &a, &b)
		require.NoError(t, err, line)
		w.deliver(a, b, map[string]int{"data": onData, "control": onControl}[verb])
	case "die", "learn":
		_, err := fmt.Sscan(line, &verb, &p, &a)
		require.NoError(t, err, line)
		if verb == "die" {
			w.die(p, a)
		} else {
			w.procs[p].learn(a)
		}
	case "revoke":
		_, err := fmt.Sscan(line, &verb, &p)
		require.NoError(t, err, line)
		w.procs[p].revoke()
	default:
		t.Fatalf("no such command: %s", line)
	}
	return w
}
