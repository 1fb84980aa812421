package commtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// Intercomm makes an intercommunicator of the members of c, such as Spawn returns, without
// starting processes. The ranks of c in first are its first group, those in second the other
// one; their order there is the order in the groups. Each rank of c is in one group.
// Collective over c; all members pass the same. Errors: comm.ErrArgument for other groups,
// and those of Dup.
func Intercomm(ctx context.Context, c *comm.Comm, first, second []int) (*comm.Intercomm, error) {
	if !divide(c.Size(), first, second) {
		return nil, fmt.Errorf("commtest: intercomm: %w: groups %v and %v of a communicator of %d: want each rank in one of two", comm.ErrArgument, first, second, c.Size())
	}
	union, err := c.Dup(ctx)
	if err != nil {
		return nil, err
	}
	return door.Intercomm(union, slices.Clone(first), slices.Clone(second)), nil
}

// divide says whether two groups, none of them empty, have each rank below n once.
func divide(n int, first, second []int) bool {
	all := slices.Concat(first, second)
	slices.Sort(all)
	for rank := range all {
		if all[rank] != rank {
			return false
		}
	}
	return len(all) == n && len(first) > 0 && len(second) > 0
}
