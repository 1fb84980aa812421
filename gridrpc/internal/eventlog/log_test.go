package eventlog

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestLog: a log has the lines of all inputs and the numbers of the latest processes.
func TestLog(t *testing.T) {
	l := New()
	var lines []string
	l.Read(strings.NewReader("+0.1s ma is process 7\n+0.2s s1 is process 8 at n1\n+0.3s ma is process 9\nx is process 1 too\n"), func(line string) { lines = append(lines, line) })
	assert.Len(t, lines, 4)
	assert.Equal(t, []int{9, 8, 0}, []int{l.PID("ma"), l.PID("s1"), l.PID("x")})
	assert.ElementsMatch(t, []int{8, 9}, l.PIDs())
	go l.Read(strings.NewReader(Serving+" x\n"), nil)
	assert.True(t, l.Until(time.Minute, func() bool { return strings.Contains(l.String(), Serving) }))
	assert.False(t, l.Until(time.Millisecond, func() bool { return false }))
	l.Reset()
	assert.Empty(t, l.String())
	assert.Equal(t, 9, l.PID("ma"))
}
