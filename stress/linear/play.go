package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/rma"
)

// Cells: element i of rank r is r*cells+i. The last one is a pair under the lock of the rank.
const (
	cells      = 3
	pairCell   = cells - 1
	goroutines = 2
	stride     = 7 // words between two elements: none shares a word's neighbours
)

const failed = math.MaxUint64

// verdict is the result of the judge.
type verdict struct {
	judged                   bool // by this rank
	operations, open, failed int
}

// A script is the parameters of a history.
type script struct {
	home  home
	seed  uint64
	calls int    // of a goroutine
	dir   string // of the journals
	die   func()
}

// player is one process.
type player struct {
	script
	w    *rma.Win[uint64]
	log  journal
	done atomic.Int64 // operations of this process
}

// play makes the calls of this process, kills it if it is the victim, and lets one of the survivors
// judge the history.
func play(ctx context.Context, c *comm.Comm, s script) (v verdict, err error) {
	p := &player{script: s}
	if p.w, err = s.home.window(ctx, c, cells*stride+1); err != nil {
		return v, err
	}
	if p.log, err = newJournal(s.dir, c.Rank(), goroutines*s.calls*recordWords); err != nil {
		return v, err
	}
	// All processes begin together. The agreement is not replaced by a fence: a fence may fail at a
	// process that is still in it when the victim has left it and dies.
	if _, err := p.w.Comm().Agree(ctx, 1); err != nil {
		return v, err
	}
	r := rand.New(rand.NewPCG(s.seed, 0))
	victim, moment := r.IntN(c.Size()), 1+r.Int64N(int64(goroutines*s.calls))
	var all sync.WaitGroup
	errs := make([]error, goroutines)
	for k := range goroutines {
		all.Go(func() { errs[k] = p.work(ctx, k) })
	}
	if c.Rank() == victim {
		for p.done.Load() < moment {
			time.Sleep(time.Microsecond) // a separate thread, so that both goroutines are in the middle of a call
		}
		s.die()
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return v, err
	}
	if _, err := p.w.Comm().Agree(ctx, 1); err != nil && !comm.Recoverable(err) {
		return v, err
	}
	left, err := c.Shrink(ctx)
	if err != nil {
		return v, err
	}
	if left.Rank() == 0 {
		v, err = p.judge(ctx)
	}
	if err := collectives.Barrier(ctx, left); err != nil {
		return v, err
	}
	return v, errors.Join(err, p.w.Free(), p.log.close())
}

// now is a clock that all processes share.
func now() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // the clock always exists
	return uint64(t.Nano())
}

// work makes the calls of a goroutine and records them.
func (p *player) work(ctx context.Context, k int) error {
	me := p.w.Comm().Rank()
	r := rand.New(rand.NewPCG(p.seed, uint64(1+goroutines*me+k)))
	for i := range p.calls {
		c := draw(r, p.w.Comm().Size())
		at := (k*p.calls + i) * recordWords
		p.log.note(at, uint64(c.Kind), c.Cell, c.A, c.B, now())
		a, err := p.make(ctx, &c)
		if err != nil && !errors.Is(err, comm.ErrProcFailed) {
			return err
		}
		returned := now()
		if err != nil {
			returned = failed
		}
		p.log.note(at, uint64(c.Kind))
		p.log.note(at+atX, a.X, a.Y, returned)
		p.done.Add(1)
	}
	return nil
}

// draw draws a random operation. There are few values, so that a compare-and-swap often finds the
// value that it expects.
func draw(r *rand.Rand, ranks int) call {
	c := call{Cell: uint64(r.IntN(ranks)*cells + r.IntN(cells)), A: uint64(r.IntN(4)), B: uint64(r.IntN(4))}
	if c.Cell%cells == pairCell {
		c.Kind, c.A = read, r.Uint64()
		if r.IntN(3) > 0 {
			c.Kind = write
		}
		return c
	}
	c.Kind = load + kind(r.IntN(int(cas)))
	return c
}

// make makes a call. A write may turn out to be a mend.
func (p *player) make(ctx context.Context, c *call) (a answer, err error) {
	to, at := p.w.At(int(c.Cell)/cells), int(c.Cell%cells)*stride
	switch c.Kind {
	case load:
		a.X, err = to.Load(ctx, at)
	case store:
		if err = to.Store(ctx, at, c.A); err == nil {
			err = to.Flush(ctx) // a store that is sent has not arrived yet
		}
	case add:
		a.X, err = to.FetchAndOp(ctx, at, c.A, collectives.Sum)
	case swap:
		a.X, err = to.FetchAndOp(ctx, at, c.A, collectives.Replace)
	case cas:
		a.X, _, err = to.CompareAndSwap(ctx, at, c.A, c.B)
	default:
		return p.locked(ctx, to, at, c)
	}
	return a, err
}

