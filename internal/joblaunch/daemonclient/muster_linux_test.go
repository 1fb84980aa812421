package daemonclient

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
			n := &node{kernel: kernel, cores: c.cores[i]}
			n.state.Store(int32(isThere))
			m.f.nodes = append(m.f.nodes, n)
		}
		assert.Equal(t, c.want, m.crowd(), c.name)
	}
}
