package daemonclient

import (
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWiresOfNamedWays: only members with ways that may be cut reach each other over relays.
func TestWiresOfNamedWays(t *testing.T) {
	w := newWires([]Way{{1, 2}}) // from node 0 to node 1
	defer w.close()
	members := []daemonproto.Member{{Addr: "127.0.0.1:1", Packets: "127.0.0.1:1"}, {Addr: "127.0.0.1:2", Packets: "127.0.0.1:2"}, {Addr: "127.0.0.1:3", Packets: "127.0.0.1:3"}, {Addr: "127.0.0.1:4", Packets: "127.0.0.1:4"}}
	all := daemonproto.Table{Nodes: []int{0, 1, 2}, Addrs: []string{"127.0.0.1:5", "127.0.0.1:6", "127.0.0.1:7"}, Members: members}
	for me, other := range map[int]int{1: 2, 2: 1, 3: -1} {
		own, err := w.table(all, me)
		require.NoError(t, err)
		for member := range members {
			assert.Equal(t, member == other, own.Members[member].Addr != members[member].Addr, "%d reaches %d over a relay", me, member)
			assert.Equal(t, member == other, own.Members[member].Packets != members[member].Packets)
		}
		for slot, node := range all.Nodes {
			assert.Equal(t, node+1 == other, own.Addrs[slot] != all.Addrs[slot], "%d reaches the rank %d over a relay", me, slot)
		}
	}
}
