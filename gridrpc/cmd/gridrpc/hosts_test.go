package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

func TestParseHosts(t *testing.T) {
	for text, want := range map[string]hosts{
		"":      {},
		"3":     {plays: 3},
		"a,b,c": {names: []string{"a", "b", "c"}, rsh: []string{"ssh", "-T"}},
	} {
		h, err := parseHosts(text, "ssh -T")
		require.NoError(t, err, text)
		assert.Equal(t, want, h, text)
	}
	for _, bad := range []string{"0", "-1", "a,,b", "-oProxyCommand=x", ","} {
		_, err := parseHosts(bad, "ssh")
		assert.Error(t, err, bad)
	}
	_, err := parseHosts("a", " ")
	assert.Error(t, err)
}

// TestQuote: words come to a program of another machine as they are, whatever is in them.
func TestQuote(t *testing.T) {
	_, args := remote{host: "b", rsh: []string{"ssh", "-T"}}.command([]string{"A=it's $HOME"}, "/bin/x", []string{"", "a b"})
	assert.Equal(t, []string{"-T", "b", `exec env 'A=it'\''s $HOME' '/bin/x' '' 'a b'`}, args)
	program, args := remote{}.command([]string{"A=1"}, "/bin/x", []string{"y"})
	assert.Equal(t, "/bin/x", program)
	assert.Equal(t, []string{"y"}, args)
}

// TestServersOnOtherMachines: servers are started by a remote shell on two machines, and listen at their addresses: here two of
// the addresses that are all this machine's. One of them is killed under a call, which goes on at the other.
func TestServersOnOtherMachines(t *testing.T) {
	rsh := filepath.Join(t.TempDir(), "rsh")
	require.NoError(t, os.WriteFile(rsh, []byte("#!/bin/sh\nshift\nexec sh -c \"$*\"\n"), 0o700))
	p := startTrial(t, "--tree", "1x2", "--hosts", "127.0.0.2,127.0.0.3", "--rsh", rsh, "--no-restart")
	c := p.dial()
	awaitOffers(t, c, "count", 2)
	var lost []string
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Checkpointed && len(lost) == 0:
			lost = append(lost, e.Server)
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](c, "count").Call(t.Context(), &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
	require.Len(t, lost, 1)
	assert.NotEqual(t, lost[0], out.Server)
	assert.Contains(t, p.told(), " at 127.0.0.2\n")
	assert.Contains(t, p.told(), " at 127.0.0.3\n")
}
