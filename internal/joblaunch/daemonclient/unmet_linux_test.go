package daemonclient

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// TestUnmet: a direction is closed for good only while both ends report that, for the same lane.
func TestUnmet(t *testing.T) {
	var u unmet
	cannot := func(to, lane int) rankproto.Unmet {
		return rankproto.Unmet{Proc: to, Lane: lane, Addr: "a:1", Why: "refused"}
	}
	assert.Empty(t, u.hear(0, cannot(3, 0)))
	assert.Empty(t, u.hear(0, cannot(3, 0)), "said twice")
	assert.Empty(t, u.hear(3, cannot(0, 1)), "another lane")
	assert.Empty(t, u.hear(3, cannot(1, 0)), "another peer")
	assert.Equal(t, []road{{0, 3, 0}, {3, 0, 0}}, u.hear(3, cannot(0, 0)))
	assert.Equal(t, "refused", u.roads[road{0, 3, 0}].Why)
	for node, want := range map[int]int{0: 1, 1: 0, 2: -1} {
		other, ok := u.unreached([]int{0, 0, 2, 1}, node)
		assert.Equal(t, want >= 0, ok)
		assert.Equal(t, max(want, 0), other, "slots 0 and 3 are on nodes 0 and 1")
	}

	assert.Empty(t, u.hear(0, rankproto.Unmet{Proc: 3, Over: true}), "they have met")
	assert.Empty(t, u.hear(3, cannot(0, 0)))
	assert.NotEmpty(t, u.hear(0, cannot(3, 0)))
	u.forget(3)
	assert.Empty(t, u.roads, "it has ended")
	assert.Empty(t, u.hear(0, cannot(3, 0)), "of the process that has the slot next nothing is known")
}
