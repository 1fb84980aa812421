package conformance_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/internal/testing/spectable/matrix"
)

var overShm = flag.Bool("shm", false, "run the table over processes and shared memory, one call of each class in every state (minutes)")

var onlyCells = flag.String("window-cells", "", "run only the cells of the table of windows that have this text in their name")

// binaries builds the launcher and the program once, into a folder that TestMain
// removes.
var binaries = sync.OnceValue(func() error {
	var err error
	if binDir, err = os.MkdirTemp("", "goulfm-cells-"); err != nil {
		return err
	}
	for name, pkg := range map[string]string{"goulfm": "../cmd/goulfm", "cells": "./testdata/cells"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(binDir, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return errors.Join(err, errors.New(string(text)))
		}
	}
	return nil
})

var binDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if binDir != "" {
		os.RemoveAll(binDir)
	}
	os.Exit(code)
}

// launch runs the program on n processes and returns their output and the job's exit code.
func launch(t *testing.T, n int, args ...string) (string, int) {
	t.Helper()
	return launchOn(t, []string{"-n", strconv.Itoa(n)}, args...)
}

// launchOn is launch with flags of the launcher.
func launchOn(t *testing.T, where []string, args ...string) (string, int) {
	t.Helper()
	if err := binaries(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
	defer cancel()
	// The launcher's own limit comes first: the launcher lists the waiting ranks, with stacks.
	args = slices.Concat([]string{"run"}, where, []string{"--timeout", limit.String(), filepath.Join(binDir, "cells")}, args)
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "goulfm"), args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestSpecR5R63C8WaysToEnd: a crash, an exit without Finalize, a panic, an error of
// the program, an abort of a communicator, by a call or by its error handler, are
// failures, of its members alone; an exit after Finalize is none. The handler that is fatal ends
// the job. The rank reports these failures, and the job's exit code shows them, too.
func TestSpecR5R63C8WaysToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and launches programs")
	}
	const alone, both = "failed [3], left [0 1 2]", "failed [2 3], left [0 1]"
	for _, c := range []struct {
		how   string
		ranks int // that survive
		says  string
		code  int
	}{
		{"crash", 3, alone, 2}, // a fault is a panic of the Go runtime
		{"exit", 3, alone, 1},
		{"panic", 3, alone, 2},
		{"error", 3, alone, 1},
		{"abort", 2, both, 7},
		{"handler", 2, both, 1},
		{"finalize", 4, "failed []", 0},
		{"fatal", 0, "", 1},
	} {
		out, code := launch(t, 4, "end", c.how)
		lines := regexp.MustCompile(`(?m)^rank \d: (failed .*)$`).FindAllStringSubmatch(out, -1)
		if len(lines) != c.ranks || code != c.code || slices.ContainsFunc(lines, func(m []string) bool { return m[1] != c.says }) {
			t.Errorf("%s: code %d, want %d and %d times %q\n%s", c.how, code, c.code, c.ranks, c.says, out)
		}
	}
}

// subset is one call of each class in every state, or a few cells without the
// flag.
func subset() []matrix.Cell {
	few := []string{
		"Recv from peer / peer dies during", "Irecv from any, wait / third dead, known", "Ssend / revoked during",
		"Barrier / peer dies during", "Agree / both dead, partly acknowledged", "Shrink / peer dead and revoked",
		"Dup / third dead, unknown", "Finalize / peer dies during",
	}
	var cells []matrix.Cell
	first := map[spectable.Class]string{}
	for _, x := range matrix.Cells() {
		if first[x.Call.Class] == "" {
			first[x.Call.Class] = x.Call.Name
		}
		if slices.Contains(few, x.Name()) || *overShm && first[x.Call.Class] == x.Call.Name {
			cells = append(cells, x)
		}
	}
	return cells
}

// TestSpecR1CellsOverProcesses runs a part of the table in real jobs, where the
// dead are killed by SIGKILL.
func TestSpecR1CellsOverProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and launches programs")
	}
	cells := subset()
	var said spectable.Complaints
	for _, x := range cells {
		out, code := launch(t, x.Ranks(), "cell", t.TempDir(), x.Name())
		for _, m := range regexp.MustCompile(`(?m)^wrong: (.*)$`).FindAllStringSubmatch(out, -1) {
			said.Errorf("%s: %s", x.Name(), m[1])
		}
		if done := strings.Count(out, "done: "); done != spectable.Ranks-len(x.State.Dead) || code != 0 {
			t.Errorf("%s: %d ranks came to the end, code %d\n%s", x.Name(), done, code, out)
		}
	}
	said.Judge(t, "conformance.TestSpecR1CellsOverProcesses", spectable.Gaps())
	t.Logf("%d cells over processes", len(cells))
}

// processHomes are the launcher's flags for each home of windows.
var processHomes = map[string]string{"memory": "-n 4", "nodes": "--host 2 --ppn 2 --timeout-factor 10", "messages": "-n 4 --fence --suspect-after 10s", "own": "-n 4"}

// windowSubset is one call of each class in every state, or a few cells in each home without the
// flag.
func windowSubset() []matrix.WindowCell {
	few := []string{
		"Put / target dead, known", "FetchAndOp / target dies during", "Flush / target dead, unknown", "Lock, exclusive / its holder dies during",
		"Lock, mend / lock broken", "WaitNotify, from target / target dies during", "Fence / third dies during", "Salvage / target dead, known",
		"WaitPosted / target's node goes during", "Wait, from any / revoked during",
	}
	var cells []matrix.WindowCell
	first := map[spectable.WindowClass]string{}
	for _, x := range matrix.WindowCells() {
		if first[x.Call.Class] == "" {
			first[x.Call.Class] = x.Call.Name
		}
		if slices.Contains(few, strings.TrimSuffix(x.Name(), " / "+x.Home.Name)) || *overShm && first[x.Call.Class] == x.Call.Name {
			cells = append(cells, x)
		}
	}
	return cells
}

// TestSpecW3W11W14W16W17WindowsOverProcesses runs a part of the table of windows in real jobs,
// where the dead are killed by SIGKILL.
func TestSpecW3W11W14W16W17WindowsOverProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and launches programs")
	}
	cells := windowSubset()
	for i, x := range cells {
		if !longtest.Row(i, 9) {
			continue
		}
		out, code := launchOn(t, strings.Fields(processHomes[x.Home.Name]), "window", t.TempDir(), x.Name())
		assert.NotContains(t, out, "wrong: ", x.Name())
		assert.Equal(t, spectable.Ranks-len(x.State.Dead), strings.Count(out, "done: "), "%s\n%s", x.Name(), out)
		assert.Zero(t, code, "%s\n%s", x.Name(), out)
	}
	t.Logf("%d cells of windows over processes", len(cells))
}
