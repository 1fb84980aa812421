package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// twoWorlds returns processes 0 and 1 of one world and 2 of another, with a communicator of all.
func twoWorlds(t *testing.T) (world *inproc.World, procs [3]*Proc) {
	world = inproc.New(3)
	for me := range procs {
		cfg := Config{SpinPolls: 20, Tick: time.Hour, World: []int{0, 1}}
		if me == 2 {
			cfg.World = []int{2}
		}
		cfg.Union = &commstate.Group{Index: commstate.SpawnedIndex, Procs: []int{0, 1, 2}, Indices: []uint32{commstate.SpawnedIndex, commstate.SpawnedIndex, commstate.SpawnedIndex}, Me: me}
		procs[me] = New(world.Port(me), cfg)
		t.Cleanup(procs[me].Close)
	}
	return world, procs
}

// call counts collectives of a member.
func call(c *Comm, times int) {
	for range times {
		c.calls.Next()
	}
}

// TestCollectivesGoOnAfterADeparture: a process of another world leaves after it has completed
// three collectives. A slower member may still make the third; the fourth fails.
func TestCollectivesGoOnAfterADeparture(t *testing.T) {
	world, procs := twoWorlds(t)
	union := procs[0].Union()
	call(procs[2].Union(), 3)
	require.NoError(t, procs[2].Finalize(bg))
	call(union, 2) // it is slower
	world.Depart(2, false)
	lookAt(procs[0])
	assert.NoError(t, union.Enter(ulfm.OpCollective), "it took part in the third")
	procs[0].mu.Lock()
	call(union, 1)
	procs[0].mu.Unlock()
	assert.ErrorIs(t, union.Enter(ulfm.OpCollective), ulfm.ErrProcFailed, "it takes part in no fourth")
}

// TestDepartureBeforeTheCommunicator: a started process completes a collective on the communicator
// of its Spawn and leaves, all before a late member has read the decision that makes the
// communicator. That member may still make the same collective.
func TestDepartureBeforeTheCommunicator(t *testing.T) {
	world := inproc.New(3)
	var procs [3]*Proc
	begin := func(me int, cfg Config) {
		cfg.SpinPolls, cfg.Tick = 20, time.Hour
		procs[me] = New(world.Port(me), cfg)
		t.Cleanup(procs[me].Close)
	}
	begin(0, Config{World: []int{0, 1}})
	begin(1, Config{World: []int{0, 1}})
	spawn := func(p *Proc) *Request {
		r := p.propose(p.world, commstate.Call{Kind: commstate.KindSpawn}, Contribution{Spawned: commstate.Spawned{First: 2, Count: 1}}, "spawn")
		p.progress()
		return r
	}
	late := procs[1]
	late.mu.Lock() // until the started process has left
	slow := spawn(late)
	procs[0].mu.Lock()
	quick := spawn(procs[0])
	procs[0].mu.Unlock()
	for !quick.done() {
		lookAt(procs[0])
	}
	group := quick.made.group
	group.Index, group.Me = commstate.SpawnedIndex, 2
	begin(2, Config{World: []int{2}, Union: &group})
	call(procs[2].Union(), 3)
	require.NoError(t, procs[2].Finalize(bg))
	world.Depart(2, false)
	late.progress()
	late.mu.Unlock()
	for !slow.done() {
		lookAt(late)
	}

	union := slow.made
	require.NotNil(t, union)
	call(union, 2)
	assert.NoError(t, union.Enter(ulfm.OpCollective), "it took part in the third")
	late.mu.Lock()
	call(union, 1)
	late.mu.Unlock()
	assert.ErrorIs(t, union.Enter(ulfm.OpCollective), ulfm.ErrProcFailed, "it takes part in no fourth")
}

// TestDeathIsNoDeparture: a process that dies ends collectives, whether it has completed them or
// not.
func TestDeathIsNoDeparture(t *testing.T) {
	world, procs := twoWorlds(t)
	call(procs[2].Union(), 3)
	world.Depart(2, true)
	lookAt(procs[0])
	assert.ErrorIs(t, procs[0].Union().Enter(ulfm.OpCollective), ulfm.ErrProcFailed)
}
