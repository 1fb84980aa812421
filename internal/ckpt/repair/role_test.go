package repair

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestStock: members that a repair does not roll back hold the data of one rank in a world of one
// size, from a version on that this process has restored or made.
func TestStock(t *testing.T) {
	third := Run{Size: 4, Rank: 2}
	v := func(epoch, number uint64) Label { return Label{Epoch: epoch, Number: number} }
	var s Stock
	assert.False(t, s.Fits(third, Label{}), "nothing was restored yet")
	s.Took(third, Label{}, false)
	assert.True(t, s.Fits(third, Label{}))
	assert.False(t, s.Fits(third, v(1, 1)), "others have made it")
	s.Made(v(1, 1))
	s.Made(v(1, 2))
	assert.True(t, s.Fits(third, v(1, 1)))
	assert.True(t, s.Fits(third, v(1, 2)))
	assert.False(t, s.Fits(third, v(1, 3)))
	assert.False(t, s.Fits(third, v(2, 1)))
	assert.False(t, s.Fits(Run{Size: 4, Rank: 1}, v(1, 2)))
	assert.False(t, s.Fits(Run{Size: 3, Rank: 2}, v(1, 2)))

	s.Take()
	assert.False(t, s.Fits(third, v(1, 2)), "they are being overwritten")
	s.Took(third, v(1, 2), true)
	s.Made(v(2, 3))
	assert.True(t, s.Fits(third, v(1, 1)), "they stood")
	s.Took(third, v(1, 1), false)
	assert.False(t, s.Fits(third, v(2, 3)), "they were restored")

	for epoch := range uint64(2 * spansMax) {
		s.Made(v(10+epoch, 1))
	}
	assert.Len(t, s.been, spansMax)
	assert.True(t, s.Fits(third, v(10+2*spansMax-1, 1)))
}
