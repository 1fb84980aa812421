package tidy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSubjectsOfCommits(t *testing.T) {
	script, err := filepath.Abs("../../../scripts/subjects.sh")
	require.NoError(t, err)
	for _, c := range []struct{ subject, fault string }{
		{"fd: avoid copying three sets in isGone", ""},
		{"boot, transport/tcp: send one frame", ""},
		{"Merge branch 'x'", ""},
		{"fixup! fd: what it was", ""},
		{"release 0.1.0", ""},
		{"release soon", "package: imperative"},
		{"# a comment of the editor\n\nera: answer early requesters\n\nWhat the body holds is free.", ""},
		{"fd: " + strings.Repeat("x", 68), ""},
		{"fd: " + strings.Repeat("x", 69), "73 columns"},
		{"answer early requesters", "package: imperative"},
		{"fd: Avoid a copy", "package: imperative"},
		{"fd: avoid a copy.", "full stop"},
		{"fd: wake Whom the lock serves", "name the subject"},
		{"watchpost: who is refused may ask", "name the subject"},
		{"segment: a memfd with a content", `verb instead of "a"`},
		{"segment: added a memfd", `verb instead of "added"`},
		{"segment: adding a memfd", `verb instead of "adding"`},
		{"segment: embed a memfd", ""},
	} {
		t.Run(c.subject, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "message")
			require.NoError(t, os.WriteFile(file, []byte(c.subject+"\n"), 0o666))
			out, err := exec.CommandContext(t.Context(), script, "message", file).CombinedOutput()
			assert.Equal(t, c.fault == "", err == nil, "%s", out)
			assert.Contains(t, string(out), c.fault)
		})
	}
}

// TestSubjectsSinceTheBase runs the script in a temporary repository: without the base, with the
// base, and with a bad subject after the base.
func TestSubjectsSinceTheBase(t *testing.T) {
	script, err := os.ReadFile("../../../scripts/subjects.sh")
	require.NoError(t, err)
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	commit := func(subject string) string {
		out, err := run("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", subject)
		require.NoError(t, err, out)
		out, err = run("git", "rev-parse", "HEAD")
		require.NoError(t, err, out)
		return out
	}
	out, err := run("git", "init", "-q")
	require.NoError(t, err, out)
	for _, sub := range []string{"scripts", ".githooks"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "scripts/subjects.sh"), script, 0o777))
	base := func(hash string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".githooks/base"), []byte(hash), 0o666))
	}

	base(strings.Repeat("1", 40) + "\n")
	commit("who was before the base is not checked")
	out, err = run("scripts/subjects.sh")
	require.NoError(t, err, out)
	require.Contains(t, out, "not checked")

	base(commit("what the base says is not checked"))
	commit("fd: avoid a copy")
	out, err = run("scripts/subjects.sh")
	require.NoError(t, err, out)
	require.Empty(t, out)

	commit("fd: whose copy it is")
	out, err = run("scripts/subjects.sh")
	require.Error(t, err)
	require.Contains(t, out, "whose copy it is")
}
