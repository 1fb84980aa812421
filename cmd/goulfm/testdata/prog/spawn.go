package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

func init() {
	modes["spawn"] = spawn
	modes["spawn-told"] = spawnTold
	modes["spawn-errors"] = spawnErrors
	modes["spawn-program"] = spawnProgram
	modes["spawn-stress"] = spawnStress
	modes["spawn-again"] = spawnAgain
}

// spawn starts two more processes, which exchange messages with those who did.
func spawn(ctx context.Context, w *comm.Comm) error {
	if ic := w.Parent(); ic != nil {
		var sum int
		for q := range ic.RemoteSize() {
			in := []int{0}
			if _, err := comm.Recv(ctx, ic.From(q), in); err != nil {
				return err
			}
			sum += in[0]
		}
		fmt.Printf("new %d of %d beside %d, spawned %v, %s, %s: sum %d\n", w.Rank(), w.Size(), ic.RemoteSize(), w.Spawned(), os.Args[2], os.Getenv("GIVEN"), sum)
		return together(ctx, ic, true)
	}
	ic, err := w.Spawn(ctx, comm.SpawnSpec{N: 2, Args: []string{"spawn", "argument"}, Env: []string{"GIVEN=here"}})
	if err != nil {
		return err
	}
	if w.Spawned() || w.Parent() != nil || ic.Size() != w.Size() || ic.RemoteSize() != 2 || ic.Rank() != w.Rank() {
		return fmt.Errorf("an intercommunicator of %d and %d", ic.Size(), ic.RemoteSize())
	}
	for q := range 2 {
		if err := comm.Send(ctx, ic.To(q), []int{w.Rank() + 1}); err != nil {
			return err
		}
	}
	return together(ctx, ic, false)
}

// spawnAgain starts four processes ten times. Those of the time before are about to end.
func spawnAgain(ctx context.Context, w *comm.Comm) error {
	if parent := w.Parent(); parent != nil {
		return collectives.InterBarrier(ctx, parent)
	}
	for range 10 {
		ic, err := w.Spawn(ctx, comm.SpawnSpec{N: 4, Args: os.Args[1:]})
		if err != nil {
			return err
		}
		if err := collectives.InterBarrier(ctx, ic); err != nil {
			return err
		}
		if err := ic.Free(); err != nil {
			return err
		}
	}
	return nil
}

// spawnTold starts two more processes for each line of a file, or of a pipe, and exchanges messages
// with them. They say who has started them: the daemon of their node.
func spawnTold(ctx context.Context, w *comm.Comm) error {
	if ic := w.Parent(); ic != nil {
		if w.Rank() == 0 {
			fmt.Println("new, of", os.Getppid())
		}
		return between(ctx, ic, true)
	}
	fmt.Println("ready")
	var lines *bufio.Scanner
	if w.Rank() == 0 {
		f, err := os.Open(os.Args[2])
		if err != nil {
			return err
		}
		defer f.Close()
		lines = bufio.NewScanner(f)
	}
	for {
		more := []int{0}
		if w.Rank() == 0 && lines.Scan() {
			more[0] = 1
		}
		if err := collectives.Bcast(ctx, w, 0, more); err != nil || more[0] == 0 {
			return err
		}
		ic, err := w.Spawn(ctx, comm.SpawnSpec{N: 2, Args: []string{"spawn-told"}})
		if err != nil {
			return err
		}
		if err := errors.Join(between(ctx, ic, false), ic.Free()); err != nil {
			return err
		}
	}
}

// between makes the collectives of an intercommunicator.
func between(ctx context.Context, ic *comm.Intercomm, second bool) error {
	if err := collectives.InterBarrier(ctx, ic); err != nil {
		return err
	}
	for _, length := range []int{0, 1, 30_000} {
		mine, sum := make([]int, length), make([]int, length)
		for i := range mine {
			mine[i] = ic.Rank() + i
		}
		if err := collectives.InterAllreduce(ctx, ic, sum, mine, collectives.Sum); err != nil {
			return err
		}
		r := ic.RemoteSize()
		for i := range sum {
			if want := r*(r-1)/2 + r*i; sum[i] != want {
				return fmt.Errorf("a reduction of the other group gave %d, want %d", sum[i], want)
			}
		}
		first, last := []int{7}, make([]int, length)
		if err := broadcasts(ctx, ic, second, first, last); err != nil {
			return err
		}
	}
	if err := collectives.InterBcast(ctx, ic, ic.RemoteSize(), []int{1}); !errors.Is(err, comm.ErrRoot) {
		return fmt.Errorf("a root too large: %w", err)
	}
	err := collectives.InterAllreduce(ctx, ic, make([]int, 2), make([]int, 1), collectives.Sum)
	if !errors.Is(err, comm.ErrLength) {
		return fmt.Errorf("lengths that differ: %w", err)
	}
	return nil
}

// broadcasts sends first from rank 0 of the first group, then last from the last rank of
// the second one.
func broadcasts(ctx context.Context, ic *comm.Intercomm, second bool, first, last []int) error {
	root := 0
	if !second {
		first[0], root = 9, comm.None
		if ic.Rank() == 0 {
			root = collectives.Root
		}
	}
	if err := collectives.InterBcast(ctx, ic, root, first); err != nil || first[0] != 9 {
		return fmt.Errorf("bcast gave %v: %w", first, err)
	}
	root = ic.RemoteSize() - 1
	if second {
		root = comm.None
		if ic.Rank() == ic.Size()-1 {
			root = collectives.Root
			for i := range last {
				last[i] = i + 1
			}
		}
	}
	if err := collectives.InterBcast(ctx, ic, root, last); err != nil || !second && len(last) > 0 && last[len(last)-1] != len(last) {
		return fmt.Errorf("bcast of %d: %w", len(last), err)
	}
	return nil
}

