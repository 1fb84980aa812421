package launch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTooManyNodes: the error names the option, the number of nodes, the limit and a remedy.
func TestTooManyNodes(t *testing.T) {
	s := Spec{Hosts: Hosts{Nodes: make([]Node, 1025)}}
	assert.EqualError(t, s.checkNodes(), "1025 nodes: at most 1024 are possible, because one coordinator renews the leases of all: use fewer nodes with more ranks each (--ppn)")
	s.Hosts.Nodes = s.Hosts.Nodes[:1024]
	err := s.checkNodes()
	assert.NotContains(t, err.Error(), "at most 1024")
}

// TestRacksOfNodes: each node has the rack of its host, and nil stands for a job without racks.
func TestRacksOfNodes(t *testing.T) {
	s := Spec{Hosts: Hosts{Nodes: []Node{{Name: "a", Rack: "r1"}, {Name: "b"}, {Name: "c", Rack: "r2"}}}}
	assert.Equal(t, []string{"r1", "", "r2"}, s.racks())
	s.Hosts.Nodes = []Node{{Name: "a"}, {Name: "b"}}
	assert.Nil(t, s.racks())
}