// locked reads or writes a pair, under the lock of its rank. A lock that a dead process has held is
// mended first: then a read is a write, too.
func (p *player) locked(ctx context.Context, to rma.Target[uint64], at int, c *call) (a answer, err error) {
	mode := rma.LockExclusive
	if c.Kind == read {
		mode = rma.LockShared
	}
	if err = to.Lock(ctx, mode); errors.Is(err, comm.ErrProcFailed) {
		c.Kind = mend
		err = to.Lock(ctx, rma.LockMend)
	}
	if err != nil {
		return a, err
	}
	pair := make([]uint64, 2)
	err = to.Get(ctx, at, pair)
	for k := 0; k < 2 && err == nil && c.Kind != read; k++ {
		err = to.Put(ctx, at+k, []uint64{c.A})
	}
	if e := to.Unlock(ctx); err == nil {
		err = e
	}
	return answer{X: pair[0], Y: pair[1]}, err
}

// judge reads the journals of all processes, and the last values, and returns an error unless they
// are linearizable.
func (p *player) judge(ctx context.Context) (v verdict, err error) {
	history, v, err := p.history(ctx)
	if err != nil {
		return v, err
	}
	for _, part := range model.Partition(history) {
		if res := porcupine.CheckOperationsTimeout(model, part, 20*time.Second); res != porcupine.Ok {
			return v, trial.Broken("%s: %d operations\n%s", res, len(part), describe(part))
		}
	}
	v.judged = true
	return v, nil
}

func (p *player) history(ctx context.Context) (history []porcupine.Operation, v verdict, err error) {
	n := p.w.Comm().Size()
	for rank := range n {
		log, err := readJournal(p.dir, rank)
		if err != nil {
			return nil, v, err
		}
		told := map[[2]int]bool{} // which goroutines know of the death of a rank
		for i := 0; i < len(log); i += recordWords {
			record := log[i : i+recordWords]
			if record[atCalled] == 0 {
				continue
			}
			v.operations++
			client := goroutines*rank + i/recordWords/p.calls
			switch record[atReturned] {
			case 0:
				v.open++
			case failed:
				v.failed++
				know := [2]int{client, int(record[atCell]) / cells}
				if told[know] {
					continue // W3: the operation has had no effect
				}
				told[know] = true
			}
			history = append(history, operationOf(record, client))
		}
		last, err := p.last(ctx, rank)
		if err != nil {
			return nil, v, err
		}
		if last == nil {
			continue
		}
		for i := range pairCell { // of a pair whose lock is broken half may be written
			history = append(history, porcupine.Operation{
				ClientId: goroutines * n, Input: call{Kind: load, Cell: uint64(rank*cells + i)}, Call: math.MaxInt64 - 2, Return: math.MaxInt64 - 1,
				Output: answer{known: true, X: last[i*stride]},
			})
		}
	}
	return history, v, nil
}

// last returns the last values of the elements of a rank; nil if they were lost with the rank.
func (p *player) last(ctx context.Context, rank int) ([]uint64, error) {
	last := make([]uint64, p.w.Len(rank))
	err := p.w.Salvage(rank, 0, last)
	if errors.Is(err, comm.ErrUnsupported) {
		err = p.w.At(rank).Get(ctx, 0, last)
	}
	if errors.Is(err, comm.ErrProcFailed) {
		return nil, nil
	}
	return last, err
}

// operationOf returns a record in the form of the judge. An operation that is open, or has failed,
// may take effect after all others, as if it never had.
func operationOf(record []uint64, client int) porcupine.Operation {
	c := call{kind(record[atKind]), record[atCell], record[atA], record[atB]}
	op := porcupine.Operation{ClientId: client, Input: c, Call: int64(record[atCalled]), Output: answer{}, Return: math.MaxInt64}
	if returned := record[atReturned]; returned != 0 && returned != failed {
		op.Return = int64(returned)
		op.Output = answer{known: true, X: record[atX], Y: record[atY], inPair: c.Cell%cells == pairCell}
	}
	return op
}

// describe returns a history as text for a person to read.
func describe(history []porcupine.Operation) (text string) {
	history = slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, op := range history {
		text += fmt.Sprintf("%d: %d to %d: %s\n", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
	}
	return text
}
