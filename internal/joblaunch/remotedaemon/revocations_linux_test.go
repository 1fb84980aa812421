package remotedaemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRevocationsOfTheDead: the revocations by a process are returned once, in order, and not mixed
// up with those of others; for a process that revokes without end, the last ones are returned.
func TestRevocationsOfTheDead(t *testing.T) {
	var r revocations
	r.add(3, revocation{1})
	r.add(4, revocation{2})
	r.add(3, revocation{3})
	r.add(3, revocation{1})
	assert.Equal(t, []revocation{{1}, {3}}, r.take(3))
	assert.Empty(t, r.take(3))
	assert.Equal(t, []revocation{{2}}, r.take(4))

	for i := range revocationsMax + 2 {
		r.add(0, revocation{byte(i), byte(i >> 8)})
	}
	all := r.take(0)
	assert.Len(t, all, revocationsMax)
	assert.Equal(t, revocation{2}, all[0])
}
