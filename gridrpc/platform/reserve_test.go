package platform

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// TestPortsAreKept: peers of a group get the ports of the former platform, but not a port that
// another process has now. An unreadable file counts as no file.
func TestPortsAreKept(t *testing.T) {
	t.Setenv(discovery.EnvListen, "127.0.0.77") // where no other test takes a port
	p := &platform{dir: t.TempDir()}
	first, err := p.reserve(t.Context(), discovery.Council, "ma", 3)
	require.NoError(t, err)
	again, err := p.reserve(t.Context(), discovery.Council, "ma", 5)
	require.NoError(t, err)
	require.Len(t, again, 5)
	assert.Equal(t, first, again[:3])

	l, err := net.Listen("tcp", first[1].Route)
	require.NoError(t, err)
	defer l.Close()
	third, err := p.reserve(t.Context(), discovery.Council, "ma", 3)
	require.NoError(t, err)
	assert.Equal(t, first[0], third[0])
	assert.Equal(t, first[2], third[2])
	assert.Equal(t, first[1].Addr, third[1].Addr)
	assert.NotEqual(t, first[1].Route, third[1].Route)
	seen := map[string]bool{}
	for _, m := range third {
		seen[m.Addr], seen[m.Route] = true, true
	}
	assert.Len(t, seen, 6)

	require.NoError(t, discovery.SavePeers(p.dir, discovery.Council, []discovery.Peer{{Name: "ma1", Addr: "no address"}}))
	_, err = p.reserve(t.Context(), discovery.Council, "ma", 3)
	require.NoError(t, err)
}

// TestReadAddresses: addresses are found among other lines of a shell, and none may be missing.
func TestReadAddresses(t *testing.T) {
	addrs, err := readAddresses("welcome to n1\n10.0.0.1:4001\r\n[fe80::1]:4002\n", 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"10.0.0.1:4001", "[fe80::1]:4002"}, addrs)
	for _, bad := range []string{"", "10.0.0.1:4001\n", "10.0.0.1:4001\n10.0.0.1\n", "1.1.1.1:1\n1.1.1.1:2\n1.1.1.1:3\n"} {
		_, err := readAddresses(bad, 2)
		assert.Error(t, err, bad)
	}
}
