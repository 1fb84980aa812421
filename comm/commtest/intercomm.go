package commtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// Intercomm makes an intercommunicator of the members of c, such as Spawn returns, without starting
// processes. first lists the ranks of c in its first group, second those in the other group, both
// in group order. Each rank of c is in exactly one group, and no group is empty. Collective over c;
// all members pass the same groups. Errors: comm.ErrArgument for other groups, and those of Dup.
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

// divide reports whether two non-empty groups hold each rank below n exactly once.
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
