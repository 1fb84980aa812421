package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var goBlock = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// TestReadme: the programs of README.md are those of examples/square, and the client gets the
// server's answer.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var files []string
	for _, name := range []string{"main.go", "client/main.go"} {
		text, err := os.ReadFile(filepath.Join("../../examples/square", name))
		require.NoError(t, err)
		files = append(files, string(text[strings.Index(string(text), "package main\n"):]))
	}
	var blocks []string
	for _, m := range goBlock.FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, m[1])
	}
	assert.Equal(t, files, blocks)
	assert.LessOrEqual(t, strings.Count(string(page), "\n"), 150, "lines of README.md")

	p := newTrial(t)
	p.start([]string{"../../examples/square"}, "--tree", "1x1")
	client := filepath.Join(t.TempDir(), "client")
	built, err := exec.Command("go", "build", "-o", client, "../../examples/square/client").CombinedOutput()
	require.NoError(t, err, string(built))
	out, err := exec.Command(client).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "9\n", string(out))
}
