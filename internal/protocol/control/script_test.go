package control

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt. The command "processes N" starts a cluster; the method command
// of cluster has the others.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, begin) }

// begin returns the player of a new script.
func begin(t *testing.T) golden.Run {
	var c *cluster
	return func(cmd golden.Command, out io.Writer) {
		if cmd.Words[0] == "processes" {
			var n int
			_, err := fmt.Sscan(cmd.Rest, &n)
			require.NoError(t, err)
			c = newCluster(t, n)
			c.log = func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
		} else if err := c.command(cmd.Line); err != nil {
			fmt.Fprintln(out, "error:", err)
		}
	}
}
