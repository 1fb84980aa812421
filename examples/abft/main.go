// Abft multiplies two matrices without a copy of any data: the block of a dead rank is computed
// from checksums.
//
// Each rank has a block of columns of C = A*B, except the last rank, which has the sum of all the
// other blocks: B is summed before, and the product is linear. So any one block is the sum less the
// others, after each step, without a checkpoint and without a second computation. In addition, each
// block has a row with the sums of its columns and a column with the sums of its rows (Huang and
// Abraham, 1984). An entry with a flipped bit is where a row and a column have wrong sums, and is
// corrected from either.
//
//	goulfm run -n 4 ./examples/abft
//	goulfm run -n 4 --kill 1@step=7 ./examples/abft           # a block, from checksums
//	goulfm run -n 4 --kill 3@step=7 ./examples/abft           # the checksums, from blocks
//	goulfm run -n 4 --kill 2@300ms ./examples/abft -flip 3    # and a bit flips in each third step
//	goulfm run -n 4 --kill 1@step=7 --kill 2@rebuild=1 ./examples/abft
//
// With the last line two blocks are lost. One sum is not enough for them, so these two are computed
// from the beginning. The result is always the same, and is compared with the product, which is
// known. Entries are integers, so that sums are exact and an error in any bit is detected. With
// floating-point numbers sums are compared, and blocks restored, up to rounding errors.
//
// Read block.go for the checksums and multiply.go for the parallel program. Points for fault plans:
// step=K, rebuild=1, report=1, and those of package recovery.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/goulfm/goulfm/recovery"
)

func main() {
	p := &process{out: os.Stdout}
	flip := flag.Int("flip", 0, "steps between two flips of a bit of C; 0 for none")
	flag.IntVar(&p.n, "n", 900, "rows and columns of the matrices")
	flag.IntVar(&p.steps, "steps", 12, "steps, each with as many columns of A as the others")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS abft [flags]\n"+
			"Matrix product whose checksums survive the loss of a rank, and flipped bits; at least two ranks.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if p.n < 1 || p.steps < 1 || *flip < 0 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "abft: want -n and -steps of at least 1, -flip not negative, and no other argument (-h for help)")
		os.Exit(2)
	}
	p.spoil = flipEach(*flip)
	// This program commits nothing, so recovery sees no progress between deaths although there is
	// some.
	recovery.Main(recovery.Config{Tries: 1000}, p.run)
}

// flipEach flips a bit after each step whose number is a multiple of every, each time at another
// rank. The bit is random, and the same in each run.
func flipEach(every int) func(rank, size, step int, c []int64) {
	return func(rank, size, step int, c []int64) {
		if every == 0 || step%every > 0 || step/every%size != rank {
			return
		}
		rng := rand.New(rand.NewPCG(1984, uint64(step)))
		c[rng.IntN(len(c))] ^= 1 << rng.IntN(64)
	}
}