// together merges, and has all take part in a few calls.
func together(ctx context.Context, ic *comm.Intercomm, high bool) error {
	if err := between(ctx, ic, high); err != nil {
		return err
	}
	all, err := ic.Merge(ctx, high)
	if err != nil {
		return err
	}
	one := []int{1}
	if err := collectives.Allreduce(ctx, all, one, one, collectives.Sum); err != nil || one[0] != all.Size() {
		return fmt.Errorf("%d members counted %d: %w", all.Size(), one[0], err)
	}
	big := make([]float64, 100_000)
	for i := range big {
		big[i] = float64(all.Rank())
	}
	if err := collectives.Bcast(ctx, all, all.Size()-1, big); err != nil || big[len(big)-1] != float64(all.Size()-1) {
		return fmt.Errorf("bcast gave %v: %w", big[len(big)-1], err)
	}
	half, err := all.Split(ctx, all.Rank()%2, 0)
	if err != nil {
		return err
	}
	if err := collectives.Barrier(ctx, half); err != nil {
		return err
	}
	return errors.Join(half.Free(), all.Free(), ic.Free())
}

// spawnProgram starts another program, and prints at rank 0 why that fails.
func spawnProgram(ctx context.Context, w *comm.Comm) error {
	_, err := w.Spawn(ctx, comm.SpawnSpec{N: 1, Program: os.Args[2], Args: os.Args[3:]})
	if w.Rank() == 0 {
		fmt.Println(err)
	}
	return collectives.Barrier(ctx, w)
}

// spawnErrors asks for what cannot be: every time the communicator works on, and nothing
// remains.
func spawnErrors(ctx context.Context, w *comm.Comm) error {
	for _, c := range []struct {
		spec comm.SpawnSpec
		is   error
	}{
		{comm.SpawnSpec{}, comm.ErrArgument},
		{comm.SpawnSpec{N: 1000}, comm.ErrNoRoom},
		{comm.SpawnSpec{N: 1, Program: "/no/such/program"}, nil},
		{comm.SpawnSpec{N: 2, Program: "/bin/true"}, nil},
	} {
		ic, err := w.Spawn(ctx, c.spec)
		var e *ulfm.Error
		switch {
		case ic != nil || !errors.As(err, &e) || e.Op != "spawn":
			return fmt.Errorf("%+v: %v, %w", c.spec, ic, err)
		case w.Rank() != 0 && !errors.Is(err, comm.ErrPeerArgument), w.Rank() == 0 && c.is != nil && !errors.Is(err, c.is):
			return fmt.Errorf("%+v: %w", c.spec, err)
		case w.Rank() == 0:
			fmt.Println(err)
		}
		if err := collectives.Barrier(ctx, w); err != nil {
			return err
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Spawn(over, comm.SpawnSpec{N: 1}); !errors.Is(err, comm.ErrNotBegun) {
		return err
	}
	return nil
}

// spawnStress loses a process in each round, another one while it is replaced, and
// always comes back to as many as it began with.
func spawnStress(ctx context.Context, w *comm.Comm) error {
	s := stress{size: 6}
	s.seed, _ = strconv.ParseUint(os.Args[2], 10, 64)
	s.rounds, _ = strconv.ParseUint(os.Args[3], 10, 64)
	c := w
	if ic := w.Parent(); ic != nil {
		all, err := ic.Merge(ctx, true)
		if err != nil {
			return nil // one of those who wanted this process is dead: it leaves, and has not failed
		}
		s.round = ^uint64(0)
		c = s.meet(ctx, all)
	}
	for s.round < s.rounds {
		s.mayDie(c, 0)
		err := error(nil)
		for err == nil { // until the one is dead
			err = collectives.Barrier(ctx, c)
		}
		fine, aerr := c.Agree(ctx, boolWord(err == nil))
		if aerr == nil && fine == 1 && c.Size() == s.size {
			s.round++
			continue
		}
		_ = c.Revoke()
		c = s.restore(ctx, c)
	}
	if c.Rank() == 0 {
		fmt.Printf("done with %d\n", c.Size())
	}
	return nil
}

type stress struct {
	seed, rounds, round uint64
	size                int
}

// restore returns a communicator of as many as at the beginning.
func (s *stress) restore(ctx context.Context, c *comm.Comm) *comm.Comm {
	for try := uint64(1); ; try++ {
		left, err := c.Shrink(ctx)
		if err != nil {
			panic(err)
		}
		_ = c.Free()
		c = left
		s.mayDie(c, try)
		ic, err := c.Spawn(ctx, comm.SpawnSpec{N: s.size - c.Size(), Args: os.Args[1:]})
		if errors.Is(err, comm.ErrNoRoom) {
			panic(err)
		} else if err != nil {
			continue
		}
		all, err := ic.Merge(ctx, false)
		_ = ic.Free()
		if err != nil {
			continue
		}
		return s.meet(ctx, all)
	}
}

// meet tells the new ones which round is over, also if some are dead again.
func (s *stress) meet(ctx context.Context, c *comm.Comm) *comm.Comm {
	round, err := c.Agree(ctx, s.round)
	if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
		panic(err)
	}
	if s.round = round; err != nil {
		return s.restore(ctx, c)
	}
	s.round++
	return c
}

// mayDie has one member end itself a little later: all know which.
func (s *stress) mayDie(c *comm.Comm, try uint64) {
	r := rand.New(rand.NewPCG(s.seed, s.round<<8|try))
	victim, after := r.IntN(c.Size()), time.Duration(r.IntN(8000))*time.Microsecond
	if try > 1 || c.Rank() != victim {
		return
	}
	time.AfterFunc(after, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
}

func boolWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
