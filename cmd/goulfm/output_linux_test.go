package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOutputIsUnchanged: a line above a mebibyte is not cut, and output without a final newline
// gets none, on one node and on several, on standard output and in files.
func TestOutputIsUnchanged(t *testing.T) {
	const length = 3 << 20
	script := fmt.Sprintf(`head -c %d /dev/zero | tr "\0" x; echo; printf end`, length)
	want := strings.Repeat("x", length) + "\nend"
	dir := t.TempDir()
	for _, flags := range []string{"-n 1", "--host 1", "-n 1 --output-dir " + filepath.Join(dir, "one"), "--host 2 --survive-launcher --output-dir " + filepath.Join(dir, "two")} {
		got := goulfmCommand(t, "", append(append([]string{"run", "-q"}, strings.Fields(flags)...), "sh", "-c", script)...)
		require.Zero(t, got.code, got.err)
		text := got.out
		if at := strings.LastIndexByte(flags, ' '); strings.Contains(flags, "--output-dir") {
			file, err := os.ReadFile(filepath.Join(flags[at+1:], "rank.0.out"))
			require.NoError(t, err)
			text = string(file)
		}
		assert.True(t, text == want, "%s: %d bytes, want %d", flags, len(text), len(want))
	}
}
