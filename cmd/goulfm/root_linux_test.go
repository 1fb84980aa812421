package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRunBelowAnEmptyRoot starts ranks where neither /dev/null nor /proc nor /tmp exists, as in a
// container without a base image. The job leaves no file there.
func TestRunBelowAnEmptyRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("chroot requires root")
	}
	if os.Getenv("CGO_ENABLED") != "0" {
		t.Skip("the programs must be static: set CGO_ENABLED=0, as the Makefile does")
	}
	root := t.TempDir()
	for _, file := range []string{goulfm, prog} {
		program, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, filepath.Base(file)), program, 0o700))
	}
	cmd := limited(t, goulfm, "run", "-n", "4", "/"+filepath.Base(prog), "ring")
	cmd.Path, cmd.Dir, cmd.SysProcAttr = "/"+filepath.Base(goulfm), "/", &syscall.SysProcAttr{Chroot: root}
	text, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip("chroot is forbidden here")
	}
	require.NoError(t, err, "%s", text)
	left, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Len(t, left, 2, "%v", left)
}
