// Compare measures goulfm beside MPI libraries and prints the ratio of their figures.
//
//	MPICC=mpicc MPIRUN="mpirun --oversubscribe" go run ./bench/compare -quick
//	GOULFM_PEERS=peers.json go run ./bench/compare -only p2p,coll -n 2,8
//	GOULFM_PEERS=peers.json go run ./bench/compare -only collectives -verbs gather,scan -n 8
//
// A machine can change its speed from one minute to the next, so a ratio of figures from different
// minutes means nothing. Here goulfm and each peer take turns, A B A B, for some batches each time.
// Each turn of goulfm is divided by the peer's turn of the same round, and the ratio is the median
// of the rounds.
//
// The table is printed to the terminal and written to RESULTS.md and results.json. Rows that a run
// did not measure stay there. Without a peer, compare prints a notice and exits with 0. Whether a
// change made goulfm slower is a question for bench/ab, which needs no peer.
//
// # Suites
//
// The flag -only chooses suites:
//
//   - p2p
//   - coll: barrier, bcast, allreduce
//   - collectives: all other collectives, from 8 B to 4 MiB
//   - ulfm: the costs of a failure
//   - start
//   - tcp: p2p, coll and ulfm between nodes of one rank each, over this machine's loopback, in the
//     clear (--secure auth) and encrypted (goulfm-tls)
//   - rma: one-sided operations between two ranks
//
// In the suite collectives each collective has a row for every size, and a row of the median over
// the sizes, with the suffix _median. The unit of this row is the time of goulfm, so a peer's
// figure is how many times as long the peer takes.
//
// In rma the operations are those of bench/measure/rma that MPI or OpenSHMEM has, and a row is
// named rma_ and the operation. Peers access windows of MPI_Win_allocate, for own_put and own_get
// of MPI_Win_create, and flush after each access. rma_bulk is goulfm's window with Bulk beside the
// peer's accumulate. In rma_busy the peer's target computes 20 ms at a time and calls its library
// in between; goulfm's target calls nothing. A peer's program checks the data that it has put, got
// or added, also when two ranks add at once. A row with wrong data lacks the peer, with a note.
//
// # Peers
//
// The file that -peers or GOULFM_PEERS names is a JSON list:
//
//	[{"name": "openmpi",
//	  "version": "mpirun --version | head -1",
//	  "compile": "mpicc -O2 -o {out} {src}",
//	  "run":     "mpirun --oversubscribe {ft} {tcp} -n {n} {prog} {args}",
//	  "ft":      "--with-ft ulfm",
//	  "tcp":     "--mca btl tcp,self",
//	  "shmem":   "oshcc -O2 -o {out} {src}",
//	  "cgo":     "CGO_ENABLED=1 CC=mpicc go build -tags mpi -o {out} {pkg}",
//	  "dir":     "/srv/debian/tmp/bench", "inside": "/tmp/bench",
//	  "max_n":   {"coll": 2}}]
//
// Commands are run by sh. Only name, compile and run are needed.
//
//   - ft replaces {ft} for the program that kills a rank, and nothing does for the others.
//   - tcp replaces {tcp} for the suite of that name. A peer without tcp takes no part in this
//     suite.
//   - shmem compiles the program of OpenSHMEM, which also uses MPI. Without shmem a peer lacks the
//     rows rma_shmem_.
//   - cgo makes the Go twin of p2p.
//   - dir and inside are for a peer in a folder of its own (chroot). Sources and programs are
//     copied to dir, and inside is the name of dir in the chroot. compile and run use names inside;
//     cgo, which runs here, uses names outside.
//   - max_n bounds the ranks for a suite; the bound of coll also holds for collectives. 0 leaves
//     out the suite: some libraries fail with more ranks than cores.
//
// The first peer is the reference for the targets.
//
// A single peer is simply -peer NAME=MPICC:MPIRUN, or MPICC and MPIRUN in the environment: compare
// then runs "MPIRUN -n N program".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
)

