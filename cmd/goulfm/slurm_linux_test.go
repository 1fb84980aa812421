package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// srun replaces Slurm's srun. The script starts the tasks on this machine, repeats its input to all
// of them, and reports a failed task in the words of Slurm.
const srun = `#!/bin/sh
[ "$1" != --help ] || exit 0
printf '%s\n' "$*" >> "$TOLD"
env >> "$TOLD"
until [ "$1" = --unbuffered ]; do shift; done
shift
read -r line
for n in n1 n2 n3; do
  case $n in n2) program=${PROGRAM_OF_N2:-$1} ;; *) program=$1 ;; esac
  { printf '%s\n' "$line" | SLURMD_NODENAME=$n "$program" "$2" "$3" "$4" || echo "srun: error: $n: task 0: Exited with exit code $?" >&2; } &
done
wait
`

// inSlurm runs goulfm with the variables of a batch script of Slurm. The second result holds the
// arguments and the environment of srun.
func inSlurm(t *testing.T, env []string, args ...string) (result, string) {
	t.Helper()
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "srun"), []byte(srun), 0o700))
	cmd := limited(t, goulfm, slices.Concat([]string{"run"}, patience, args)...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TOLD="+told, "SLURM_JOB_ID=7", "SLURMD_NODENAME=n1",
		"SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x3)", "SLURM_CPUS_PER_TASK=4")
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(told)
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, string(text)
}

// TestAllocation: in an allocation a job runs on all its nodes, with daemons that srun starts. The
// arguments and the environment of srun contain no secret, and not the allocation's number of cores
// for each task.
func TestAllocation(t *testing.T) {
	got, told := inSlurm(t, nil, prog, "ring")
	assert.Equal(t, result{0, "sum 15\n", ""}, got)
	assert.Contains(t, told, "-N 3 -n 3 --ntasks-per-node=1 -w n[1-3] ")
	assert.Contains(t, told, " daemon --nodes n[1-3]\n")
	assert.NotContains(t, told, "SLURM_CPUS_PER_TASK")
	assert.NotRegexp(t, regexp.MustCompile(`(?i)secret`), told)

	got, told = inSlurm(t, nil, "--launcher", "local", "-n", "2", prog, "ring")
	assert.Equal(t, result{0, "sum 1\n", ""}, got)
	assert.Empty(t, told)

	got, told = inSlurm(t, []string{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=2"}, "-n", "3", prog, "ring")
	assert.Equal(t, result{0, "sum 3\n", ""}, got, "the only node of a batch script is this one")
	assert.Empty(t, told)
}

// TestANodeOfAnAllocationIsKilled: the other nodes continue.
func TestANodeOfAnAllocationIsKilled(t *testing.T) {
	heat := build(t, "../../examples/byhand/heat")
	got, _ := inSlurm(t, nil, "--kill", "node2@step=200", heat, "-steps", "100000")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, heatResult)
	assert.Contains(t, got.err, "node 2 (n3) is lost")
}

// TestAllocationsThatFail: code 3 or 2, and one line with host, cause and remedy.
func TestAllocationsThatFail(t *testing.T) {
	for _, c := range []struct {
		env, args string
		code      int
		want      string
	}{
		{"PROGRAM_OF_N2=/no/goulfm", "", 3, `^goulfm run: node 1 \(n2\): its daemon could not start: .*not found: install goulfm there at the same path, or name its path with --daemon-path\n$`},
		{"PROGRAM_OF_N2=/bin/false", "", 3, `^goulfm run: node 1 \(n2\): its daemon could not start: Exited with exit code 1\n$`},
		{"PATH=/nowhere", "", 3, `node 2 \(n3\): .*: --launcher slurm needs Slurm's srun in PATH\n$`},
		{"SLURM_JOB_NODELIST=n[1-", "", 2, `SLURM_JOB_NODELIST="?n\[1-.*--launcher local`},
		{"SLURM_JOB_ID=", "--launcher slurm", 2, `this is no batch script and no shell of salloc`},
		{"SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=0", "", 3, `^goulfm run: 4 ranks by Slurm step 7.0 .*: each of them would start a job of its own: .*srun -n 1.*\n$`},
		{"SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 SLURM_STEP_ID=0", "", 3, `^$`},
		{"PMI_RANK=1 PMI_SIZE=4", "", 3, `^goulfm run: .*PMI_RANK=1: one of several processes.*GOULFM_ALONE=1.*\n$`},
	} {
		got, _ := inSlurm(t, strings.Fields(c.env), append(strings.Fields(c.args), prog, "ring")...)
		assert.Equal(t, c.code, got.code, "%s\n%s", c.env, got.err)
		assert.Regexp(t, c.want, got.err, c.env)
		assert.Empty(t, got.out)
	}
}

// TestDaemonsThatSrunStarts: a daemon that srun starts finds the number of its node, or the error
// names the reason.
func TestDaemonsThatSrunStarts(t *testing.T) {
	node, err := nodeOf([]string{"--nodes", "n[1-3]"}, "n2")
	require.NoError(t, err)
	assert.Equal(t, 1, node)
	node, err = nodeOf(nil, "n2")
	require.NoError(t, err)
	assert.Equal(t, -1, node)
	for _, c := range []struct{ args, want string }{
		{"--nodes n[1-", "--nodes"}, {"--nodes n[5-6]", "SLURMD_NODENAME=n2 is not among them"}, {"./heat", "goulfm daemon -- PROGRAM"}, {"--what", "no such flag"},
	} {
		_, err = nodeOf(strings.Fields(c.args), "n2")
		assert.ErrorContains(t, err, c.want)
	}
}

// TestOneRequestToEnd: two signals of one request to end cancel the context of Main, and do not end
// the process. A signal that comes later ends the process.
func TestOneRequestToEnd(t *testing.T) {
	for {
		cmd := limited(t, prog, "linger")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		lines := bufio.NewScanner(out)
		require.NoError(t, cmd.Start())
		require.True(t, lines.Scan())
		begun := time.Now()
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.True(t, lines.Scan())
		assert.Equal(t, "asked", lines.Text())
		_ = cmd.Process.Signal(syscall.SIGTERM)
		in.Close()
		goesOn := lines.Scan()
		if !goesOn && time.Since(begun) > time.Second { // on a busy machine the second signal may have come too late for one request
			_ = cmd.Wait()
			continue
		}
		require.True(t, goesOn, "it has ended")
		assert.Equal(t, "last words", lines.Text())
		assert.NoError(t, cmd.Wait())
		return
	}
}

// TestADaemonIsAskedToEnd: SIGTERM to all daemons, as an engine sends it to all tasks of a step,
// reaches their ranks, which end in order.
func TestADaemonIsAskedToEnd(t *testing.T) {
	cmd, lines, errs := start(t, "run", "--host", "2", prog, "cancel")
	counts := map[string]int{}
	for lines.Scan() {
		if counts[lines.Text()]++; lines.Text() == "ready" && counts["ready"] == 2 {
			asked := 0
			paths, _ := filepath.Glob("/proc/[0-9]*/stat")
			for _, path := range paths {
				var pid, parent int
				var state string
				text, _ := os.ReadFile(path)
				_, after, _ := strings.Cut(string(text), "(goulfm) ")
				if _, err := fmt.Sscan(after, &state, &parent); err != nil || parent != cmd.Process.Pid {
					continue
				}
				_, _ = fmt.Sscan(string(text), &pid)
				require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
				asked++
			}
			require.Equal(t, 2, asked)
		}
	}
	assert.NoError(t, cmd.Wait(), errs)
	assert.Equal(t, 2, counts["cancelled"], errs)
}
