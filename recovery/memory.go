package recovery

import (
	"maps"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// A part is one rank's contribution to a version: the bytes of each member. Parts are immutable, so
// parts may share unchanged bytes.
type part [][]byte

// A version is the state of one version at this process. Ranks are those of the world that made the
// version.
type version struct {
	label  repair.Label
	nodes  []int // of the world that made or last restored this version
	parts  map[int]part
	shares []share // of parity; of several placements after a failed Protect

	// In the part of rank owner the bytes of these members are nil: they are in this process's home
	// alone. See kept.go.
	owner int
	kept  rankset.Set
}

// memory holds the versions that a process can read: its own parts, and copies that it keeps for
// others. The oldest comes first.
type memory struct {
	versions []*version
	pinned   part     // is being read by the writer of a file
	expected *version // Verify: the version that a replay must reproduce
	spare    [][]byte // buffers of dropped parts, for reuse: new pages are expensive
}

// at returns a version, which is made if there is none.
func (m *memory) at(l repair.Label, nodes []int) *version {
	i := slices.IndexFunc(m.versions, func(v *version) bool { return v.label == l })
	if i < 0 {
		m.versions = append(m.versions, &version{label: l, nodes: slices.Clone(nodes), parts: map[int]part{}})
		i = len(m.versions) - 1
	}
	return m.versions[i]
}

// find returns a version, or nil.
func (m *memory) find(l repair.Label) *version {
	if i := slices.IndexFunc(m.versions, func(v *version) bool { return v.label == l }); i >= 0 {
		return m.versions[i]
	}
	return nil
}

// drop forgets the versions that which selects. Bytes that another version shares stay.
func (m *memory) drop(which func(l repair.Label) bool) {
	var gone []*version
	m.versions = slices.DeleteFunc(m.versions, func(v *version) bool {
		if which(v.label) {
			gone = append(gone, v)
			return true
		}
		return false
	})
	for _, v := range gone {
		for _, p := range v.parts {
			m.reuse(p)
		}
	}
}

// settle forgets the parts of a version that this process does not need in the present layout, and
// notes the present nodes of the ranks.
func (m *memory) settle(l repair.Label, nodes []int, run repair.Run, needed rankset.Set) {
	v := m.find(l)
	if v == nil {
		return
	}
	v.nodes = slices.Clone(nodes)
	v.shares = slices.DeleteFunc(v.shares, func(s share) bool { return !run.KeepsShare(s.rank, s.nodes, nodes) })
	for rank, p := range v.parts {
		if !needed.Has(rank) {
			delete(v.parts, rank)
			m.reuse(p)
		}
	}
}

// reuse keeps the buffers of a forgotten part for later parts, unless another part shares them.
func (m *memory) reuse(p part) {
	for _, blob := range p {
		if cap(blob) >= worthKeeping && len(m.spare) < spareMax && !m.uses(blob) {
			m.spare = append(m.spare, blob[:0])
		}
	}
}

// Bounds of the buffers that are kept for the next version: their least size in bytes, and their
// number.
const (
	worthKeeping = 4096
	spareMax     = 64
)

func (m *memory) uses(blob []byte) bool {
	all := m.versions
	if m.expected != nil {
		all = append(slices.Clone(all), m.expected)
	}
	for _, v := range all {
		for _, p := range v.parts {
			if p.has(blob) {
				return true
			}
		}
	}
	return m.pinned.has(blob)
}

func (p part) has(blob []byte) bool {
	return slices.ContainsFunc(p, func(b []byte) bool { return cap(b) > 0 && &b[:1][0] == &blob[:1][0] })
}

// room returns an empty slice for n bytes.
func (m *memory) room(n int) []byte {
	best := -1
	for i, b := range m.spare {
		if cap(b) >= n && (best < 0 || cap(b) < cap(m.spare[best])) {
			best = i
		}
	}
	if best < 0 || cap(m.spare[best]) > 2*n {
		return make([]byte, 0, n)
	}
	b := m.spare[best]
	m.spare = slices.Delete(m.spare, best, best+1)
	return b
}

// held lists the data of this process, for its report.
func (m *memory) held() (all []repair.Held) {
	for _, v := range m.versions {
		all = append(all, repair.Holding(v.label, v.nodes, maps.Keys(v.parts), v.placements)...)
	}
	return all
}

// placements iterates over the ranks and the placements of the shares.
func (v *version) placements(yield func(rank int, nodes []int) bool) {
	for _, s := range v.shares {
		if !yield(s.rank, s.nodes) {
			return
		}
	}
}
