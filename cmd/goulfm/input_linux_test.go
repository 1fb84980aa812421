package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestInputThatNoRankReads: input that no rank reads stays for the loop of a shell, also if the
// rank is on another node. Only the lines that a rank reads are consumed.
func TestInputThatNoRankReads(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lines")
	require.NoError(t, os.WriteFile(file, []byte("a\nb\nc\nd\n"), 0o600))
	run := goulfm + " run -q --host 2 --timeout-factor 50 "
	for _, c := range []struct{ name, script, want string }{
		{"a pipe", `cat ` + file + ` | while read x; do echo $x; ` + run + prog + ` ring; done`, "a\nsum 1\nb\nsum 1\nc\nsum 1\nd\nsum 1\n"},
		{"a file", `while read x; do echo $x; ` + run + prog + ` ring; done <` + file, "a\nsum 1\nb\nsum 1\nc\nsum 1\nd\nsum 1\n"},
		{"a rank that reads", `cat ` + file + ` | while read x; do echo $x; ` + run + `sh -c 'read y && echo rank $y; true'; done`, "a\nrank b\nc\nrank d\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := limited(t, "sh", "-c", c.script).CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, c.want, string(out))
		})
	}
}

// TestJobInTheBackground: a job that a shell runs in the background does not stop, and leaves the
// typed input to the shell. In the foreground the job reads the typed input.
func TestJobInTheBackground(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	const jobs = "set +o history; set -m; exec 2>/dev/null; "
	for _, c := range []struct{ name, script, want string }{
		{"one node", jobs + `goulfm run -q -n 2 prog ring & wait $!; echo code $?; read x; echo shell: $x`, "sum 1\ncode 0\nshell: typed\n"},
		{"two nodes", jobs + `goulfm run -q --host 2 --timeout-factor 50 prog ring & wait $!; echo code $?; read x; echo shell: $x`, "sum 1\ncode 0\nshell: typed\n"},
		{"all ranks", jobs + `goulfm run -q -n 2 --stdin all prog ring & wait $!; echo code $?; read x; echo shell: $x`, "sum 1\ncode 0\nshell: typed\n"},
		{"foreground", `exec goulfm run -q -n 1 sh -c 'read x && echo rank: $x'`, "rank: typed\n"},
		{"foreground of two nodes", `exec goulfm run -q --host 2 --timeout-factor 50 sh -c 'read x && echo rank: $x; true'`, "rank: typed\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			master, slave := openTerminal(t)
			_, err := master.WriteString("typed\n")
			require.NoError(t, err)
			words := strings.NewReplacer("goulfm", goulfm, "prog", prog).Replace(c.script)
			cmd := limited(t, "bash", "--norc", "-c", words)
			var out strings.Builder
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, &out, &out
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			require.NoError(t, cmd.Run(), out.String())
			assert.Equal(t, c.want, out.String())
		})
	}
}

// openTerminal returns the two ends of a pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
