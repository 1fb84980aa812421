package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDeskTakesTheLatestAttemptOnce is S1: an older attempt is refused, also after its end, and the
// same attempt does not run twice.
func TestDeskTakesTheLatestAttemptOnce(t *testing.T) {
	d := Desk{Incarnation: 7, Places: 2}
	id := CallID{1}
	assert.Equal(t, NotMe, d.Submit(id, 1, 6, false))
	assert.Equal(t, Run, d.Submit(id, 2, 7, false))
	assert.Equal(t, Rejoin, d.Submit(id, 2, 7, false))
	assert.Equal(t, TooOld, d.Submit(id, 1, 7, false))
	assert.Equal(t, Run, d.Submit(id, 3, 7, false), "a later attempt of a call that hangs here")
	assert.Equal(t, TooMany, d.Submit(CallID{2}, 1, 7, false))
	d.Leave()
	d.Leave()
	assert.Equal(t, TooOld, d.Submit(id, 2, 7, false))
	d.Forget(id)
	assert.Equal(t, Forgotten, d.Submit(id, 3, 7, true), "it may have run")
	assert.Equal(t, Run, d.Submit(id, 1, 7, false))
}

// TestDeskWithdraws: an argument that did not arrive leaves no trace.
func TestDeskWithdraws(t *testing.T) {
	d := Desk{Places: 1}
	assert.Equal(t, Run, d.Submit(CallID{1}, 1, 0, false))
	assert.Equal(t, TooMany, d.Submit(CallID{2}, 1, 0, false))
	d.Withdraw(CallID{1})
	assert.Equal(t, 1, d.Free())
	assert.Equal(t, Run, d.Submit(CallID{1}, 1, 0, false))
}

// TestDeskAdopts: clients can attach to a call that an earlier incarnation completed, and it does
// not run again.
func TestDeskAdopts(t *testing.T) {
	d := Desk{Places: 1}
	d.Adopt(CallID{1}, 3)
	d.Adopt(CallID{1}, 2)
	assert.Equal(t, 1, d.Free())
	assert.Equal(t, Rejoin, d.Submit(CallID{1}, 3, 0, true))
	assert.Equal(t, TooOld, d.Submit(CallID{1}, 2, 0, true))
}

// TestDeskDrains: new calls are refused, and clients can attach to present ones.
func TestDeskDrains(t *testing.T) {
	d := Desk{Places: 3}
	assert.Equal(t, Run, d.Submit(CallID{1}, 1, 0, false))
	d.Drain()
	assert.Equal(t, Rejoin, d.Submit(CallID{1}, 1, 0, false))
	assert.Equal(t, Draining, d.Submit(CallID{2}, 1, 0, false))
}
