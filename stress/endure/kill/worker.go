package kill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

// A worker is one rank's part of a job. All live ranks do the same batches. Each batch ends with an
// agreement on its success everywhere.
type worker struct {
	c       *comm.Comm
	members []int // of c, as ranks of the world
	world   int   // ranks at the start
	me      int   // rank in the world
	seed    uint64
	end     time.Time
	history history
	batches int
	ops     int
	repairs int
}

func newWorker(w *comm.Comm, seed uint64, span time.Duration) *worker {
	return &worker{c: w, members: w.Group().Processes(), world: w.Size(), me: w.Rank(), seed: seed, end: time.Now().Add(span)}
}

func (w *worker) wrong(format string, args ...any) error {
	return trial.Broken("batch %d: %s", w.batches, fmt.Sprintf(format, args...))
}

func (w *worker) run(ctx context.Context) error {
	for over := false; !over; w.batches++ {
		err := w.batch(ctx)
		good := uint64(flagGood)
		if err != nil {
			good = 0
			if !ulfm.Recoverable(err) {
				return err
			}
			if err := w.c.Revoke(); err != nil {
				return err
			}
		}
		if over, err = w.settle(ctx, good); err != nil {
			return err
		}
	}
	if w.c.Rank() == 0 {
		fmt.Printf("kill: rank %d: batches=%d operations=%d repairs=%d ranks=%d of %d\n", w.me, w.batches, w.ops, w.repairs, w.c.Size(), w.world)
	}
	return nil
}

// settle ends a batch: all ranks agree, and repair if the batch failed somewhere.
func (w *worker) settle(ctx context.Context, flag uint64) (over bool, err error) {
	stamp := w.history.stamp()
	flag |= stamp | presence(w.me)
	if time.Now().After(w.end) {
		flag |= flagOver
	}
	got, err := w.c.Agree(ctx, flag)
	failed := errors.Is(err, ulfm.ErrProcFailed)
	if err != nil && !failed {
		return false, err
	}
	if bad := checkBatch(got, failed, stamp, w.me, w.members); bad != "" {
		return false, w.wrong("%s", bad)
	}
	w.history.add("batch", got, failed)
	if failed || got&flagGood == 0 {
		if err := w.repair(ctx); err != nil {
			return false, err
		}
		w.history.endBatch()
		return false, nil
	}
	w.history.endBatch()
	return got&flagOver != 0, nil
}

// repair continues without the dead. After any failure at least one member must have died.
func (w *worker) repair(ctx context.Context) error {
	old, before := w.c, w.members
	c, err := old.Shrink(ctx)
	if err != nil {
		return err
	}
	w.c, w.members = c, c.Group().Processes()
	switch {
	case len(w.members) >= len(before):
		return w.wrong("repaired, and no member is missing of %v", before)
	case slices.ContainsFunc(w.members, func(r int) bool { return !slices.Contains(before, r) }), !slices.IsSorted(w.members), w.members[c.Rank()] != w.me:
		return w.wrong("shrink of %v gave %v, rank %d", before, w.members, c.Rank())
	case c.Epoch() <= old.Epoch():
		return w.wrong("shrink led from epoch %d to %d", old.Epoch(), c.Epoch())
	}
	w.history.add("shrink", w.members)
	if w.repairs++; w.repairs > 1 {
		return old.Free() // the first one is the world, which belongs to Main
	}
	return nil
}

// tagsEach is the number of tags of an operation.
const tagsEach = 4

// batch does some operations; all ranks draw the same ones. Agreements come first. Otherwise a rank
// with an error would be in the agreement that ends the batch while others are still in an earlier
// one.
func (w *worker) batch(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(w.seed, uint64(w.batches)))
	if rng.IntN(3) == 0 {
		if err := w.agreements(ctx, rng); err != nil {
			return err
		}
	}
	for i := range 1 + rng.IntN(6) {
		s := step{ctx: ctx, w: w, c: w.c, members: w.members, id: rng.Uint64(), tag: tagsEach * i}
		s.rng = rand.New(rand.NewPCG(s.id, 0))
		op := operations[rng.IntN(len(operations))]
		if err := op(&s); err != nil {
			return err
		}
		w.ops++
	}
	return nil
}

// agreements makes some agreements, all in progress at once.
func (w *worker) agreements(ctx context.Context, rng *rand.Rand) error {
	flags := make([]uint64, 1+rng.IntN(4))
	rs := make([]comm.Request, len(flags))
	for i := range flags {
		flags[i] = presence(w.me)
		rs[i] = w.c.Iagree(&flags[i])
	}
	var first error
	for i, r := range rs {
		_, err := r.Wait(ctx)
		failed := errors.Is(err, ulfm.ErrProcFailed)
		if err != nil && !failed {
			return err
		}
		if bad := checkPresence(flags[i]>>absentAt, failed, w.me, w.members); bad != "" {
			return w.wrong("%s", bad)
		}
		w.history.add("agree", flags[i], failed)
		if first == nil {
			first = err
		}
		w.ops++
	}
	return first
}