type options struct {
	quick     bool
	only      []string
	verbs     []string // of the suite of all collectives
	counts    []int
	rounds    int
	limit     time.Duration
	peersFile string
	peers     []spec // from -peer
	dir       string // folder of the results, "" for the module's
}

func main() {
	o, err := parse(os.Args[1:], os.Getenv)
	cli.Check("compare", err)
	cli.Run("compare", func(ctx context.Context) error { return run(ctx, o, os.Stdout, os.Stderr) })
}

func parse(args []string, env func(string) string) (options, error) {
	o := options{}
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.BoolVar(&o.quick, "quick", false, "fewer and shorter rounds")
	only := fs.String("only", strings.Join(suites, ","), "suites, with commas")
	chosenVerbs := fs.String("verbs", strings.Join(verbs, ","), "collectives of the suite "+everyColl+", with commas")
	counts := fs.String("n", "2,8,16,64", "numbers of ranks, with commas; p2p and rma have always 2")
	fs.IntVar(&o.rounds, "rounds", 0, "turns of each library; 0 for 11, or 3 with -quick")
	fs.DurationVar(&o.limit, "limit", time.Minute, "for one job: a peer that takes longer is left out of the rows concerned")
	fs.StringVar(&o.peersFile, "peers", env("GOULFM_PEERS"), "file that describes the peers (default $GOULFM_PEERS)")
	fs.StringVar(&o.dir, "dir", "", "folder of RESULTS.md and results.json (default bench)")
	fs.Func("peer", "NAME=MPICC:MPIRUN, another peer; may be repeated", func(s string) error {
		p, err := parsePeer(s)
		o.peers = append(o.peers, p)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if cc, run := env("MPICC"), env("MPIRUN"); cc != "" && run != "" {
		o.peers = append(o.peers, simple("mpi", cc, run))
	}
	if o.rounds == 0 {
		o.rounds = 11
		if o.quick {
			o.rounds = 3
		}
	}
	var err error
	if o.counts, err = job.Counts(*counts, 2); err != nil {
		return o, err
	}
	if o.only, err = choose("suite", suites, *only); err != nil {
		return o, err
	}
	if o.verbs, err = choose("collective", verbs, *chosenVerbs); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.limit <= 0 || fs.NArg() > 0 {
		return o, errors.New("want -rounds from 1 up, -limit above 0, no other argument")
	}
	return o, nil
}

// choose parses a list of some of all names.
func choose(what string, all []string, list string) ([]string, error) {
	want := strings.Split(list, ",")
	for _, s := range want {
		if !slices.Contains(all, s) {
			return nil, fmt.Errorf("no %s %q; there are %s", what, s, strings.Join(all, ", "))
		}
	}
	return want, nil
}

// run measures, prints and writes.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	specs, err := o.specs()
	if err != nil {
		return err
	}
	if len(specs) == 0 {
		_, err := fmt.Fprintln(out, "compare: no peer to compare with: set MPICC and MPIRUN, or GOULFM_PEERS (go doc ./bench/compare)")
		return err
	}
	root, err := job.Root(ctx)
	if err != nil {
		return err
	}
	if o.dir == "" {
		o.dir = filepath.Join(root, "bench")
	}
	d := &driver{options: o, root: root, progress: progress}
	defer d.close()
	if err := d.prepare(ctx, specs); err != nil {
		return err
	}
	if !d.someoneToCompareWith() {
		_, err := fmt.Fprintln(out, "compare: none of the peers can run any of this:", strings.Join(d.notes, "; "))
		return err
	}
	return d.compareAll(ctx, out)
}

func (d *driver) compareAll(ctx context.Context, out io.Writer) error {
	now, err := d.measureAll(ctx, tasks(d.options))
	if err != nil {
		return err
	}
	if err := now.print(out); err != nil {
		return err
	}
	old, err := load(d.dir)
	if err != nil {
		return err
	}
	old.add(now)
	return old.save(d.dir)
}
