package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests use two builds of goulfm: the build of all other tests, and one that differs only in
// buildid.Build.

// otherBuild compiles a program with another value of buildid.Build.
func otherBuild(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs("../../internal/base/buildid/build.go")
	require.NoError(t, err)
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	changed := bytes.Replace(text, fmt.Appendf(nil, "0x%08x", buildid.Build), fmt.Appendf(nil, "0x%08x", buildid.Build^1), 1)
	require.NotEqual(t, text, changed)
	file := filepath.Join(builds, "otherbuild.go")
	require.NoError(t, os.WriteFile(file, changed, 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: file}})
	require.NoError(t, err)
	list := filepath.Join(builds, "otherbuild.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o600))
	return build(t, pkg, append([]string{"-overlay", list}, flags...)...)
}

// script writes a shell script and returns its file.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700))
	return file
}

// byRank returns a script that executes other as the rank of that number, and ours as every other
// rank.
func byRank(t *testing.T, rank int, ours, other string) string {
	return script(t, fmt.Sprintf("case $GOULFM_BOOT in *'\"rank\":%d,'*) exec %s \"$@\";; *) exec %s \"$@\";; esac\n", rank, other, ours))
}

const install = "has another build of goulfm: install the same one on all nodes"

// TestOtherBuildOfADaemon: a launcher and a daemon of different builds refuse each other, in both
// assignments of the two builds, with and without the stamps of the version control system.
func TestOtherBuildOfADaemon(t *testing.T) {
	longtest.Skip(t, "compiles goulfm or programs with another digest of the sources")
	for _, stamps := range []string{"-buildvcs=auto", "-buildvcs=false"} {
		ours, other := build(t, ".", stamps), otherBuild(t, ".", stamps)
		for _, c := range []struct{ launcher, daemon string }{{ours, other}, {other, ours}} {
			once := filepath.Join(t.TempDir(), "once")
			second := script(t, fmt.Sprintf("mkdir %s 2>/dev/null && exec %s \"$@\"\nexec %s \"$@\"\n", once, c.launcher, c.daemon))
			for _, path := range []string{c.daemon, second} {
				cmd := limited(t, c.launcher, "run", "--host", "2", "--daemon-path", path, "-n", "2", prog, "ring")
				text, err := cmd.CombinedOutput()
				require.Error(t, err)
				assert.Equal(t, 3, cmd.ProcessState.ExitCode(), "%s", text)
				assert.Regexp(t, `^goulfm run: node \d \(local\d\): .*node \d `+install+`\n$`, string(text))
			}
		}
	}
}

// TestOtherBuildOfARank: a rank of another build, started by a shell script, fails in Init with
// code 3: on one node and on several.
func TestOtherBuildOfARank(t *testing.T) {
	longtest.Skip(t, "compiles goulfm or programs with another digest of the sources")
	for _, stamps := range []string{"-buildvcs=auto", "-buildvcs=false"} {
		ours, other := build(t, "./testdata/prog", stamps), otherBuild(t, "./testdata/prog", stamps)
		for _, args := range []string{"-n 3", "--host 2 --ppn 2 -n 4", "--host 3 --ppn 1 -n 3", "--host 2 --ppn 2 -n 3 --spares 1"} {
			got := goulfmCommand(t, "", append(append([]string{"run"}, strings.Fields(args)...), byRank(t, 1, ours, other), "ring")...)
			assert.Equal(t, 3, got.code, args)
			assert.Contains(t, got.err, "goulfm: init: rank 1 "+install+"\n", args)
			assert.Empty(t, got.out, args)
		}
	}
}

// TestOtherBuildThatIsSpawned: Spawn returns an error at all members, and the members continue.
func TestOtherBuildThatIsSpawned(t *testing.T) {
	longtest.Skip(t, "compiles goulfm or programs with another digest of the sources")
	other := otherBuild(t, "./testdata/prog")
	for _, args := range []string{"-n 2", "--host 2 --ppn 1 --universe 8 -n 2"} {
		got := goulfmCommand(t, "", append(append([]string{"run"}, strings.Fields(args)...), prog, "spawn-program", other)...)
		assert.Zero(t, got.code, got.err)
		assert.Contains(t, got.err, "goulfm: init: rank 0 "+install+"\n", args)
		assert.Regexp(t, `^spawn on world: .*rank 2 ended before it was in Init.*\n$`, got.out, args)
	}
}

