package parallel

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFlags: the launcher gets the number of ranks and the nodes. Without a number the nodes
// determine it.
func TestFlags(t *testing.T) {
	const variables = " -x GRIDRPC_ARGUMENT -x GRIDRPC_RESULT -x GRIDRPC_VERSIONS"
	for want, j := range map[string]Job{
		"-n " + strconv.Itoa(runtime.NumCPU()) + variables: {},
		"-n 4" + variables + " --restart 2":                {Ranks: 4, Flags: []string{"--restart", "2"}},
		"--host a:2,b:3" + variables:                       {Hosts: "a:2,b:3"},
		"-n 5 --host 3 --ppn 2" + variables:                {Hosts: "3", PerNode: 2, Ranks: 5},
	} {
		assert.Equal(t, want, strings.Join(j.flags(), " "))
	}
}

// TestLines: bytes in any pieces are passed on by lines, and a line that is too long is cut.
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
