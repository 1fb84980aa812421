package eventqueue

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOrder: events come by time and, within one time, in the order of Plan, also if an event plans
// another.
func TestOrder(t *testing.T) {
	var a Agenda[int]
	_, ok := a.Next()
	assert.False(t, ok)
	assert.False(t, a.Due(100))
	var did []string
	note := func(what string) func() { return func() { did = append(did, what) } }
	a.Plan(3, note("c"))
	a.Plan(1, note("a"))
	a.Plan(3, note("d"))
	a.Plan(1, func() {
		did = append(did, "b")
		a.Plan(3, note("e"))
	})
	assert.False(t, a.Due(0))
	assert.True(t, a.Due(1))
	var times []int
	for a.Due(3) {
		at, do := a.Take()
		times = append(times, at)
		do()
	}
	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, did)
	assert.Equal(t, []int{1, 1, 3, 3, 3}, times)
}
