package day

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A worker is a rank.
type worker struct {
	w    *comm.Comm
	o    options
	out  io.Writer
	n    counts
	size int
	told uint64 // lines that were printed
}

func newWorker(w *comm.Comm, o options, out io.Writer) *worker { return &worker{w: w, o: o, out: out} }

// Bits of a flag: there is time left; a tenth of it is over.
const (
	goesOn = 1 << iota
	warm
	clocks = goesOn | warm
)

func (k *worker) run(ctx context.Context) error {
	c, err := k.join(ctx)
	if err != nil {
		return err
	}
	k.size, k.told = c.Size(), uint64(k.n.lasted()/k.o.every)
	for {
		flag, err := k.agree(ctx, c)
		switch {
		case errors.Is(err, comm.ErrProcFailed):
			if c, err = k.replace(ctx, c); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		case flag&goesOn == 0:
			return k.end(c)
		}
		if flag&warm != 0 && k.n.Launcher == (footprint{}) {
			k.measure(ctx, c)
		}
		if err := k.tell(c); err != nil {
			return err
		}
	}
}

// join returns the communicator in which this process begins.
func (k *worker) join(ctx context.Context) (*comm.Comm, error) {
	if c := k.w.Joined(); c != nil {
		if err := k.n.decode(k.w.Handover()); err != nil {
			return nil, trial.Broken("the counts from the survivors: %v", err)
		}
		return c, nil
	}
	begun := []int64{time.Now().UnixNano()}
	err := collectives.Bcast(ctx, k.w, 0, begun)
	k.n.Begun, k.n.Next = begun[0], k.apart(0)
	return k.w, err
}

// measure distributes rank 0's measurement of the launcher. If rank 0 dies, the next agreement
// reports the death, and the ranks try again.
func (k *worker) measure(ctx context.Context, c *comm.Comm) {
	mine := ^uint64(0)
	if c.Rank() == 0 {
		mine = measured().flag()
	}
	if flag, err := c.Agree(ctx, mine); err == nil {
		k.n.Launcher = footprintOf(flag)
	}
}

// flagOf is a rank's contribution to an agreement, without the bits of its clock.
func (k *worker) flagOf(rank int) uint64 {
	return rand.New(rand.NewPCG(k.o.seed^uint64(rank)<<32, k.n.Agreements)).Uint64() &^ clocks
}

// apart is the number of agreements before the next death.
func (k *worker) apart(failures uint64) uint64 {
	return 1 + rand.New(rand.NewPCG(k.o.seed, failures)).Uint64N(uint64(2*k.o.apart-1))
}

// instantMax is the longest life of a victim after the beginning of its last agreement.
const instantMax = 300 * time.Microsecond

// agree makes one agreement, and checks it. All members count alike, because an agreement has one
// outcome.
func (k *worker) agree(ctx context.Context, c *comm.Comm) (flag uint64, err error) {
	mine := k.flagOf(c.Rank())
	if k.n.lasted() < k.o.lasts {
		mine |= goesOn
	}
	if k.n.lasted() > k.o.lasts/10 {
		mine |= warm
	}
	if k.n.Agreements == k.n.Next && c.Rank() == k.victim() {
		k.die()
	}
	flag, err = c.Agree(ctx, mine)
	if err == nil || errors.Is(err, comm.ErrProcFailed) {
		if bad := k.check(flag, mine, err != nil); bad != "" {
			return flag, trial.Broken("agreement %d: %s", k.n.Agreements, bad)
		}
		k.n.Agreements++
	}
	return flag, err
}

// victim is the rank that dies next.
func (k *worker) victim() int {
	return rand.New(rand.NewPCG(k.o.seed^1, k.n.Failures)).IntN(k.size)
}

// die ends this process, now or within its call.
func (k *worker) die() {
	if after := time.Duration(rand.Int64N(int64(2 * instantMax))); after < instantMax {
		time.AfterFunc(after, trial.Die)
		return
	}
	trial.Die()
}

// check returns the fault of an agreed flag. The flag is the contribution of all, or, where one has
// died, perhaps that of all others. The bits of the clock differ between members.
func (k *worker) check(flag, mine uint64, died bool) string {
	all := ^uint64(clocks)
	for rank := range k.size {
		all &= k.flagOf(rank)
	}
	got := flag &^ clocks
	if got == all || died && got&all == all && got&^mine == 0 {
		return ""
	}
	return fmt.Sprintf("%x, and all contribute %x", flag, all)
}

// replace returns a communicator with replacements in the places of the dead.
func (k *worker) replace(ctx context.Context, c *comm.Comm) (*comm.Comm, error) {
	members := c.Group().Processes()
	begun := k.n.Failures
	for left := c; ; {
		shrunk, err := left.Shrink(ctx)
		if err != nil {
			return nil, err
		}
		k.give(left, c)
		left = shrunk
		var lost []int
		for rank, proc := range members {
			if !slices.Contains(left.Group().Processes(), proc) {
				lost = append(lost, rank)
			}
		}
		k.n.Failures, k.n.Repairs = begun+uint64(len(lost)), k.n.Repairs+1
		k.n.Next = k.n.Agreements + k.apart(k.n.Failures)
		if len(lost) == 0 {
			return nil, trial.Broken("an agreement reports a death, and a shrink finds none")
		}
		all, err := left.Replace(ctx, comm.ReplaceSpec{Ranks: lost, Handover: k.n.encode(), Wait: time.Minute})
		if err == nil {
			k.give(left, c)
			k.give(c, k.w)
			return all, k.meet(all, members, lost)
		}
		if !comm.Recoverable(err) && !errors.Is(err, comm.ErrPeerArgument) {
			return nil, err
		}
	}
}

// give frees a communicator, unless it is the one that stays or the world.
func (k *worker) give(c, stays *comm.Comm) {
	if c != stays && c != k.w {
		_ = c.Free() // it may be revoked
	}
}

// meet checks the members of a new communicator.
func (k *worker) meet(c *comm.Comm, members, lost []int) error {
	now := c.Group().Processes()
	if len(now) != k.size {
		return trial.Broken("%d members after a repair, not %d", len(now), k.size)
	}
	for rank, proc := range now {
		if isNew := slices.Contains(lost, rank); isNew == slices.Contains(members, proc) || !isNew && members[rank] != proc {
			return trial.Broken("rank %d is process %d after a repair; before: %v, lost: %v", rank, proc, members, lost)
		}
	}
	return nil
}

// tell prints a line when one is due, at rank 0.
func (k *worker) tell(c *comm.Comm) error {
	due := uint64(k.n.lasted() / k.o.every)
	if due <= k.told {
		return nil
	}
	k.told = due
	if c.Rank() != 0 {
		return nil
	}
	return k.n.report(measured(), false).print(k.out, k.o.json)
}

// end checks the growth of the launcher and prints the last line, at rank 0.
func (k *worker) end(c *comm.Comm) error {
	if c.Rank() != 0 {
		return nil
	}
	last := measured()
	if first := k.n.Launcher; first != (footprint{}) {
		if bad := first.growth(last); bad != "" {
			return trial.Broken("%s", bad)
		}
	}
	return k.n.report(last, true).print(k.out, k.o.json)
}
