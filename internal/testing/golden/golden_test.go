package golden

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestIndented: commands run in order, old output goes, comments and blank lines stay.
func TestIndented(t *testing.T) {
	script := "# a comment\n\nfirst\n  old\n\told\nsecond\n"
	n := 0
	got := Indented(script, func(line string, out io.Writer) {
		n++
		fmt.Fprintf(out, "  %d %s\n", n, line)
	})
	assert.Equal(t, "# a comment\n\nfirst\n  1 first\nsecond\n  2 second\n", got)
}

// TestBlocks: the output of all commands of a block is below its line.
func TestBlocks(t *testing.T) {
	script := "# a comment\nfirst\nsecond\n----\nold\n\nthird\n----\n"
	got := Blocks(script, func(line string) string { return strings.ToUpper(line) + "\n" })
	assert.Equal(t, "# a comment\nfirst\nsecond\n----\nFIRST\nSECOND\n\nthird\n----\nTHIRD\n", got)
}

// TestFirstDifference: each way to differ is seen, also at the end.
func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		got, want string
		line      int
		text      string
	}{
		{"a\nb\n", "a\nb\n", 0, ""},
		{"a\nx\ny\n", "a\nb\ny\n", 2, "x\ny\n"},
		{"a\n", "a\nb\n", 2, ""},
		{"a\nb\n", "a\n", 2, "b\n"},
		{"a", "a\n", 2, ""},
		{"1\n2\n3\n4\n5\n6\n7", "", 1, "1\n2\n3\n4\n5"},
	} {
		line, text := firstDifference(c.got, c.want)
		assert.Equal(t, c.line, line, "%q for %q", c.got, c.want)
		assert.Equal(t, c.text, text, "%q for %q", c.got, c.want)
	}
}
