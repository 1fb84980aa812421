package match

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPartEndsReceivesFromOneSource: in a collective context a death ends every receive, a
// departure those that name the source.
func TestPartEndsReceivesFromOneSource(t *testing.T) {
	for name, left := range map[string]bool{"death": false, "departure": true} {
		t.Run(name, func(t *testing.T) {
			m := New()
			m.Open(1, 3, true)
			var posted [2]Recv
			for i := range posted {
				posted[i].Ctx, posted[i].Src, posted[i].Tag = 1, i+1, 0
				assert.Nil(t, m.Post(&posted[i]))
			}
			var ended []int
			note := func(r *Recv) { ended = append(ended, r.Src) }
			if left {
				m.Part(1, 2, note)
				assert.Equal(t, []int{2}, ended)
				assert.Same(t, &posted[0], m.Arrive(1, 1, 0))
				return
			}
			m.Fail(1, 2, note, nil, nil)
			assert.Equal(t, []int{1, 2}, ended)
		})
	}
}
