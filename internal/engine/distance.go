package engine

import (
	"context"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/nodecoll"
)

// How far the processors of two members are from each other. Where they share a cache
// bytes are best moved through memory that both map. Where they do not a large reduction
// through such memory takes longer than when the kernel copies the source: a line that one
// of them has just written is the slowest to read for the other.
const (
	distanceUnknown int32 = iota
	distanceNear
	distanceFar
)

const (
	// A barrier of two takes some 100 ns, or 400: each has to get a line of the other's.
	farBarrier = 250 * time.Nanosecond
	// Of so many the one in the middle counts: few of them are interrupted, or the first
	// to touch their memory.
	distanceBarriers = 31
)

// MeasuresDistance says whether MeasureDistance is to be called: the same at all members.
func (c *Comm) MeasuresDistance() bool {
	return c.Size() == 2 && !c.Crowded() && c.Shared() && c.Direct() && c.distance.Load() == distanceUnknown
}

// MeasureDistance finds out what Far says. It is a collective in shared memory, with what
// and code as RunShared's call has them, and with its errors.
func (c *Comm) MeasureDistance(ctx context.Context, what string, code uint64) error {
	var took [distanceBarriers]time.Duration
	for i := range took {
		start := time.Now()
		if err := c.runShared(ctx, what, false, func(g *nodecoll.Group) { g.Barrier(code) }); err != nil {
			return err
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took[:])
	verdict := []byte{byte(distanceNear)} // the first member's holds
	if took[distanceBarriers/2] > farBarrier {
		verdict[0] = byte(distanceFar)
	}
	if err := c.runShared(ctx, what, false, func(g *nodecoll.Group) { g.Bcast(code, 0, verdict) }); err != nil {
		return err
	}
	c.distance.Store(int32(verdict[0]))
	return nil
}

// Far says whether the processors of two members have been found to share no cache: the
// same at both.
func (c *Comm) Far() bool { return c.distance.Load() == distanceFar }
