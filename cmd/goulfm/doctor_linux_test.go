package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writeProgram writes a shell script into a folder.
func writeProgram(t *testing.T, dir, name, script string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}

// site holds the lines of scontrol show config that the doctor reads.
const site = "Configuration data as of 2026-11-25T10:00:00\nKillOnBadExit           = 1\nKillWait                = 30 sec\nSlurmdTimeout           = 300 sec\n" +
	"JobRequeue              = 1\nMpiDefault              = none\nWaitTime                = 0 sec\n"

// TestDoctor: each finding is a line with its remedy, and the exit code is that of the worst
// finding.
func TestDoctor(t *testing.T) {
	for name, c := range map[string]struct {
		scontrol, munge, env, args string
		code                       int
		want                       []string
		not                        string
	}{
		"a machine": {"", "", "", "", 0, []string{"ok       engine: a world of one", "ok       memory between ranks: memfd", "ok       waits: futex_waitv", "cores: "}, "Slurm"},
		"a site that ends steps": {"echo '" + site + "'", "exit 0", "", "", 1, []string{"warning  Slurm: the site has srun end all tasks with the first that fails: srun --kill-on-bad-exit=0",
			"ok       munge: a credential was encoded and decoded", "SlurmdTimeout=300 sec", "sbatch has --no-requeue"}, ""},
		"what is overruled":       {"echo '" + site + "'", "exit 0", "SLURM_KILL_BAD_EXIT=0", "", 0, nil, "warning"},
		"a shell that ends steps": {"echo '" + site + "'", "exit 0", "SLURM_KILL_BAD_EXIT=1 SLURM_WAIT=9", "", 1, []string{"SLURM_KILL_BAD_EXIT=1 has srun end", "SLURM_WAIT=9 has srun end"}, "the site has"},
		"slurmctld is down":       {"echo no controller >&2; exit 1", "exit 0", "", "", 3, []string{"error    Slurm: scontrol show config: no controller: is slurmctld up?"}, ""},
		"munge is down":           {"echo '" + site + "'", "echo 'munge: Error: Failed to access' >&2; exit 6", "", "", 3, []string{"error    munge: munge: Error: Failed to access: Slurm knows users by munge: is munged running"}, ""},
		"an allocation":           {"", "", "SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n[1-3]", "", 1, []string{"ok       allocation: goulfm run takes n[1-3]", "warning  Slurm: scontrol is not in PATH"}, ""},
		"hydra":                   {"", "", "PMI_PORT=h:1 PMI_ID=2", "", 1, []string{"warning  engine: survivors: ", "mpiexec -n 1 goulfm run"}, ""},
		"a stale task":            {"", "", "PMI_RANK=1 PMI_SIZE=4", "", 3, []string{"error    engine: ", "GOULFM_ALONE=1"}, ""},
		"too few files":           {"", "", "", "-n 4000000", 3, []string{"error    open files: 4000000 ranks need 20000064"}, ""},
		"wrong host":              {"", "", "", "--rsh /bin/false --host a,b", 3, []string{"error    host a: exit status 1", "error    host b: exit status 1"}, ""},
		"another version":         {"", "", "", "--rsh echo --host a", 3, []string{"error    host a: has a ", "install the same one there"}, ""},
		"usage":                   {"", "", "", "-n 0", 2, nil, "ok"},
		"a program":               {"", "", "", "./heat", 2, nil, "ok"},
	} {
		dir := t.TempDir()
		if c.scontrol != "" {
			writeProgram(t, dir, "scontrol", c.scontrol)
			writeProgram(t, dir, "munge", c.munge)
			writeProgram(t, dir, "unmunge", "exit 0")
		}
		cmd := limited(t, goulfm, append([]string{"doctor"}, strings.Fields(c.args)...)...)
		cmd.Env = append([]string{"PATH=" + dir + ":/usr/bin:/bin"}, strings.Fields(c.env)...)
		out, _ := cmd.Output()
		assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%s\n%s", name, out)
		for _, w := range c.want {
			assert.Contains(t, string(out), w, name)
		}
		if c.not != "" {
			assert.NotContains(t, string(out), c.not, name)
		}
	}
}

