package commstate

import (
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/ulfm"
)

// A replace is a spawn in SeriesRepair: it has one outcome at all living members, also on a
// revoked communicator. As a creation it would divide the members of a communicator that each
// death revokes:
//
//	0 decides, and has the new communicator; 1 learns of the death first, and gets "revoked".
//	0 and the replacements agree on the new communicator, 1 shrinks the old one: for ever.
//
// A death after the decision is found on the new communicator.

// replaced returns the communicator of the members of g and of the processes that the root has
// started. The started processes get the ranks that the call names; the members get the remaining
// ranks in their old order. Like a creation, a replace fails if any member is agreed to be dead,
// has left, or voted no. A root that cannot get all processes contributes a count of 0; a count
// other than the number of ranks is ErrScarce.
func (g *Group) replaced(p Proposal, v era.Value) (*NewComm, error) {
	gone := g.absent(v)
	gone.Union(v.Dead)
	if !gone.IsEmpty() {
		return nil, failed(p.Call, gone)
	}
	if !v.Vetoes.IsEmpty() {
		return nil, vetoed(p, v.Vetoes)
	}
	all := make([]member, g.Size())
	for rank := range all {
		m, err := contribution(p.Call, v, rank)
		if err != nil {
			return nil, err
		}
		all[rank] = m
	}
	if err := differing(p.Call, all); err != nil {
		return nil, err
	}
	started := all[p.Call.Root].spawned
	if started.Count != len(p.Ranks) {
		return nil, &ulfm.Error{Op: p.Call.Kind.String(), Err: ErrScarce}
	}
	return g.mixed(p, all, started), nil
}

// mixed puts members and replacements in the order of their new ranks.
func (g *Group) mixed(p Proposal, all []member, started Spawned) *NewComm {
	size := len(all) + started.Count
	nc := g.child(p, 0, size)
	nc.Fresh = slices.Contains(p.Ranks, 0)
	for rank := range size {
		if i := slices.Index(p.Ranks, rank); i >= 0 {
			nc.Procs = append(nc.Procs, started.First+i)
			nc.Indices = append(nc.Indices, SpawnedIndex)
			continue
		}
		nc.join(g, all[0])
		all = all[1:]
	}
	return nc
}

// RanksFit reports whether replacements can have these ranks beside the given number of members:
// the ranks must be distinct ranks of the communicator of both.
func RanksFit(ranks []int, members int) bool {
	sorted := slices.Sorted(slices.Values(ranks))
	n := len(sorted)
	return n > 0 && sorted[0] >= 0 && sorted[n-1] < members+n && len(slices.Compact(sorted)) == n
}