// TestOtherProgramOfTheSameBuild: build tags do not change the build number, so the program joins.
func TestOtherProgramOfTheSameBuild(t *testing.T) {
	longtest.Skip(t, "compiles a program with other tags")
	tagged := build(t, "./testdata/prog", "-tags", "failpoints,pausepoints,invariants")
	got := goulfmCommand(t, "", "run", "-q", "-n", "2", prog, "spawn-program", tagged, "size")
	assert.ElementsMatch(t, []string{"size", "1", "<nil>"}, strings.Fields(got.out), got.err)
	assert.Zero(t, got.code)
	got = goulfmCommand(t, "", "run", "-n", "3", byRank(t, 1, prog, tagged), "ring")
	assert.Equal(t, result{0, "sum 3\n", ""}, got)
}

// TestOtherBuildUnderAnEngine: all ranks end with code 3, and a rank of each build prints the
// reason, in either order of start.
func TestOtherBuildUnderAnEngine(t *testing.T) {
	longtest.Skip(t, "compiles goulfm or programs with another digest of the sources")
	other := otherBuild(t, "./testdata/prog")
	for first := range 2 {
		ranks := make([]*exec.Cmd, 2)
		texts := make([]bytes.Buffer, 2)
		for rank := range 2 {
			ranks[rank] = limited(t, []string{prog, other}[(first+rank)%2], "ring")
			ranks[rank].Env = []string{"SLURM_CLUSTER_NAME=" + t.Name() + fmt.Sprint(os.Getpid(), first), "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2",
				fmt.Sprintf("SLURM_PROCID=%d", rank), fmt.Sprintf("SLURM_LOCALID=%d", rank), "SLURM_NODEID=0", "SLURM_STEP_NUM_NODES=1", "SLURM_GTIDS=0,1"}
			ranks[rank].Stderr = &texts[rank]
			require.NoError(t, ranks[rank].Start())
		}
		for rank, cmd := range ranks {
			assert.Error(t, cmd.Wait())
			assert.Equal(t, 3, cmd.ProcessState.ExitCode())
			assert.Regexp(t, `^goulfm: init: the world did not start: rank [01] `+install+`\n$`, texts[rank].String())
		}
	}
}

// TestOtherBuildUnderAnEngineOnNodes: if the daemon of one node has another build than the
// coordinator, the start of all fails.
func TestOtherBuildUnderAnEngineOnNodes(t *testing.T) {
	longtest.Skip(t, "compiles goulfm or programs with another digest of the sources")
	other := otherBuild(t, "./testdata/prog")
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("sixteen bytes, at least"), 0o600))
	for i, builds := range [][]string{{prog, prog, other, other}, {other, other, prog, prog}, {prog, other, prog, prog}, {prog, prog, prog, other}} {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		place := free.Addr().String()
		require.NoError(t, free.Close())
		ranks := make([]*exec.Cmd, 4)
		texts := make([]bytes.Buffer, 4)
		for rank, program := range builds {
			node := rank / 2
			ranks[rank] = limited(t, program, "ring")
			ranks[rank].Env = []string{"SLURM_CLUSTER_NAME=" + t.Name() + fmt.Sprint(os.Getpid(), i), "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4",
				fmt.Sprintf("SLURM_PROCID=%d", rank), fmt.Sprintf("SLURM_LOCALID=%d", rank%2), fmt.Sprintf("SLURM_NODEID=%d", node), "SLURM_STEP_NUM_NODES=2", fmt.Sprintf("SLURM_GTIDS=%d,%d", 2*node, 2*node+1),
				"GOULFM_SECRET_FILE=" + secret, "GOULFM_RENDEZVOUS=" + place}
			ranks[rank].Stderr = &texts[rank]
			require.NoError(t, ranks[rank].Start())
		}
		all := ""
		for rank, cmd := range ranks {
			assert.Error(t, cmd.Wait())
			assert.Equal(t, 3, cmd.ProcessState.ExitCode(), "%v: %s", builds, &texts[rank])
			all += texts[rank].String()
		}
		assert.Regexp(t, `rank [0-3] `+install, all)
		assert.NotContains(t, all, "after")
	}
}
