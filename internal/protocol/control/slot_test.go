package control

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// lettingGo returns the processes of which a step lets go.
func lettingGo(actions []Action) (procs []int) {
	for _, a := range actions {
		if a, ok := a.(LetGo); ok {
			procs = append(procs, a.Proc)
		}
	}
	return procs
}

func declaring(actions []Action) (procs []int) {
	for _, a := range actions {
		if a, ok := a.(Declared); ok {
			procs = append(procs, a.Proc)
		}
	}
	return procs
}

// TestLetGo: a process lets go of a dead process that is a member of no communicator here, each
// time that another process in the slot dies. It does not let go of a member of a live
// communicator.
func TestLetGo(t *testing.T) {
	c := New(Config{N: 4, World: []int{0, 1}, Slots: true})
	for range 3 {
		actions := c.Step(Exited{Proc: 3})
		assert.Equal(t, []int{3}, declaring(actions))
		assert.Equal(t, []int{3}, lettingGo(actions))
		assert.Empty(t, lettingGo(c.Step(Exited{Proc: 1})), "a member of the world")
		assert.True(t, c.Dead().Equal(rankset.Of(1)))
	}
}

// TestLetGoOfTheUnion: a process lets go of a member when the communicator is closed, and not
// before it has learnt of the member's departure from the list: an agreement may report the death
// first.
//
//	0: decides "2 is dead", closes the communicator     the launcher's list: 2
//	   must not let go of 2                              0 has not read that yet
//
// The entry would be taken for the death of the next process in the slot.
func TestLetGoOfTheUnion(t *testing.T) {
	g := commstate.Group{Index: commstate.SpawnedIndex, Procs: []int{0, 2}, Indices: []uint32{commstate.SpawnedIndex, 5}, Me: 0}
	c := New(Config{N: 4, World: []int{0}, Union: &g, Slots: true})
	c.agreeDead(c.comm.live(commstate.SpawnedIndex), rankset.Of(1))
	c.Step(Propose{Comm: commstate.SpawnedIndex, Token: 1, Call: commstate.Call{Kind: commstate.KindClose}})
	assert.Nil(t, c.comm.live(commstate.SpawnedIndex), "closed: the other member is dead")
	assert.True(t, c.Dead().Has(2))
	assert.Equal(t, []int{2}, lettingGo(c.Step(Exited{Proc: 2})))

	c = New(Config{N: 4, World: []int{0}, Union: &g, Slots: true})
	assert.Empty(t, lettingGo(c.Step(Exited{Proc: 2})), "the communicator is there")
	assert.Equal(t, []int{2}, lettingGo(c.Step(Propose{Comm: commstate.SpawnedIndex, Token: 1, Call: commstate.Call{Kind: commstate.KindClose}})))
}

// TestLostIsNeverLetGo: a process that is lost with its node may still speak, so it is dead for
// ever.
func TestLostIsNeverLetGo(t *testing.T) {
	frame := memberFrame{to: World, from: World, part: commstate.PartRevoke}.append(nil)
	c := New(Config{N: 4, World: []int{0, 1}, Slots: true})
	actions := c.Step(Lost{Proc: 3})
	assert.Equal(t, []int{3}, declaring(actions))
	assert.Empty(t, lettingGo(actions))
	assert.Empty(t, lettingGo(c.Step(Receive{From: 3, Frame: frame})))
	assert.True(t, c.Dead().Has(3))
	assert.False(t, c.IsRevoked(World))
}

// TestLost: a process that was declared dead without exact evidence is dead like any other. If it
// still sends, it is notified, once. A process that has certainly ended is not notified.
func TestLost(t *testing.T) {
	told := func(actions []Action) (to []int) {
		for _, a := range actions {
			if a, ok := a.(Send); ok {
				to = append(to, a.To)
			}
		}
		return to
	}
	frame := memberFrame{to: World, from: World, part: commstate.PartRevoke}.append(nil)
	c := New(Config{N: 3})
	assert.Equal(t, []int{1}, declaring(c.Step(Lost{Proc: 1})))
	assert.Empty(t, declaring(c.Step(Lost{Proc: 1})))
	assert.Equal(t, []int{1}, told(c.Step(Receive{From: 1, Frame: frame})))
	assert.Empty(t, told(c.Step(Receive{From: 1, Frame: frame})), "once")
	assert.False(t, c.IsRevoked(World), "what it says counts no more")
	assert.Equal(t, []int{2}, declaring(c.Step(Exited{Proc: 2})))
	assert.Empty(t, told(c.Step(Receive{From: 2, Frame: frame})))
}

// TestLetGoOfTheWorld: once another communicator has taken its place, the world can be closed like
// any other, and its dead are let go. Finalize ends the successor.
func TestLetGoOfTheWorld(t *testing.T) {
	g := commstate.Group{Index: commstate.SpawnedIndex, Procs: []int{0, 2}, Indices: []uint32{commstate.SpawnedIndex, 5}, Me: 0}
	c := New(Config{N: 4, World: []int{0, 1}, Union: &g, Slots: true})
	assert.Empty(t, lettingGo(c.Step(Exited{Proc: 1})), "a member of the world")
	c.Step(Succeed{Comm: commstate.SpawnedIndex})
	assert.Equal(t, []int{1}, lettingGo(c.Step(Propose{Comm: World, Token: 1, Call: commstate.Call{Kind: commstate.KindClose}})))
	assert.Equal(t, Freed, c.State(World))
	assert.Empty(t, lettingGo(c.Step(Exited{Proc: 2})), "a member of what Finalize ends")
	var decided []Decided
	for _, a := range c.Step(Propose{Comm: commstate.SpawnedIndex, Token: 2, Call: commstate.Call{Kind: commstate.KindFinalize}}) {
		if d, ok := a.(Decided); ok {
			decided = append(decided, d)
		}
	}
	assert.Len(t, decided, 1)
	assert.Equal(t, uint64(2), decided[0].Token)
	assert.NoError(t, decided[0].Outcome.Err)
	assert.Equal(t, Freed, c.State(commstate.SpawnedIndex))
}

// TestLetGoInAReplace: a process in a Replace lets go of processes that were members of other
// communicators, because the launcher may wait for the slot of such a process. It keeps processes
// that it has never met, because the Replace may have started them.
func TestLetGoInAReplace(t *testing.T) {
	g := commstate.Group{Index: commstate.SpawnedIndex, Procs: []int{2, 0}, Indices: []uint32{5, commstate.SpawnedIndex}, Me: 1}
	c := New(Config{N: 4, World: []int{0, 1}, Union: &g, Slots: true})
	c.Step(Exited{Proc: 1})
	c.Step(Propose{Comm: commstate.SpawnedIndex, Token: 1, Call: commstate.Call{Kind: commstate.KindReplace}})
	c.Step(Succeed{Comm: commstate.SpawnedIndex})
	assert.Equal(t, []int{1}, lettingGo(c.Step(Propose{Comm: World, Token: 2, Call: commstate.Call{Kind: commstate.KindClose}})))
	assert.Empty(t, lettingGo(c.Step(Exited{Proc: 3})), "it may be a new member")
}
