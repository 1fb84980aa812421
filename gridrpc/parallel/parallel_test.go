package parallel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLines: what comes in any pieces is told by lines, and one that is too long is cut.
func TestLines(t *testing.T) {
	var told []string
	l := &lines{tell: func(line string) { told = append(told, line) }}
	for _, part := range []string{"a", "b\nc\n\n", strings.Repeat("x", lineMax+10), "y\nend", "\nrest"} {
		n, err := l.Write([]byte(part))
		assert.NoError(t, err)
		assert.Equal(t, len(part), n)
	}
	assert.Equal(t, []string{"ab", "c", "", strings.Repeat("x", lineMax), "end"}, told)
	assert.Equal(t, "end", l.last)
}
