package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestNew: a program that goulfm new writes builds outside of this repository, passes its own test,
// and has the same result if a rank is killed.
func TestNew(t *testing.T) {
	longtest.Skip(t, "compiles a module of its own")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	for _, c := range []struct {
		flag, kill, result string
	}{{"-bag=false", "2@step=50", "result: heat="}, {"-bag=true", "2@task=502", "result: tasks=1000 sum="}} {
		dir := t.TempDir()
		in := func(dir, name string, args ...string) (out, errs string) {
			cmd := limited(t, name, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
			var o, e strings.Builder
			cmd.Stdout, cmd.Stderr = &o, &e
			require.NoError(t, cmd.Run(), "%s%s", &o, &e)
			return o.String(), e.String()
		}
		in(dir, goulfm, "new", c.flag, "-replace", root, "fresh")
		dir = filepath.Join(dir, "fresh")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
		in(dir, "go", "vet", ".")
		in(dir, "go", "test", ".")
		want, _ := in(dir, goulfm, "run", "-n", "4", ".")
		got, told := in(dir, goulfm, "run", "-n", "4", "--kill", c.kill, ".")
		assert.True(t, strings.HasPrefix(want, c.result), want)
		assert.Equal(t, strings.Split(want, "\n")[0], strings.Split(got, "\n")[0])
		assert.Contains(t, told, "rank 2 is served by process 4")
	}
	err = exec.Command(goulfm, "new", "a/b").Run()
	assert.Error(t, err)
}
