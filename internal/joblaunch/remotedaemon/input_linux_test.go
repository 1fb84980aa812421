package remotedaemon

import (
	"bufio"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// TestInputThatComesBeforeGo is kept for the process, which is started later.
func TestInputThatComesBeforeGo(t *testing.T) {
	o := newNodeDaemon()
	start := daemonproto.Start{Proc: 3, Stdin: true}
	o.start(start)
	o.input(daemonproto.Input{Proc: 3, Data: []byte("a line\n"), End: true})

	in, err := o.stdinOf(start)
	require.NoError(t, err)
	defer in.Close()
	line, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "a line\n", line)
}
