package control

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts replays testdata/*.txt. Lines that start with "> " are commands,
// those with "#" remarks; all others are what the commands print.
func TestScripts(t *testing.T) { golden.Play(t, golden.Files, replay) }

func replay(t *testing.T, script string) string {
	var out strings.Builder
	var c *cluster
	for _, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		command, isCommand := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			fmt.Fprintln(&out, line)
			if size, isNew := strings.CutPrefix(command, "processes "); isNew {
				var n int
				if _, err := fmt.Sscan(size, &n); err != nil {
					t.Fatal(err)
				}
				c = newCluster(t, n)
				c.log = func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
			} else if err := c.command(command); err != nil {
				fmt.Fprintln(&out, "error:", err)
			}
		case strings.HasPrefix(line, "#"), line == "":
			fmt.Fprintln(&out, line)
		}
	}
	return out.String()
}
