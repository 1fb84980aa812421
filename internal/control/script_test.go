package control

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden output in testdata")

// TestScripts replays testdata/*.txt. Lines that start with "> " are commands,
// those with "#" remarks; all others are what the commands print.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(want))
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("output differs; with -update it becomes:\n%s", got)
			}
		})
	}
}

func replay(t *testing.T, script string) []byte {
	var out bytes.Buffer
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
	return out.Bytes()
}
