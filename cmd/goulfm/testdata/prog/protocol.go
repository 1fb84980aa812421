package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/ulfm"
)

func init() { modes["protocol"] = protocol }

// A part uses one protocol, after warm (nil: nothing), where no store counts.
type part struct {
	warm func(x *trial) error
	run  func(x *trial) error
}

// A trial is one rank's run of a part.
type trial struct {
	ctx      context.Context
	c        *comm.Comm
	outcomes []string // of the calls that promise the same to all survivors
	w        *rma.Win[uint64]
}

// protocol runs the part that the second argument names. Before a store of it a
// rank may be killed (GOULFM_KILL_PART). The survivors have to end with the right
// data, the same outcomes, and a communicator of theirs that works.
func protocol(ctx context.Context, w *comm.Comm) error {
	p, ok := parts[os.Args[2]]
	if !ok {
		return fmt.Errorf("no part %q", os.Args[2])
	}
	x := &trial{ctx: ctx, c: w}
	if p.warm != nil {
		if err := p.warm(x); err != nil {
			return fmt.Errorf("without a death: %w", err)
		}
	}
	if err := collectives.Barrier(ctx, w); err != nil {
		return fmt.Errorf("without a death: %w", err)
	}
	x.outcomes = nil
	disarm, err := armPart(w.Rank())
	if err != nil {
		return err
	}
	ended := p.run(x)
	stores := disarm()
	if ended != nil && !ulfm.Recoverable(ended) {
		return ended
	}
	s, err := x.repair(ended)
	if err != nil {
		return err
	}
	if s.Size() == w.Size() && ended != nil {
		return fmt.Errorf("nobody is lost, and: %w", ended)
	}
	if err := x.compare(s); err != nil {
		return err
	}
	if stores > 0 {
		fmt.Println("stores", stores)
	}
	if s.Rank() == 0 {
		fmt.Println("left", s.Size())
	}
	return nil
}

// repair returns a communicator of the survivors. A part that succeeded here is not
// disturbed where it still runs: only a failure revokes before all have come.
func (x *trial) repair(ended error) (*comm.Comm, error) {
	if ended != nil {
		if err := x.c.Revoke(); err != nil {
			return nil, err
		}
	}
	if _, err := x.c.Agree(x.ctx, 1); err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
		return nil, err
	}
	if err := x.c.Revoke(); err != nil {
		return nil, err
	}
	return x.c.Shrink(x.ctx)
}

// compare uses the survivors' communicator: barrier, allreduce, and an allgather of
// the outcomes, which must be the same wherever two survivors have one.
func (x *trial) compare(s *comm.Comm) error {
	if err := collectives.Barrier(x.ctx, s); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	n := []int{1}
	if err := collectives.Allreduce(x.ctx, s, n, n, collectives.Sum); err != nil || n[0] != s.Size() {
		return fmt.Errorf("after the repair: %d of %d: %w", n[0], s.Size(), err)
	}
	const most = 8
	mine := make([]uint64, most)
	for i, o := range x.outcomes {
		if o == "" {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(o))
		mine[i] = h.Sum64()
	}
	all := make([]uint64, most*s.Size())
	if err := collectives.Allgather(x.ctx, s, all, mine); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	for i, o := range all {
		if here := mine[i%most]; o != 0 && here != 0 && o != here {
			return fmt.Errorf("call %d: survivor %d has another outcome than %q", i%most, i/most, x.outcomes[i%most])
		}
	}
	return nil
}

// promised notes the outcome of a call that has the same at all survivors.
func (x *trial) promised(format string, args ...any) {
	x.outcomes = append(x.outcomes, fmt.Sprintf(format, args...))
}

// created notes that of a creation. One that a revocation overtakes may succeed at
// some members and say so at others.
func (x *trial) created(err error) {
	if errors.Is(err, ulfm.ErrRevoked) {
		x.outcomes = append(x.outcomes, "")
		return
	}
	x.promised("created: %v", err == nil)
}

var parts = map[string]part{
	"first":           {run: messages(8, 4<<10, 64<<10)},
	"inline":          {warm: messages(8), run: messages(0, 8, 40)},
	"synchronous":     {warm: messages(8), run: synchronous},
	"eager":           {warm: messages(4 << 10), run: messages(4<<10, 8<<10)},
	"long":            {warm: messages(8), run: messages(16<<10, 64<<10)},
	"direct-80KiB":    {warm: messages(80 << 10), run: messages(80<<10, 80<<10)},
	"direct-1MiB":     {warm: messages(80 << 10), run: messages(1<<20, 1<<20)},
	"chunks":          {warm: throughRings, run: messages(64<<10, 200_000)},
	"barrier":         {warm: barriers(1), run: barriers(3)},
	"bcast-8B":        {warm: bcasts(1), run: bcasts(1, 1)},
	"bcast-64KiB":     {warm: bcasts(1), run: bcasts(8 << 10)},
	"bcast-1MiB":      {warm: bcasts(1), run: bcasts(128 << 10)},
	"reduce-8B":       {warm: reduces(1), run: reduces(1, 1)},
	"reduce-64KiB":    {warm: reduces(1), run: reduces(8 << 10)},
	"allreduce-8B":    {warm: allreduces(1), run: allreduces(1, 1)},
	"allreduce-8KiB":  {warm: allreduces(1), run: allreduces(1<<10, 1<<10)},
	"allreduce-256K":  {warm: allreduces(1), run: allreduces(32 << 10)},
	"blocks-8B":       {warm: blocks(1), run: blocks(1, 1)},
	"blocks-512B":     {warm: blocks(64), run: blocks(64, 64)},
	"blocks-8KiB":     {warm: blocks(1), run: blocks(1<<10, 1<<10)},
	"blocks-256KiB":   {warm: blocks(1), run: blocks(32 << 10)},
	"blocks-refused":  {warm: refusedAtOne, run: blocks(9 << 10)},
	"scans-8B":        {warm: scans(1), run: scans(1, 1)},
	"scans-8KiB":      {warm: scans(1), run: scans(1<<10, 1<<10)},
	"scans-256KiB":    {warm: scans(1), run: scans(32 << 10)},
	"coll-first":      {run: firstCollectives},
	"agree":           {warm: agrees, run: agrees},
	"shrink":          {run: shrinks},
	"revoke":          {run: revokes},
	"dup+free":        {run: dups(3)},
	"dup+free, again": {warm: dups(70), run: dups(3)},
	"window":          {run: windows},
	"window-lock":     {warm: makeWindow, run: windowLocks},
	"window-notes":    {warm: makeWindow, run: windowNotes},
	"window-epochs":   {warm: makeWindow, run: windowEpochs},
}
