// Graph500 searches graphs of the Graph500 benchmark breadth first, or finds shortest paths in
// them, validates every search, and continues when ranks are killed on the way.
//
//	goulfm run -n 4 ./bench/graph500 -scale 16
//	goulfm run -n 8 --kill 3@level=2 ./bench/graph500 -scale 16 -roots 4 -variant hybrid
//	goulfm run -n 4 --kill 2@bucket=3 ./bench/graph500 -kernel 3
//	go run ./bench/graph500 -check           # against known values; minutes for large scales
//	go run ./bench/graph500 -searches 1000   # searches of which each loses a rank
//
// Variants of kernel 2 (-variant):
//
//	claim      each vertex has a word in the memory of its rank; the first finder puts its level
//	           and its parent there by compare-and-swap
//	hybrid     claim while a level has few vertices; when it has many, the vertices that were not
//	           found search for the level in bitmaps
//	simple     messages of 256 pairs of vertices, like the reference of that name
//	packed     messages of 32 KiB of pairs of 4 bytes, like the reference 3.0
//	onesided   accumulated minima and bits in windows; onesided-shmem: in a symmetric heap
//
// A search by claim or hybrid that has lost a rank is resumed at the lowest level that some rank
// had not finished, and keeps the vertices that were found. A search by another variant begins
// again. Kernel 3 checks all reached vertices again. The graph is not made again: the living take
// over the parts of the dead.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// options are the values of the flags.
type options struct {
	trial.Flags
	scale, roots, kernel, ranks int
	variant                     string
	check                       bool
	json                        bool
	searches                    int
}

func main() {
	trial.Program[options]{Name: "graph500", Parse: parse, Rank: beRank, Drive: drive}.Main(os.Args[1:])
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("graph500", "usage: goulfm run -n RANKS graph500 [flags], or graph500 -searches N [flags]\n"+
		"Searches a graph of the Graph500 benchmark; with -searches, jobs of such searches whose ranks are killed.", out)
	fs.IntVar(&o.scale, "scale", 14, "the graph has 2^scale vertices, and 16 edges for each; of -check: the largest")
	fs.IntVar(&o.roots, "roots", 64, "how many searches")
	fs.IntVar(&o.kernel, "kernel", 2, "2: breadth-first search; 3: shortest paths")
	fs.StringVar(&o.variant, "variant", "claim", "how kernel 2 searches: "+strings.Join(slices.Sorted(maps.Keys(variants)), ", "))
	fs.BoolVar(&o.check, "check", false, "compare with the values that are known, of all scales up to -scale, and of all variants")
	fs.BoolVar(&o.json, "json", false, "print how long each search and each validation took, as lines of JSON for programs")
	fs.IntVar(&o.searches, "searches", 0, "run so many searches by jobs of their own, each of which loses a rank")
	fs.Bool("rank", false, "be a rank of a job; so it is without -searches, too")
	fs.IntVar(&o.ranks, "n", 6, "of -searches: ranks of a job")
	o.Register(fs, "jobs", 1000)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	_, known := variants[o.variant]
	switch {
	case o.scale < 4 || o.scale > 30 || o.roots < 1 || o.roots > 64 || fs.NArg() > 0:
		return o, fmt.Errorf("want -scale of 4 to 30, -roots of 1 to 64, and no other argument (-h for help)")
	case o.kernel != 2 && o.kernel != 3:
		return o, fmt.Errorf("want -kernel 2 or 3 (-h for help)")
	case !known:
		return o, fmt.Errorf("there is no variant %q (-h for help)", o.variant)
	case o.searches < 0 || o.ranks < 2:
		return o, fmt.Errorf("want -searches from 0 and -n from 2 up (-h for help)")
	}
	return o, o.Check()
}

// beRank is the program of a rank.
func beRank(o options) bool {
	if o.searches > 0 {
		return false
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		if o.check {
			return check(ctx, w, o.scale)
		}
		r, err := run(ctx, w, o)
		if err != nil || !r.first {
			return err
		}
		if o.json {
			return r.printRecords(os.Stdout, o, w.Size())
		}
		r.print(os.Stdout, o, w.Size())
		return nil
	})
	return true
}
