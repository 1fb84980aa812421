package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/nodecoll"
)

// Barrier returns when every member has called it. Errors: of all collectives.
// MPI 6.3.
func Barrier(ctx context.Context, c *comm.Comm) error {
	if shared(c, barrier, noRoot) {
		return inMemory(ctx, c, header{kind: barrier}, 0, 0, (*nodecoll.Group).Barrier)
	}
	x, err := begin(ctx, c, barrier, noRoot, 0)
	if err != nil {
		return err
	}
	return x.end(x.barrier())
}

// barrier goes up a tree and down again: 2(n-1) messages. A dissemination
// barrier has half the depth but n log n messages, each of which may wake a
// sleeping rank; where ranks outnumber cores that is what a barrier costs.
func (x *call) barrier() error {
	take := func(child int) error { return x.recv(child, nil) }
	give := func(parent int) error { return x.send(parent, nil) }
	if err := x.fanIn(take, give); err != nil {
		return err
	}
	return x.bcast(0, nil)
}
