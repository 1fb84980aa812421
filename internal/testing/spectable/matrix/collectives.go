package matrix

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

func verbs() []Call {
	sum := collectives.Sum[int]
	all := []Call{
		{Name: "Barrier", Op: "barrier", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error { return collectives.Barrier(ctx, s.c) }},
		{Name: "Allreduce", Op: "allreduce", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allreduce(ctx, s.c, []int{0}, []int{1}, sum)
		}},
		{Name: "AllgatherValue", Op: "allgather_value", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			all, err := collectives.AllgatherValue(ctx, s.c, s.rank)
			return errors.Join(err, unless((len(all) == spectable.Ranks) == (err == nil)))
		}},
		{Name: "AlltoallValue", Op: "alltoall_value", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			all, err := collectives.AlltoallValue(ctx, s.c, make([]int, spectable.Ranks))
			return errors.Join(err, unless((len(all) == spectable.Ranks) == (err == nil)))
		}},
		{Name: "ScatterValue", Op: "scatter_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.ScatterValue(ctx, s.c, 0, []int{5, 6, 7, 8})
			return errors.Join(err, unless(err != nil || v == 5+s.rank))
		}},
		{Name: "ReduceValue", Op: "reduce_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			_, err := collectives.ReduceValue(ctx, s.c, 0, 1, func(a, b int) int { return a + b })
			return err
		}},
		{Name: "AllreduceOne", Op: "allreduce", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.AllreduceOne(ctx, s.c, 1, sum)
			return errors.Join(err, unless((v != 0) == (err == nil)))
		}},
		{Name: "ScanOne", Op: "scan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.ScanOne(ctx, s.c, 1, sum)
			return errors.Join(err, unless(err != nil || v == s.rank+1))
		}},
		{Name: "BcastOne", Op: "bcast", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			v, err := collectives.BcastOne(ctx, s.c, 0, s.rank+5)
			return errors.Join(err, unless(err != nil || v == 5))
		}},
		{Name: "ReduceOne", Op: "reduce", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			_, err := collectives.ReduceOne(ctx, s.c, 0, 1, sum)
			return err
		}},
		{Name: "Allgather", Op: "allgather", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allgather(ctx, s.c, make([]int, spectable.Ranks), []int{1})
		}},
		{Name: "Alltoall", Op: "alltoall", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Alltoall(ctx, s.c, make([]int, spectable.Ranks), make([]int, spectable.Ranks))
		}},
	}
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		all = append(all,
			Call{Name: "Bcast" + at, Op: "bcast", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error { return collectives.Bcast(ctx, s.c, root, []int{1}) }},
			Call{Name: "BcastValue" + at, Op: "bcast_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				v := "v"
				return collectives.BcastValue(ctx, s.c, root, &v)
			}},
			Call{Name: "Reduce" + at, Op: "reduce", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Reduce(ctx, s.c, root, []int{0}, []int{1}, sum)
			}},
			Call{Name: "Gather" + at, Op: "gather", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Gather(ctx, s.c, root, make([]int, spectable.Ranks), []int{1})
			}},
			Call{Name: "GatherValue" + at, Op: "gather_value", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				_, err := collectives.GatherValue(ctx, s.c, root, "v")
				return err
			}},
			Call{Name: "Scatter" + at, Op: "scatter", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Scatter(ctx, s.c, root, []int{0}, make([]int, spectable.Ranks))
			}},
		)
	}
	return all
}

// moreVerbs returns the collectives that always use messages.
func moreVerbs() []Call {
	sum := collectives.Sum[int]
	calls := []Call{
		{Name: "Allgatherv", Op: "allgatherv", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Allgatherv(ctx, s.c, all(), collectives.Blocks{Counts: ones()}, []int{1})
		}},
		{Name: "Alltoallv", Op: "alltoallv", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.Alltoallv(ctx, s.c, all(), collectives.Blocks{Counts: ones()}, all(), collectives.Blocks{Counts: ones()})
		}},
		{Name: "ReduceScatterBlock", Op: "reduce_scatter_block", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.ReduceScatterBlock(ctx, s.c, []int{0}, all(), sum)
		}},
		{Name: "ReduceScatter", Op: "reduce_scatter", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			return collectives.ReduceScatter(ctx, s.c, []int{0}, all(), ones(), sum)
		}},
		{Name: "AllreduceLoc", Op: "allreduce_loc", Class: spectable.Synchronizing, Do: func(ctx context.Context, s *site) error {
			v := []collectives.Loc[int]{{Value: 1, Index: s.rank}}
			return collectives.AllreduceLoc(ctx, s.c, v, v, collectives.MinLoc)
		}},
		{Name: "Scan", Op: "scan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			return collectives.Scan(ctx, s.c, []int{0}, []int{1}, sum)
		}},
		{Name: "Exscan", Op: "exscan", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
			return collectives.Exscan(ctx, s.c, []int{0}, []int{1}, sum)
		}},
	}
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		calls = append(calls,
			Call{Name: "Gatherv" + at, Op: "gatherv", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Gatherv(ctx, s.c, root, all(), collectives.Blocks{Counts: ones()}, []int{1})
			}},
			Call{Name: "Scatterv" + at, Op: "scatterv", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				return collectives.Scatterv(ctx, s.c, root, []int{0}, all(), collectives.Blocks{Counts: ones()})
			}},
			Call{Name: "ReduceLoc" + at, Op: "reduce_loc", Class: spectable.Loose, Do: func(ctx context.Context, s *site) error {
				v := []collectives.Loc[int]{{Value: 1, Index: s.rank}}
				return collectives.ReduceLoc(ctx, s.c, root, v, v, collectives.MaxLoc)
			}},
		)
	}
	return calls
}

// ones returns the counts of parts of one element each.
func ones() []int {
	counts := make([]int, spectable.Ranks)
	for i := range counts {
		counts[i] = 1
	}
	return counts
}

// all returns room for one element of each rank.
func all() []int { return make([]int, spectable.Ranks) }
