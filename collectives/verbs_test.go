package collectives_test

import (
	"context"
	"flag"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// longRun makes tests try all there is, and not a sample.
var longRun = flag.Bool("long", false, "try every size, victim and step")

// A verb is a collective as tests of failures call it: with length elements per rank, and rank 0 as
// the root if there is one. A wrong result is an error, too.
type verb struct {
	name string
	// synchronizes: nobody can succeed unless everybody has entered.
	synchronizes bool
	call         func(ctx context.Context, w *comm.Comm, length int) error
}

var verbs = []verb{
	{"barrier", true, func(ctx context.Context, w *comm.Comm, _ int) error { return collectives.Barrier(ctx, w) }},
	{"bcast", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Bcast(ctx, w, 0, make([]int, length))
	}},
	{"bcast_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		v := make([]int, length)
		return collectives.BcastValue(ctx, w, 0, &v)
	}},
	{"reduce", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Reduce(ctx, w, 0, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"allreduce", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Allreduce(ctx, w, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"gather", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Gather(ctx, w, 0, make([]int, length*w.Size()), make([]int, length))
	}},
	{"gather_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.GatherValue(ctx, w, 0, make([]int, length))
		return err
	}},
	{"reduce_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.ReduceValue(ctx, w, 0, make([]int, length), func(a, _ []int) []int { return a })
		return err
	}},
	{"scatter_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.ScatterValue(ctx, w, 0, make([][]int, w.Size()))
		return err
	}},
	{"allgather_value", true, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.AllgatherValue(ctx, w, make([]int, length))
		return err
	}},
	{"alltoall_value", true, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.AlltoallValue(ctx, w, slices.Repeat([][]int{make([]int, length)}, w.Size()))
		return err
	}},
	{"scatter", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Scatter(ctx, w, 0, make([]int, length), make([]int, length*w.Size()))
	}},
	{"allgather", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Allgather(ctx, w, make([]int, length*w.Size()), make([]int, length))
	}},
	{"alltoall", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Alltoall(ctx, w, make([]int, length*w.Size()), make([]int, length*w.Size()))
	}},
	{"gatherv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return collectives.Gatherv(ctx, w, 0, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, counts[w.Rank()]))
	}},
	{"scatterv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return collectives.Scatterv(ctx, w, 0, make([]int, counts[w.Rank()]), make([]int, total), collectives.Blocks{Counts: counts})
	}},
	{"allgatherv", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return collectives.Allgatherv(ctx, w, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, counts[w.Rank()]))
	}},
	{"alltoallv", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		mine := slices.Repeat(counts[w.Rank():w.Rank()+1], w.Size())
		return collectives.Alltoallv(ctx, w, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, w.Size()*mine[0]), collectives.Blocks{Counts: mine})
	}},
	{"reduce_scatter_block", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.ReduceScatterBlock(ctx, w, make([]int, length), make([]int, length*w.Size()), collectives.Sum)
	}},
	{"reduce_scatter", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return collectives.ReduceScatter(ctx, w, make([]int, counts[w.Rank()]), make([]int, total), counts, collectives.Sum)
	}},
	{"scan", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Scan(ctx, w, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"exscan", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Exscan(ctx, w, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"reduce_loc", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.ReduceLoc(ctx, w, 0, make([]collectives.Loc[int], length), make([]collectives.Loc[int], length), collectives.MaxLoc)
	}},
	{"allreduce_loc", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.AllreduceLoc(ctx, w, make([]collectives.Loc[int], length), make([]collectives.Loc[int], length), collectives.MinLoc)
	}},
	{"neighbor_allgather", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		return collectives.NeighborAllgatherOn(ctx, w, in, out, make([]int, length*len(in)), make([]int, length))
	}},
	{"neighbor_allgatherv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		return collectives.NeighborAllgathervOn(ctx, w, in, out, make([]int, length*len(in)), collectives.Blocks{Counts: slices.Repeat([]int{length}, len(in))}, make([]int, length))
	}},
	{"neighbor_alltoall", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		return collectives.NeighborAlltoallOn(ctx, w, in, out, make([]int, length*len(in)), make([]int, length*len(out)))
	}},
	{"neighbor_alltoallv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		counts := slices.Repeat([]int{length}, len(in))
		return collectives.NeighborAlltoallvOn(ctx, w, in, out, make([]int, length*len(in)), collectives.Blocks{Counts: counts}, make([]int, length*len(out)), collectives.Blocks{Counts: counts})
	}},
}

