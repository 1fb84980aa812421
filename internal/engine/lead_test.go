package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// awaitFollowers returns, with p.mu held, once n waiting calls follow.
func awaitFollowers(p *Proc, n int) {
	for {
		p.mu.Lock()
		if len(p.leads.followers) == n {
			return
		}
		p.mu.Unlock()
	}
}

// TestLeadIsPassedOn: a follower with a context that has just ended is offered the lead. It passes
// the lead on to the next follower, which waits for a message that comes later.
func TestLeadIsPassedOn(t *testing.T) {
	limit, stop := context.WithTimeout(bg, time.Minute)
	defer stop()
	run(t, 2, func(c *cluster, w *Comm) error {
		if w.Rank() == 1 {
			return nil
		}
		p, sender := w.p, c.procs[1].World()
		for range 200 {
			p.mu.Lock()
			for !p.leads.take(caller) { // the background loop may have it
				p.leads.wanted.Add(1)
				p.mu.Unlock()
				p.node.Notify(p.me, ^uint32(0))
				p.mu.Lock()
				p.leads.wanted.Add(-1)
			}
			p.mu.Unlock()
			var wg sync.WaitGroup
			short, cancel := context.WithCancel(bg)
			wg.Go(func() { _, _ = w.Recv(short, Envelope{Rank: 1, Tag: 1}, nil) })
			awaitFollowers(p, 1)
			p.mu.Unlock()
			var late error
			wg.Go(func() { _, late = w.Recv(limit, Envelope{Rank: 1, Tag: 2}, nil) })
			awaitFollowers(p, 2)
			cancel()              // the first follower wakes for this, or for ...
			p.leads.leaveLocked() // ... the lead, as it happens
			p.mu.Unlock()
			awaitFollowersLess(p, 2)
			if err := sender.Send(bg, Envelope{Rank: 0, Tag: 2}, nil); err != nil {
				return err
			}
			wg.Wait()
			if late != nil {
				return late
			}
		}
		return nil
	})
}

// awaitFollowersLess returns once fewer than n waiting calls follow.
func awaitFollowersLess(p *Proc, n int) {
	for {
		p.mu.Lock()
		less := len(p.leads.followers) < n
		p.mu.Unlock()
		if less {
			return
		}
	}
}

// TestWaitersWhoseContextsEnd: of many goroutines that wait for messages some give up at
// random moments; those that do not get their messages, however late these come.
func TestWaitersWhoseContextsEnd(t *testing.T) {
	const rounds, waiters = 300, 6
	limit, stop := context.WithTimeout(bg, 10*time.Minute)
	defer stop()
	world := inproc.New(2)
	a, b := New(world.Port(0), Config{SpinPolls: 20}), New(world.Port(1), Config{SpinPolls: 20})
	defer b.Close()
	defer a.Close()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		var wg sync.WaitGroup
		errs := make([]error, waiters)
		first := random.IntN(waiters)
		for i := range waiters {
			tag := round*waiters + i
			if i%2 == first%2 {
				wg.Go(func() { _, errs[i] = a.World().Recv(limit, Envelope{Rank: 1, Tag: tag}, nil) })
				continue
			}
			short, cancel := context.WithTimeout(bg, time.Duration(random.IntN(200))*time.Microsecond)
			wg.Go(func() {
				defer cancel()
				_, _ = a.World().Recv(short, Envelope{Rank: 1, Tag: tag}, nil)
			})
		}
		for i := range waiters {
			if i%2 == first%2 {
				for range random.IntN(2000) {
					a.now()
				}
				require.NoError(t, b.World().Send(bg, Envelope{Rank: 0, Tag: round*waiters + i}, nil))
			}
		}
		wg.Wait()
		for i, err := range errs {
			assert.NoError(t, err, fmt.Sprintf("seed %d, round %d, waiter %d", seed, round, i))
		}
		if t.Failed() {
			return
		}
	}
}
