package sched

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsLater(t *testing.T) {
	const all = 1 << NumberBits
	assert.True(t, IsLater(1, 0))
	assert.True(t, IsLater(0, all-1), "numbers recur")
	assert.False(t, IsLater(0, 0))
	assert.False(t, IsLater(all-1, 0))
	assert.True(t, IsLater(all/2-1, 0))
	assert.False(t, IsLater(all/2, 0))
}

func TestNumbersOfACommunicator(t *testing.T) {
	var n Numbers
	none := func(int) bool { return false }
	for range 3 {
		n.Next()
	}
	assert.EqualValues(t, 3, n.Last())
	assert.True(t, n.IsOver(Notice|2, none), "an earlier collective")
	assert.False(t, n.IsOver(Notice|2, func(short int) bool { return short == 2 }), "it is under way")
	assert.False(t, n.IsOver(2, none), "data of a collective that has not failed")
	assert.False(t, n.IsOver(Notice|4, none), "a later one")
	assert.False(t, n.IsOver(Notice|3, none), "it may begin yet")
	n.End(3, false)
	assert.True(t, n.IsOver(Notice|3, none))
	n.Next()
	n.End(4, true)
	assert.True(t, n.IsOver(4, none), "data of a failed one")
	for range 1<<NumberBits - 1 {
		n.Next()
	}
	assert.False(t, n.IsOver(4, none), "the number recurs")
	assert.Equal(t, 3, Short(n.Last()))
}
