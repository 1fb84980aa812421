package matrix

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

// twins returns the nonblocking collectives. Each is ended by a wait, and one of each class in
// every way.
func twins() []Call {
	sum := collectives.Sum[int]
	var calls []Call
	add := func(name, op string, class spectable.Class, start func(s *site) comm.Request) {
		for _, w := range waits {
			if w.name == "wait" || op == "ibarrier" || name == "Ibcast at 1" {
				calls = append(calls, Call{Name: name + ", " + w.name, Op: op, Class: class, Do: func(ctx context.Context, s *site) error { return w.end(ctx, s, start(s)) }})
			}
		}
	}
	add("Ibarrier", "ibarrier", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Ibarrier(s.c) })
	add("Iallreduce", "iallreduce", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Iallreduce(s.c, []int{0}, []int{1}, sum) })
	add("Iallgather", "iallgather", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Iallgather(s.c, all(), []int{1}) })
	add("Iallgatherv", "iallgatherv", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.Iallgatherv(s.c, all(), collectives.Blocks{Counts: ones()}, []int{1})
	})
	add("Ialltoall", "ialltoall", spectable.Synchronizing, func(s *site) comm.Request { return collectives.Ialltoall(s.c, all(), all()) })
	add("Ialltoallv", "ialltoallv", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.Ialltoallv(s.c, all(), collectives.Blocks{Counts: ones()}, all(), collectives.Blocks{Counts: ones()})
	})
	add("IreduceScatterBlock", "ireduce_scatter_block", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.IreduceScatterBlock(s.c, []int{0}, all(), sum)
	})
	add("IreduceScatter", "ireduce_scatter", spectable.Synchronizing, func(s *site) comm.Request {
		return collectives.IreduceScatter(s.c, []int{0}, all(), ones(), sum)
	})
	add("Iscan", "iscan", spectable.Loose, func(s *site) comm.Request { return collectives.Iscan(s.c, []int{0}, []int{1}, sum) })
	add("Iexscan", "iexscan", spectable.Loose, func(s *site) comm.Request { return collectives.Iexscan(s.c, []int{0}, []int{1}, sum) })
	for root := range spectable.Ranks {
		at := fmt.Sprintf(" at %d", root)
		add("Ibcast"+at, "ibcast", spectable.Loose, func(s *site) comm.Request { return collectives.Ibcast(s.c, root, []int{1}) })
		add("Ireduce"+at, "ireduce", spectable.Loose, func(s *site) comm.Request {
			return collectives.Ireduce(s.c, root, []int{0}, []int{1}, sum)
		})
		add("Igather"+at, "igather", spectable.Loose, func(s *site) comm.Request { return collectives.Igather(s.c, root, all(), []int{1}) })
		add("Igatherv"+at, "igatherv", spectable.Loose, func(s *site) comm.Request {
			return collectives.Igatherv(s.c, root, all(), collectives.Blocks{Counts: ones()}, []int{1})
		})
		add("Iscatter"+at, "iscatter", spectable.Loose, func(s *site) comm.Request { return collectives.Iscatter(s.c, root, []int{0}, all()) })
		add("Iscatterv"+at, "iscatterv", spectable.Loose, func(s *site) comm.Request {
			return collectives.Iscatterv(s.c, root, []int{0}, all(), collectives.Blocks{Counts: ones()})
		})
	}
	return calls
}