// TestDoctorOfHosts: a reachable host with this version is well.
func TestDoctorOfHosts(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir, "rsh", `echo "$1" >>`+dir+`/told; shift; exec sh -c "$*"`)
	got := goulfmCommand(t, "", "doctor", "--rsh", filepath.Join(dir, "rsh"), "--host", "someone@a,b:3")
	assert.Zero(t, got.code, got.out)
	assert.Contains(t, got.out, "ok       host a: is reached without a question, and has this build of goulfm\nok       host b: ")
	assert.Contains(t, got.out, "ok       connections: each host reaches this machine and every other host by TCP\n")
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"someone@a", "b", "someone@a", "b"}, strings.Fields(string(told)))
	got = goulfmCommand(t, "", "doctor", "--rsh", filepath.Join(dir, "rsh"), "--host", "a", "--daemon-path", "/no/goulfm")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.out, "error    host a: ")
	assert.Contains(t, got.out, "install goulfm there at the same path")
}

// TestDoctorOfPairs: if other hosts cannot dial a host, for example because of a firewall, the
// finding names the host and its address. Here the peers on some hosts report an address at which
// no process listens, and lone has no network.
func TestDoctorOfPairs(t *testing.T) {
	dir := t.TempDir()
	rsh := filepath.Join(dir, "rsh")
	writeProgram(t, dir, "rsh", `host=$1; shift
case "$host $*" in
shut*--peer*) sh -c "$*" | sed -u 's/^at \(.*\):.*/at \1:1/';;
*) exec sh -c "$*";;
esac`)
	got := goulfmCommand(t, "", "doctor", "--rsh", rsh, "--host", "a,shut")
	assert.Equal(t, 1, got.code, got.out)
	assert.Regexp(t, `(?m)^warning  connections: host a does not reach host shut at \S+:1: connect: connection refused; shut reaches a, which suffices: a firewall\?`, got.out)
	assert.NotContains(t, got.out, "host shut does not reach")

	got = goulfmCommand(t, "", "doctor", "--rsh", rsh, "--host", "shut,shut2")
	assert.Equal(t, 3, got.code, got.out)
	assert.Regexp(t, `(?m)^error    connections: host shut does not reach host shut2 at \S+:1: connect: connection refused: a firewall\?`, got.out)
	assert.Regexp(t, `(?m)^error    connections: host shut2 does not reach host shut at `, got.out)

	if err := limited(t, "unshare", "--user", "--map-root-user", "--net", "true").Run(); err != nil {
		t.Skip("no network namespace can be made here:", err)
	}
	writeProgram(t, dir, "rsh", `shift; case "$*" in *--peer*) exec unshare --user --map-root-user --net sh -c "$*";; *) exec sh -c "$*";; esac`)
	got = goulfmCommand(t, "", "doctor", "--rsh", rsh, "--host", "lone")
	assert.Equal(t, 3, got.code, got.out)
	assert.Regexp(t, `(?m)^error    connections: host lone does not reach this machine: .*unreachable.*: a firewall, or another network\?`, got.out)
}

// TestReport: the worst finding determines the exit code.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	assert.Equal(t, 0, report(&out, []finding{well("a", "b")}))
	assert.Equal(t, 1, report(&out, []finding{{isSlow, "a", "b", "c"}, well("a", "b")}))
	assert.Equal(t, 3, report(&out, []finding{{isSlow, "a", "b", "c"}, {isMissing, "d", "e", ""}}))
	assert.Equal(t, "ok       a: b\nwarning  a: b: c\nok       a: b\nwarning  a: b: c\nerror    d: e\n", out.String())
}
