package redundancy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestCover: the parts of a larger world are at the processes of a smaller one, and with the
// copies that Cover plans any one node may be lost.
func TestCover(t *testing.T) {
	const parts = 5
	for n := 2; n <= 4; n++ {
		for nodes := range placements(n) {
			m := Partners(nodes, 1)
			have := NewHoldings(n)
			for o := range parts {
				have.Data[o%n].Add(o)
			}
			server := Servers(have, parts)
			steps := Cover(m, have, server)
			for _, s := range steps {
				require.True(t, have.Data[s.(Send).From].Has(s.(Send).Owner))
			}
			Apply(have, steps)
			assert.Empty(t, Cover(m, have, server), "nothing is copied twice")
			for lost := range n {
				if !m.Weak().IsEmpty() {
					continue
				}
				var left rankset.Set
				for q := range n {
					if nodes[q] != nodes[lost] {
						left.Union(have.Data[q])
					}
				}
				assert.Equal(t, parts, left.Len(), "nodes %v, that of %d lost", nodes, lost)
			}
		}
	}
}
