package ranking

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKeeps: a call is found at its latest attempt, as long as the child that reported it is there.
func TestKeeps(t *testing.T) {
	var k Keeps
	a1 := Kept{Call: [16]byte{1}, Attempt: 1, Server: Server{"a", 1}}
	b2 := Kept{Call: [16]byte{1}, Attempt: 2, Server: Server{"b", 1}}
	b2again := b2
	b2again.Server.Incarnation, b2again.Done = 2, true
	other := Kept{Call: [16]byte{0, 9}, Attempt: 1, Server: Server{"a", 1}}
	_, ok := k.Find(a1.Call)
	assert.False(t, ok)

	k.Report(1, []Kept{a1, other})
	k.Report(2, []Kept{b2})
	got, ok := k.Find(a1.Call)
	assert.True(t, ok)
	assert.Equal(t, b2, got)
	assert.Equal(t, []Kept{other, b2}, k.All())

	k.Report(3, []Kept{b2again}) // a server that was restarted, and joined another agent
	got, _ = k.Find(a1.Call)
	assert.Equal(t, b2again, got)
	version := k.Version
	k.Report(9, nil)
	assert.Equal(t, version, k.Version, "an empty report changes nothing")
	k.Drop(3)
	k.Report(2, nil)
	got, _ = k.Find(a1.Call)
	assert.Equal(t, a1, got)
	assert.Greater(t, k.Version, version)
	k.Drop(1)
	assert.Empty(t, k.All())
}
