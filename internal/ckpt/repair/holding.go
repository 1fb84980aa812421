package repair

import (
	"iter"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// The rules about the data of one process, for every host: package recovery and the simulator of
// repairs keep data of their own types and call these rules.

// Holding returns the entries of a report about one version: parts has the ranks whose parts the
// process has, and shares the rank and the placement of each share of parity.
func Holding(l Label, nodes []int, parts iter.Seq[int], shares iter.Seq2[int, []int]) []Held {
	h := Held{Label: l, Nodes: nodes}
	for rank := range parts {
		h.Data.Add(rank)
	}
	var others []Held
	for rank, placed := range shares {
		if slices.Equal(placed, nodes) {
			h.Parity.Add(rank)
			continue
		}
		others = append(others, Held{Label: l, Nodes: placed, Parity: rankset.Of(rank)})
	}
	return append([]Held{h}, others...)
}

// MadeOn returns the placement of the parts of a plan, for a world on nodes. A version that a world
// of another size has made keeps the placement of that world until the next commit:
//
//	0        is alone after a shrink, and has made version 7 of one part
//	0, 1     1 is new and keeps a copy of that part; 0 dies
//	2, 1     1 has all of version 7, unless it takes its copy for one of two parts
func (p Plan) MadeOn(nodes []int) []int {
	if p.Size != len(nodes) {
		return p.Nodes
	}
	return nodes
}

// Needs returns the ranks whose parts of the restored version a rank needs in the layout of the
// plan. A world of another size than the plan's needs all parts until the next commit: ok is false.
func (p Plan) Needs(run Run) (ranks rankset.Set, ok bool) {
	if p.Size != run.Size {
		return ranks, false
	}
	ranks.Add(run.Rank)
	if layout, mirrors := p.Layout.(redundancy.Mirror); mirrors {
		ranks.Union(layout.KeptBy(run.Rank))
	}
	return ranks, true
}

// KeepsShare reports whether a rank still needs a share of parity: its own, in the placement of its
// world.
func (r Run) KeepsShare(rank int, placed, nodes []int) bool {
	return rank == r.Rank && slices.Equal(placed, nodes)
}

// IsStale reports whether no rank needs a part in the home of a process. Of the versions of earlier
// attempts, only the restored one is needed. Each rank has its part of the restored version in its
// own home by now, unless the world that made the version had another size.
func (p Plan) IsStale(l Label, owner int, run Run) bool {
	if p.Source == FromMemory && l == p.Label {
		return p.Size == run.Size && owner != run.Rank
	}
	return l.Epoch != p.Epoch
}

// Reads reports whether a rank of a world on nodes reads a home besides its own: the lowest rank of
// a node reads the homes whose owners are not on this node, because they died without a replacement
// or moved.
func (r Run) Reads(home int, nodes []int) bool {
	here := nodes[r.Rank]
	owner := slices.Index(r.Homes, home)
	return slices.Index(nodes, here) == r.Rank && (owner < 0 || nodes[owner] != here)
}
