package recovery

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// What predecessors have left in the memory of a node is read before the reports are exchanged, and
// belongs into them as if it had been here all the time. It is read at once, and its checksums say
// what is whole: threads of the dead may still run, but what they store goes to places that nothing
// whole is in.

// takeOver reads this rank's home, once, and, at the lowest rank of a node, the homes of those who
// are not on that node: of the dead that nobody has replaced, or on another node.
func (r *runner) takeOver() {
	memory := door.NodeMemory(r.w.base)
	if memory == nil || r.cfg.NodeMemory == Unused {
		return
	}
	if r.home == nil {
		h := memory.Home(r.w.run.Home)
		if h == nil {
			return
		}
		h.SetMax(r.cfg.MemoryMax)
		r.home = &home{Home: h, process: r.w.base.Group().Processes()[r.w.run.Rank]}
		r.inherit(h)
	}
	r.home.taken = nil
	nodes := r.w.placement()
	if slices.Index(nodes, nodes[r.w.run.Rank]) != r.w.run.Rank {
		return
	}
	for number := range memory.Homes() {
		owner := slices.Index(r.w.run.Homes, number)
		if owner >= 0 && nodes[owner] == nodes[r.w.run.Rank] {
			continue
		}
		if other := memory.Home(number); r.inherit(other) {
			r.home.taken = append(r.home.taken, other)
		}
	}
}

// placement is where the ranks are, as far as is known before they have told each other.
func (w *World) placement() []int {
	nodes := door.Engine(w.base).Nodes()
	if nodes == nil {
		nodes = make([]int, w.run.Size)
	}
	return nodes
}

// inherit reads a home, and says whether there is anything.
func (r *runner) inherit(h *rankstore.Home) bool {
	labels, err := h.Labels()
	if err != nil {
		r.told("recovery: rank %d: %v", r.w.run.Rank, err)
		return false
	}
	for _, l := range labels {
		if err := r.inheritVersion(h, l, h == r.home.Home && partsIn(labels, l) == 1); err != nil {
			r.told("recovery: rank %d: %v", r.w.run.Rank, err)
		}
	}
	return len(labels) > 0
}

// partsIn counts the parts of a version in a home. A process can leave one of them there: see
// version.owner.
func partsIn(labels []rankstore.Label, of rankstore.Label) (n int) {
	for _, k := range labels {
		if isPartOf(k, versionOf(of)) {
			n++
		}
	}
	return n
}

// inheritVersion reads one thing in a home. stays: of a part, what need not be here is only
// compared with its checksums.
func (r *runner) inheritVersion(h *rankstore.Home, l rankstore.Label, stays bool) error {
	label := versionOf(l)
	switch l.Kind {
	case ofAgreement:
		if r.home.committed.Less(label) {
			r.home.committed = label
		}
		return nil
	case ofSave:
		_, _, p, err := r.w.readKept(h, l, here)
		if err == nil && l.Number > r.own.get(h.Number()).count {
			r.own.put(h.Number(), saving{l.Number, p})
		}
		return err
	}
	if slices.Contains(r.home.dropped, label) {
		return nil
	}
	room, kept := here, rankset.Set{}
	if stays {
		room = func(i, n int) []byte {
			if i < len(r.w.members) && r.staysInHome(r.w.members[i], n) {
				kept.Add(i)
				return nil // it is compared with its checksums
			}
			return here(i, n)
		}
	}
	rank, nodes, p, err := r.w.readKept(h, l, room)
	if err != nil {
		return err
	}
	if v := r.mem.at(label, nodes); v.parts[rank] == nil {
		v.put(rank, p, kept)
	}
	return nil
}

// partsOf are the members of a part as they are kept, after a line about the world: which rank it
// is of, and where all were.
func (w *World) partsOf(p part) []rankstore.Part {
	about := wire.AppendUint(nil, uint64(w.run.Rank))
	for _, node := range w.nodes {
		about = wire.AppendUint(about, uint64(node))
	}
	parts := []rankstore.Part{{Name: aboutWorld, Data: about}}
	for i, m := range w.members {
		parts = append(parts, rankstore.Part{Name: nameIn(m), Kind: m.kind, Elem: m.elem, Data: p[i]})
	}
	return parts
}

// aboutWorld is no name of a member.
const aboutWorld = "world"

func nameIn(m Member) string { return "member " + m.name }

// here is room for n bytes of a member.
func here(_, n int) []byte { return make([]byte, n) }

// readKept is the way back. It is an error where the program protects something else now. room says
// where the n bytes of member i go; nil: they are only compared with their checksums.
func (w *World) readKept(h *rankstore.Home, l rankstore.Label, room func(i, n int) []byte) (rank int, nodes []int, p part, err error) {
	parts, err := h.ReadInto(l, func(i, n int) []byte {
		if i == 0 {
			return here(i, n)
		}
		return room(i-1, n)
	})
	if err != nil {
		return 0, nil, nil, err
	}
	if len(parts) != len(w.members)+1 || parts[0].Name != aboutWorld {
		return 0, nil, nil, fmt.Errorf("%w: home %d has a version of %d members, this program has %d", ErrMember, h.Number(), len(parts)-1, len(w.members))
	}
	about := wire.NewReader(parts[0].Data)
	rank = about.Below(1 << 31)
	for about.Left() > 0 {
		nodes = append(nodes, about.Below(1<<31))
	}
	if about.Done() != nil || rank >= len(nodes) {
		return 0, nil, nil, fmt.Errorf("%w: %v in home %d", rankstore.ErrTorn, l, h.Number())
	}
	for i, m := range w.members {
		if was := parts[i+1]; was.Name != nameIn(m) || was.Kind != m.kind {
			return 0, nil, nil, fmt.Errorf("%w: home %d has %q, %s, this program has %q, %s", ErrMember, h.Number(), was.Name, was.Kind, nameIn(m), m.kind)
		}
		p = append(p, parts[i+1].Data)
	}
	return rank, nodes, p, nil
}
