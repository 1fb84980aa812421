package replace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A worker is a rank. Workers that are started later get the number of the round from the others.
type worker struct {
	w         *comm.Comm
	n, rounds int
	seed      uint64
	out       io.Writer

	round  int
	repair []time.Duration // from the error until the new communicator works
}

func (k *worker) run(ctx context.Context) error {
	c, err := k.join(ctx)
	if err != nil {
		return err
	}
	for ; k.round < k.rounds; k.round++ {
		victim := k.untilTheDeath(ctx, c)
		begin := time.Now()
		if c, err = k.replace(ctx, c, victim); err != nil {
			return fmt.Errorf("round %d: %w", k.round, err)
		}
		k.repair = append(k.repair, time.Since(begin))
	}
	// There is no barrier here. A replacement that has left the barrier ends, which is a failed
	// member to others that are still in the barrier.
	if _, err := c.Agree(ctx, 1); err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Fprintf(k.out, "replace: %d rounds; from the error until the new communicator works (rank 0, its last %d rounds) %s\n",
			k.rounds, len(k.repair), trial.Spread(k.repair))
	}
	return nil
}

// join returns the communicator in which this process begins.
func (k *worker) join(ctx context.Context) (*comm.Comm, error) {
	ic := k.w.Parent()
	if ic == nil {
		return k.w, nil
	}
	c, err := ic.Merge(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := ic.Free(); err != nil {
		return nil, err
	}
	err = k.meet(ctx, c)
	k.round++ // the others are at the end of the round that they sent
	return c, err
}

// meet checks the new communicator, and sends the number of the round to the new process.
func (k *worker) meet(ctx context.Context, c *comm.Comm) error {
	told := []int{k.round}
	if err := collectives.Bcast(ctx, c, 0, told); err != nil {
		return err
	}
	k.round = told[0]
	// These checks come before the agreement. No member is done with the agreement, and can find
	// the next death and revoke c, until all have been here. The next victim cannot die either:
	// between nodes its death might lose the sum that others wait for.
	if err := alone(c); err != nil {
		return err
	}
	sum := []int{c.Rank()}
	if err := collectives.Allreduce(ctx, c, sum, sum, collectives.Sum); err != nil {
		return err
	}
	if _, err := c.Agree(ctx, 1); err != nil {
		return err
	}
	if want := k.n * (k.n - 1) / 2; c.Size() != k.n || sum[0] != want {
		return trial.Broken("%d members, the ranks sum to %d: expected %d and %d", c.Size(), sum[0], k.n, want)
	}
	return nil
}

// alone checks that a process in the slot of an earlier one knows itself: a communicator of this
// process alone has this process as its member.
func alone(c *comm.Comm) error {
	self, err := comm.Self(c)
	if err != nil {
		return trial.Broken("a communicator of this process alone: %v", err)
	}
	if got, want := self.Group().Processes(), c.Group().Processes()[c.Rank()]; !slices.Equal(got, []int{want}) {
		return trial.Broken("alone in a communicator is %v, expected %d", got, want)
	}
	return self.Free()
}

const (
	barriersMax = 6
	instantMax  = 300 * time.Microsecond
)

// untilTheDeath makes barriers until one fails, and returns the planned victim.
func (k *worker) untilTheDeath(ctx context.Context, c *comm.Comm) (victim int) {
	rng := rand.New(rand.NewPCG(k.seed, uint64(k.round)))
	victim = rng.IntN(k.n)
	amid, barrier, after := rng.IntN(2) == 0, rng.IntN(barriersMax), time.Duration(rng.Int64N(int64(instantMax)))
	for i := 0; ; i++ {
		if c.Rank() == victim && i == barrier {
			if !amid {
				trial.Die()
			}
			time.AfterFunc(after, trial.Die)
		}
		if collectives.Barrier(ctx, c) != nil {
			return victim
		}
	}
}

// replace returns a communicator with another process in place of the dead one.
func (k *worker) replace(ctx context.Context, c *comm.Comm, victim int) (*comm.Comm, error) {
	_ = c.Revoke() // R13: Revoke cannot fail here
	left, err := c.Shrink(ctx)
	if err != nil {
		return nil, err
	}
	want := slices.DeleteFunc(c.Group().Processes(), func(proc int) bool { return proc == c.Group().Processes()[victim] })
	if !slices.Equal(left.Group().Processes(), want) {
		return nil, trial.Broken("shrunk to %v, expected %v", left.Group().Processes(), want)
	}
	args := []string{"replace", "-rank", "-n", strconv.Itoa(k.n), "-rounds", strconv.Itoa(k.rounds), "-seed", strconv.FormatUint(k.seed, 10)}
	ic, err := left.Spawn(ctx, comm.SpawnSpec{N: 1, Args: args})
	if err != nil {
		return nil, err
	}
	all, err := ic.Merge(ctx, false)
	if err != nil {
		return nil, err
	}
	err = errors.Join(ic.Free(), left.Free())
	if c != k.w {
		err = errors.Join(err, c.Free())
	}
	return all, errors.Join(err, k.meet(ctx, all))
}
