package repairs

import (
	"maps"
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// store is the memory of a process. The store dies with the process, as in package recovery.
type store struct {
	versions []*kept
	own      map[int]uint64 // by home: number of its saves; also those kept for others
}

// kept is a process's data of a version.
type kept struct {
	label  repair.Label
	nodes  []int
	parts  map[int]keptPart
	shares []keptShare
}

// keptPart is the part of one rank in a version. Its sum identifies the rank.
type keptPart struct {
	label repair.Label
	rank  int
	step  int
	value uint64 // the same at all ranks
	local uint64 // of this rank
	sum   uint64

	static  uint64 // see stock
	forward int
}

// keptShare is a rank's share of the parity of its group in one placement.
type keptShare struct {
	nodes []int
	rank  int
	of    map[int]keptPart
}

func newPart(l repair.Label, rank int, b *body, s stock) keptPart {
	return keptPart{l, rank, b.step, b.value, b.local, sumOf(l, rank, b.value), s.static, s.forward}
}

func sumOf(l repair.Label, rank int, value uint64) uint64 {
	return world.Mix(value ^ l.Epoch<<40 ^ l.Number<<20 ^ uint64(rank))
}

func (s *store) find(l repair.Label) *kept {
	for _, v := range s.versions {
		if v.label == l {
			return v
		}
	}
	return nil
}

func (s *store) at(l repair.Label, nodes []int) *kept {
	if v := s.find(l); v != nil {
		return v
	}
	v := &kept{label: l, nodes: nodes, parts: map[int]keptPart{}}
	s.versions = append(s.versions, v)
	return v
}

func (s *store) drop(which func(l repair.Label) bool) {
	s.versions = slices.DeleteFunc(s.versions, func(v *kept) bool { return which(v.label) })
}

// held returns the held parts and shares, for a report.
func (s *store) held() (all []repair.Held) {
	for _, v := range s.versions {
		all = append(all, repair.Holding(v.label, v.nodes, maps.Keys(v.parts), v.placements)...)
	}
	return all
}

// placements iterates over the ranks and the placements of the shares.
func (v *kept) placements(yield func(rank int, nodes []int) bool) {
	for _, x := range v.shares {
		if !yield(x.rank, x.nodes) {
			return
		}
	}
}

func (s *store) owned() (all []repair.Own) {
	for home := range repairHomesMax {
		if count := s.own[home]; count > 0 {
			all = append(all, repair.Own{Home: home, Count: count})
		}
	}
	return all
}

// repairHomesMax bounds the homes of a run: a world that shrinks and grows takes the lowest
// numbers.
const repairHomesMax = 4 * RanksMax
