// Hashtable lets all ranks insert keys into one table that lies in the memory of all of them. Ranks
// may be killed on the way: the others take over their part of the table and their part of the
// work, and in the end every key is there.
//
//	goulfm run -n 4 ./examples/hashtable
//	goulfm run -n 4 --kill 1@batch=20 --kill 3@batch=60 ./examples/hashtable
//	goulfm run -n 8 ./examples/hashtable -keys 20000000      # kill -9 some of its processes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

func main() {
	keys := flag.Int("keys", 400_000, "how many keys the table gets")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS hashtable [flags]\nAll ranks fill one table.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *keys < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "hashtable: want -keys of at least 1 and no other argument (-h for help)")
		os.Exit(2)
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		return run(ctx, w, *keys, func(r result) {
			fmt.Printf("hashtable: %d keys, %d ranks of %d, %d repairs: all there\n", *keys, r.ranks, w.Size(), r.repairs)
		})
	})
}

// result is the outcome of a run.
type result struct {
	ranks, repairs int // ranks that are left; repairs that were made
}

// run fills a table, repairs it as often as needed, checks it, and prints the result at one rank.
func run(ctx context.Context, w *comm.Comm, keys int, print func(result)) (err error) {
	var r result
	// Room for twice as many keys, and at least some, so that no part is full.
	t, err := newTable(ctx, w, 2*keys/w.Size()+64)
	for comm.Recoverable(err) {
		if w, err = w.Shrink(ctx); err != nil {
			return err
		}
		t, err = newTable(ctx, w, 2*keys/w.Size()+64)
	}
	if err != nil {
		return err
	}
	for {
		work := fill(ctx, t, keys)
		if work == nil {
			work = check(ctx, t, keys)
		}
		ok, err := t.c.AllOK(ctx, work)
		if ok {
			r.ranks = t.c.Size()
			if err := report(ctx, t.c, func() { print(r) }); err != nil {
				return err
			}
			return t.free()
		}
		if err := errors.Join(err, work); err != nil && !comm.Recoverable(err) {
			return err
		}
		if t, err = repair(ctx, t); err != nil {
			return err
		}
		r.repairs++
	}
}

// report prints the result at rank 0 and ends in an agreement: if rank 0 dies before it has
// printed, the next rank 0 prints. A line twice is better than none.
func report(ctx context.Context, c *comm.Comm, print func()) error {
	for printed := false; ; {
		if c.Rank() == 0 && !printed {
			c.Mark("report", 1)
			print()
			printed = true
		}
		_, err := c.AllOK(ctx, nil)
		if err == nil || !comm.Recoverable(err) {
			return err
		}
		if c, err = c.Shrink(ctx); err != nil {
			return err
		}
	}
}

// repair makes a new table among the living ranks, until no rank has died in the meantime.
func repair(ctx context.Context, t *table) (*table, error) {
	for try := 1; ; try++ {
		left, err := t.c.Shrink(ctx)
		if err != nil {
			return nil, err
		}
		left.Mark("repair", try)
		n, failure := t.repaired(ctx, left)
		ok, err := left.AllOK(ctx, failure)
		switch {
		case ok:
			return n, t.free()
		case err != nil && !comm.Recoverable(err):
			return nil, err
		case failure != nil && !comm.Recoverable(failure):
			return nil, failure
		case failure == nil:
			err = n.free()
		}
		if err != nil && !comm.Recoverable(err) {
			return nil, err
		}
	}
}

// batches is the number of parts of a rank's keys, with a mark before each.
const batches = 100

// fill inserts this rank's part of the keys. Keys that are present from before a repair stay.
func fill(ctx context.Context, t *table, keys int) error {
	lo, hi := comm.Block(keys, t.c.Size(), t.c.Rank())
	for b := range batches {
		t.c.Mark("batch", b)
		from, to := comm.Block(hi-lo, batches, b)
		for k := lo + from; k < lo+to; k++ {
			if err := t.insert(ctx, uint64(k)); err != nil {
				return err
			}
		}
	}
	return collectives.Barrier(ctx, t.c)
}

var errWrong = errors.New("the table is wrong")

// check counts the keys in the memory of all ranks, and checks that a sample of them is present.
func check(ctx context.Context, t *table, keys int) error {
	count := [2]uint64{} // keys, and their sum
	t.mine(func(key uint64) {
		count[0]++
		count[1] += key
	})
	if err := collectives.Allreduce(ctx, t.c, count[:], count[:], collectives.Sum); err != nil {
		return err
	}
	n := uint64(keys)
	if count[0] != n || count[1] != n*(n-1)/2 {
		return fmt.Errorf("%w: %d keys of %d, sum %d", errWrong, count[0], n, count[1])
	}
	for k := t.c.Rank(); k < keys; k += 97 * t.c.Size() {
		if there, err := t.has(ctx, uint64(k)); err != nil || !there {
			return errors.Join(err, fmt.Errorf("%w: key %d is not there", errWrong, k))
		}
	}
	return nil
}