// unevenly returns other numbers of elements for each rank, and their sum.
func unevenly(w *comm.Comm, length int) (counts []int, total int) {
	for r := range w.Size() {
		n := length + r%3
		counts, total = append(counts, n), total+n
	}
	return counts, total
}

// circle makes each rank receive from both sides, and send there.
func circle(w *comm.Comm) (in, out []int) {
	n := w.Size()
	sides := []int{(w.Rank() + n - 1) % n, (w.Rank() + 1) % n}
	return sides, []int{sides[1], sides[0]}
}

func ended(ctx context.Context, r comm.Request) error {
	_, err := r.Wait(ctx)
	return err
}

// twins are the verbs that do not block, and the wait for them.
var twins = []verb{
	{"ibarrier", true, func(ctx context.Context, w *comm.Comm, _ int) error { return ended(ctx, collectives.Ibarrier(w)) }},
	{"ibcast", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Ibcast(w, 0, make([]int, length)))
	}},
	{"ireduce", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Ireduce(w, 0, make([]int, length), make([]int, length), collectives.Sum))
	}},
	{"iallreduce", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Iallreduce(w, make([]int, length), make([]int, length), collectives.Sum))
	}},
	{"igather", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Igather(w, 0, make([]int, length*w.Size()), make([]int, length)))
	}},
	{"igatherv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return ended(ctx, collectives.Igatherv(w, 0, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, counts[w.Rank()])))
	}},
	{"iscatter", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Iscatter(w, 0, make([]int, length), make([]int, length*w.Size())))
	}},
	{"iscatterv", false, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return ended(ctx, collectives.Iscatterv(w, 0, make([]int, counts[w.Rank()]), make([]int, total), collectives.Blocks{Counts: counts}))
	}},
	{"iallgather", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Iallgather(w, make([]int, length*w.Size()), make([]int, length)))
	}},
	{"iallgatherv", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return ended(ctx, collectives.Iallgatherv(w, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, counts[w.Rank()])))
	}},
	{"ialltoall", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Ialltoall(w, make([]int, length*w.Size()), make([]int, length*w.Size())))
	}},
	{"ialltoallv", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		mine := slices.Repeat(counts[w.Rank():w.Rank()+1], w.Size())
		return ended(ctx, collectives.Ialltoallv(w, make([]int, total), collectives.Blocks{Counts: counts}, make([]int, w.Size()*mine[0]), collectives.Blocks{Counts: mine}))
	}},
	{"ireduce_scatter_block", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.IreduceScatterBlock(w, make([]int, length), make([]int, length*w.Size()), collectives.Sum))
	}},
	{"ireduce_scatter", true, func(ctx context.Context, w *comm.Comm, length int) error {
		counts, total := unevenly(w, length)
		return ended(ctx, collectives.IreduceScatter(w, make([]int, counts[w.Rank()]), make([]int, total), counts, collectives.Sum))
	}},
	{"iscan", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Iscan(w, make([]int, length), make([]int, length), collectives.Sum))
	}},
	{"iexscan", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return ended(ctx, collectives.Iexscan(w, make([]int, length), make([]int, length), collectives.Sum))
	}},
	{"ineighbor_allgather", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		return ended(ctx, collectives.IneighborAllgatherOn(w, in, out, make([]int, length*len(in)), make([]int, length)))
	}},
	{"ineighbor_alltoall", false, func(ctx context.Context, w *comm.Comm, length int) error {
		in, out := circle(w)
		return ended(ctx, collectives.IneighborAlltoallOn(w, in, out, make([]int, length*len(in)), make([]int, length*len(out))))
	}},
}

// everyVerb are those that block and those that do not.
var everyVerb = slices.Concat(verbs, twins)

// Lengths of messages in tests of failures: pushed at once, and waiting for the
// receiver in several parts.
const (
	short = 3
	big   = 5000
)
