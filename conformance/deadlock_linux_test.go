package conformance_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/base/waitgraph"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// waitLine is a line of the launcher's list of waiting ranks. The awaited ranks are numbers of the
// communicator.
var waitLine = regexp.MustCompile(`(?m)^  rank (\d+): (\w+ on [^\n]*) waits for ranks? (\d+(?:,\d+)*)`)

// waitsOf reads a list, of a job in which ranks wait on communicators whose rank 0 is
// the given rank of the world.
func waitsOf(t *testing.T, dump string, base func(rank int) int) (waits []waitgraph.Wait) {
	t.Helper()
	for _, m := range waitLine.FindAllStringSubmatch(dump, -1) {
		rank, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		w := waitgraph.Wait{Rank: rank, What: m[2]}
		for s := range strings.SplitSeq(m[3], ",") {
			on, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			w.On = append(w.On, on+base(rank))
		}
		waits = append(waits, w)
	}
	return waits
}

// TestSpecC4DeadlockIsReported: processes that shrink overlapping communicators in
// different orders wait for each other. The launcher prints a list at the time limit, and after
// SIGQUIT. It names the awaited rank of each rank. These ranks form a circle through the two
// members of both communicators.
func TestSpecC4DeadlockIsReported(t *testing.T) {
	longtest.Skip(t, "jobs that hang until their time is up")
	if testing.Short() {
		t.Skip("builds and launches programs")
	}
	if err := binaries(); err != nil {
		t.Fatal(err)
	}
	// Communicators of ranks 0 to 2, where 0 and 1 wait, and of 1 to 3.
	base := func(rank int) int { return rank / 2 }
	for _, c := range []struct {
		flags  string
		asked  bool // by SIGQUIT
		circle string
	}{
		{"", false, "rank 1 (shrink on split of world) -> rank 2 (shrink on split#2 of world) -> rank 1"},
		{"", true, "rank 1 (shrink on split of world) -> rank 2 (shrink on split#2 of world) -> rank 1"},
		// By messages a member waits for its parent in the tree, and the parent for others.
		{"--agree era", false, "rank 0 (shrink on split of world) -> rank 2 (shrink on split#2 of world) -> rank 1 (shrink on split of world) -> rank 0"},
	} {
		want := "goulfm: they wait for each other: " + c.circle + "\n"
		tells := func(dump string) bool {
			return strings.Contains(regexp.MustCompile(`, main.go:\d+`).ReplaceAllString(dump, ""), want)
		}
		dump := hang(t, c.asked, tells, append([]string{"run", "-n", "4"}, strings.Fields(c.flags)...)...)
		waits := waitsOf(t, dump, base)
		if got := waitgraph.Text(waitgraph.Cycle(waits)); len(waits) != 4 || got != c.circle {
			t.Errorf("%q, asked %v: %d waits, circle %q, want %q\n%.2000s", c.flags, c.asked, len(waits), got, c.circle, dump)
		}
		if !tells(dump) {
			t.Errorf("%q, asked %v: not reported: %q\n%.2000s", c.flags, c.asked, want, dump)
		}
	}
}

// hang runs a job that hangs, and returns the launcher's report at the time limit or after SIGQUIT.
// The limit begins with the job: hang doubles the limit until all ranks wait by then.
func hang(t *testing.T, asked bool, tells func(dump string) bool, args ...string) (dump string) {
	t.Helper()
	run := func(flags ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, filepath.Join(binDir, "goulfm"), slices.Concat(args, flags, []string{filepath.Join(binDir, "cells"), "overlap"})...)
		cmd.WaitDelay = time.Second
		return cmd
	}
	if asked {
		return ask(t, run(), tells)
	}
	for after := time.Second; after < limit && !tells(dump); after *= 2 {
		cmd := run("--timeout", after.String())
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 124 {
			t.Errorf("%v, want code 124", err)
		}
		dump = string(out)
	}
	return dump
}

// ask sends SIGQUIT once all ranks are about to wait, and again until the answer lists them as
// waiting, or the time of the command is over. Then ask kills the launcher and its ranks.
func ask(t *testing.T, cmd *exec.Cmd, tells func(dump string) bool) string {
	t.Helper()
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var dump strings.Builder
	ready := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "about to wait":
			ready++
		case strings.HasPrefix(line, "goulfm: waiting ranks, on request"):
			dump.Reset()
		case strings.HasPrefix(line, "goulfm: stacks of the program ") && tells(dump.String()):
			return dump.String()
		}
		dump.WriteString(line + "\n")
		if ready == 4 && (line == "about to wait" || strings.HasPrefix(line, "goulfm: stacks of the program ")) {
			if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dump.String()
}
