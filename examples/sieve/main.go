// Sieve finds the primes below a number with a sieve of Eratosthenes that lies in the memory of all
// ranks, by package shmem. Ranks may be killed on the way: the others copy the marks of the dead
// out of their memory, and continue. In the end no prime is missing and none is too many.
//
//	goulfm run -n 4 ./examples/sieve
//	goulfm run -n 4 --kill 1@factor=5 --kill 0@factor=20 ./examples/sieve
//	goulfm run -n 4 ./examples/sieve -below 100000000      # kill -9 some of its processes
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/comm"
)

func main() {
	below := flag.Int("below", 2_000_000, "the primes below this number are found")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS sieve [flags]\nAll ranks fill one sieve.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *below < 2 || *below > 1<<32 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "sieve: want -below of 2 to 2^32 and no other argument (-h for help)")
		os.Exit(2)
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		return run(ctx, w, *below, func(r result) {
			fmt.Printf("sieve: %d primes below %d, %d ranks of %d, %d repairs\n", r.primes, *below, r.ranks, w.Size(), r.repairs)
		})
	})
}
