package golden

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPlay: commands run in order and their output is indented. Old output is dropped; comments and
// blank lines stay.
func TestPlay(t *testing.T) {
	script := "# a comment\n\nfirst\n  old\n\told\nsecond 2  x\n"
	n := 0
	got := play(script, func(c Command, out io.Writer) {
		n++
		fmt.Fprintf(out, "%d %s\n%s\n%q\n", n, c.Line, c.Rest, c.Words)
	})
	assert.Equal(t, "# a comment\n\nfirst\n  1 first\n  [\"first\"]\nsecond 2  x\n  2 second 2  x\n  2  x\n  [\"second\" \"2\" \"x\"]\n", got)
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
