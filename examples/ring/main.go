// Ring sends a token round all ranks; each adds its number to the token.
//
//	goulfm run -n 8 ./examples/ring
//	goulfm run -n 64 ./examples/ring -laps 100
//
// The program does not handle failures. If a rank is killed on the way (--kill 3@lap=50), the rank
// behind it gets an error that names the dead rank.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

func main() {
	laps := flag.Int("laps", 1, "number of laps of the token")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS ring [flags]\nA token visits all ranks in turn.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *laps < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "ring: -laps must be at least 1, no other argument (-h for help)")
		os.Exit(2)
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		start := time.Now()
		sum, err := ring(ctx, w, *laps)
		if err != nil {
			return err
		}
		if want := *laps * w.Size() * (w.Size() - 1) / 2; w.Rank() == 0 && sum != want {
			return fmt.Errorf("ring: the token came back with %d, expected %d", sum, want)
		}
		if w.Rank() == 0 {
			w.Mark("report", 1)
			fmt.Printf("ring: %d ranks, %d laps, sum %d, %v\n", w.Size(), *laps, sum, time.Since(start).Round(time.Microsecond))
		}
		return collectives.Barrier(ctx, w) // all end well only if the line is out
	})
}

// ring returns the sum that the token has gathered; at ranks other than 0, up to that rank.
func ring(ctx context.Context, w *comm.Comm, laps int) (int, error) {
	me, n := w.Rank(), w.Size()
	next, prev := w.To((me+1)%n), w.From((me+n-1)%n)
	token, back := []int{0}, []int{0}
	for lap := 1; lap <= laps; lap++ {
		w.Mark("lap", lap)
		if me == 0 {
			// Send and receive in one: with a single rank both ends are ours.
			if _, err := comm.SendRecv(ctx, next, token, prev, back); err != nil {
				return 0, err
			}
			token[0] = back[0] + me
			continue
		}
		if _, err := comm.Recv(ctx, prev, token); err != nil {
			return 0, err
		}
		token[0] += me
		if err := comm.Send(ctx, next, token); err != nil {
			return 0, err
		}
	}
	return token[0], nil
}
