package engine

import (
	"context"
	"slices"
)

// turns run the blocking collectives of one communicator that share memory one after another, in
// the order in which the goroutines of this rank call them: there is one line of memory for each
// member, and one operation open in it.
//
// A goroutine that waits for its turn does not make progress. The goroutine that has the turn does.
type turns struct {
	taken bool
	queue []chan struct{} // of those that wait, oldest first
}

// takeTurn returns when no other goroutine is in a collective of c in shared memory. The
// caller holds mu, and does again afterwards. The only error is that of ctx.
func (c *Comm) takeTurn(ctx context.Context) error {
	t := &c.turns
	if !t.taken {
		t.taken = true
		return nil
	}
	p, mine := c.p, make(chan struct{})
	t.queue = append(t.queue, mine)
	p.mu.Unlock()
	var err error
	select {
	case <-mine:
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	if err == nil {
		return nil
	}
	if i := slices.Index(t.queue, mine); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
	} else { // the turn has been handed over meanwhile
		c.giveTurn()
	}
	return err
}

// giveTurn hands the turn to the goroutine that has waited longest. The caller holds mu.
func (c *Comm) giveTurn() {
	t := &c.turns
	if len(t.queue) == 0 {
		t.taken = false
		return
	}
	close(t.queue[0])
	t.queue = slices.Delete(t.queue, 0, 1)
}
