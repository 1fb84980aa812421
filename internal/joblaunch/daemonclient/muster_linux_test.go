package daemonclient

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// TestCrowd: nodes of one kernel share its cores, others do not; ranks that may come later do not
// count.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		name    string
		of      []int
		ranks   int
		kernels []string
		cores   []int
		want    int
	}{
		{"a core each, on two machines", []int{0, 0, 1, 1, 0, 1}, 4, []string{"a", "b"}, []int{2, 2}, 1},
		{"two nodes of one machine", []int{0, 0, 1, 1}, 4, []string{"a", "a"}, []int{2, 2}, 2},
		{"one machine is smaller", []int{0, 0, 1, 1, 1}, 5, []string{"a", "b"}, []int{8, 2}, 2},
		{"a node that does not know its cores", []int{0, 1}, 2, []string{"a", "b"}, []int{0, 4}, 1},
	} {
		m := &muster{f: &Client{}, cfg: Config{Nodes: c.of, Ranks: c.ranks}}
		for i, kernel := range c.kernels {
			n := &node{machine: machine{kernel: kernel, cores: c.cores[i]}}
			n.state.Store(int32(isThere))
			m.f.nodes = append(m.f.nodes, n)
		}
		assert.Equal(t, c.want, m.crowd(), c.name)
	}
}

// TestNumberRacks: nodes of one rack have one number. Racks of a host file replace the racks that
// daemons report, and a node without a rack, or one that is to come late, has 0.
func TestNumberRacks(t *testing.T) {
	for _, c := range []struct {
		name            string
		given, reported []string
		want            []int
	}{
		{"none", nil, []string{"", "", ""}, nil},
		{"none given", []string{"", ""}, []string{"s1", "s1", ""}, nil},
		{"reported", nil, []string{"s1", "s0", "s1"}, []int{1, 2, 1}},
		{"one reports none", nil, []string{"", "s0", "s0"}, []int{0, 1, 1}},
		{"given", []string{"b", "a", "b"}, []string{"s1", "s1", "s1"}, []int{1, 2, 1}},
		{"given, and a late node", []string{"b", "b"}, []string{"", "", ""}, []int{1, 1, 0}},
	} {
		m := &muster{f: &Client{}, cfg: Config{Racks: c.given}}
		for _, rack := range c.reported {
			m.f.nodes = append(m.f.nodes, &node{machine: machine{rack: rack}})
		}
		assert.Equal(t, c.want, m.numberRacks(), c.name)
	}
}

// TestTableOfRacks: the configuration of each member has the racks of all, and the launcher is a
// rack of its own.
func TestTableOfRacks(t *testing.T) {
	m := &muster{f: &Client{}, racks: []int{1, 1, 2, 2}}
	table := m.table()
	table.Members = make([]daemonproto.Member, 5)
	for me := range 5 {
		c := table.Roster(me)
		assert.NoError(t, c.Check())
		assert.Equal(t, []int{0, 1, 1, 2, 2}, c.Racks)
	}
	table.Racks = nil
	assert.Nil(t, table.Roster(0).Racks)
}
