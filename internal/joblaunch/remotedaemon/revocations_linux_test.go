package remotedaemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRevocationsOfTheDead: what a process has revoked is told once, in order, and not mixed up
// with that of others; of a process that revokes without end the last ones are.
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
