package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/ulfm"
)

// handmade makes n processes that do nothing by themselves: no background loop ticks, and the test
// decides the order of events.
func handmade(t *testing.T, n int, cfg Config) *cluster {
	c := &cluster{world: inproc.New(n)}
	cfg.SpinPolls, cfg.Tick = 20, time.Hour
	for me := range n {
		c.procs = append(c.procs, New(c.world.Port(me), cfg))
	}
	t.Cleanup(func() {
		for _, p := range c.procs {
			p.Close()
		}
	})
	return c
}

// TestSpecR10RevokedThenDeadAtOnePoll: 1 revokes and dies, and 0 learns of both in one poll. The
// acts of 1 come before its death: the receive of 0 ends with "revoked" (R7), and 0 knows that the
// communicator is (R10). In memory the revocation is a word; by messages it is a frame that 1 had
// sent before, and of the dead none is taken later (A6).
func TestSpecR10RevokedThenDeadAtOnePoll(t *testing.T) {
	for name, cfg := range map[string]Config{"in memory": {}, "by messages": {Messages: true}} {
		t.Run(name, func(t *testing.T) {
			c := handmade(t, 3, cfg)
			here, there := c.procs[0], c.procs[1]
			h, err := here.World().Irecv(Envelope{Rank: 1}, make([]byte, 8))
			require.NoError(t, err)
			require.NoError(t, there.World().Revoke())
			c.kill(there.World())
			here.mu.Lock()
			here.progress()
			here.mu.Unlock()
			assert.True(t, here.World().IsRevoked())
			_, err = here.Wait(bg, h)
			assert.ErrorIs(t, err, ulfm.ErrRevoked)
		})
	}
}

// TestCompleteCollectiveOutlivesADeath: 1 comes to a barrier in which 0 waits, and is found dead
// before 0 reads the line that 1 had published. 0's part is complete: the barrier succeeds there
// (R7, R8).
func TestCompleteCollectiveOutlivesADeath(t *testing.T) {
	c := handmade(t, 2, Config{})
	here, there := c.procs[0], c.procs[1]
	w := here.World()
	require.True(t, w.Shared())
	here.mu.Lock()
	w.calls.Next()
	w.collectives().Barrier(7)
	require.False(t, w.coll.Done())
	r := here.newRequest(collectiveRequest, w, "barrier")
	r.peer, w.collective = Any, r
	here.memory.open(w)
	there.mu.Lock()
	there.World().collectives().Barrier(7)
	there.mu.Unlock()
	here.rules.step(control.Exited{Proc: 1})
	require.True(t, r.done())
	assert.NoError(t, r.err)
	here.mu.Unlock()
}

// TestLastPollOfTheLeader: a goroutine that ends a request holds mu until it has checked whether
// the leader sleeps. The leader checks for the last time before it sleeps, waits for mu, and sees
// the request ended. Without mu the leader would see the request open, and sleep, after the check
// of the other goroutine.
func TestLastPollOfTheLeader(t *testing.T) {
	c := handmade(t, 1, Config{})
	p := c.procs[0]
	for range 500 {
		p.mu.Lock()
		r := p.newRequest(callRequest, p.world, "test")
		p.leads.leading.g = &group{one: r}
		asks, found := make(chan bool), make(chan bool)
		go func() {
			close(asks)
			found <- p.leads.mustPoll()
		}()
		<-asks
		for range 50 {
			runtime.Gosched() // a goroutine that does not wait for mu has its answer by now
		}
		p.complete(r, nil)
		p.mu.Unlock()
		require.True(t, <-found)
		p.mu.Lock()
		p.free(r)
		p.mu.Unlock()
	}
}
