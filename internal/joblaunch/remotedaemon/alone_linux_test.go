package remotedaemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogBeforeEndOfLauncher: on a busy machine another coordinator is chosen before the daemon
// reads the end of the launcher's connection. The launcher never read that line; the node's file
// has it, with the last lines before it.
func TestLogBeforeEndOfLauncher(t *testing.T) {
	s := newSolo()
	s.dir = t.TempDir()
	for line := range maxKept + 3 {
		assert.False(t, s.tell(0, fmt.Sprintf("line %d", line)), "the launcher reports it")
	}
	s.begin(0)
	assert.True(t, s.tell(0, "alone"))
	text, err := os.ReadFile(filepath.Join(s.dir, "node.0.log"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, maxKept+1)
	assert.Regexp(t, `^\d{4}-\S+ goulfm: node 0: line 3$`, lines[0])
	assert.Regexp(t, fmt.Sprintf("node 0: line %d$", maxKept+2), lines[maxKept-1])
	assert.Regexp(t, "node 0: alone$", lines[maxKept])
}
