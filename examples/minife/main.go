// Minife is a small finite-element program: heat in a box, by implicit steps and conjugate
// gradients.
//
// The box is cut into trilinear elements; each rank has a block of planes of nodes and assembles
// its rows of the matrix. The solution is known at every node, so the result is checked exactly, on
// any mesh. When ranks die, only the new processes assemble their rows: the matrix of a survivor
// outlives the attempt (type process). Only the temperature returns to the last commit.
//
//	goulfm run -n 8 ./examples/minife
//	goulfm run -n 8 --kill 3@cg=20 --kill 0@repair.replace=1 ./examples/minife
//	goulfm run -n 8 ./examples/minife -agree each         # all ranks agree in each iteration whether it is the last one
//
// Read mesh.go for the matrix and solve.go for the parallel program. Points for fault plans:
// assemble=1, step=K, cg=K in the K-th iteration of any step, report=1, and those of package
// recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/recovery"
)

func main() {
	p := &process{out: os.Stdout}
	var cfg recovery.Config
	flag.IntVar(&p.box.nx, "nx", 24, "elements in x")
	flag.IntVar(&p.box.ny, "ny", 24, "elements in y")
	flag.IntVar(&p.box.nz, "nz", 48, "elements in z; at least the number of ranks, less one")
	flag.IntVar(&p.steps, "steps", 20, "time steps")
	flag.IntVar(&cfg.Every, "every", 0, "steps between two commits; 0 for as often as it pays")
	flag.DurationVar(&cfg.MTBF, "mtbf", 0, "mean time between failures for which -every 0 finds how often it pays; 0: one hour")
	agree := flag.String("agree", "", "each: all ranks agree after each iteration whether to go on, as in LFLR")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS minife [flags]\n"+
			"Heat in a box by finite elements; survives the loss of ranks.")
		flag.PrintDefaults()
	}
	flag.Parse()
	p.agree = *agree == "each"
	if min(p.box.nx, p.box.ny, p.box.nz, p.steps) < 1 || min(cfg.Every, int(cfg.MTBF)) < 0 || *agree != "" && !p.agree || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "minife: want numbers of at least 1, -every and -mtbf from 0 up, -agree each, and no other argument (-h for help)")
		os.Exit(2)
	}
	recovery.Main(cfg, func(ctx context.Context, w *recovery.World) error {
		if w.Size() > p.box.planes() {
			return fmt.Errorf("minife: %d ranks need at least as many planes: give -nz %d or more", w.Size(), w.Size()-1)
		}
		return p.run(ctx, w)
	})
}
