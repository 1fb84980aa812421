package recovery

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/goulfm/goulfm/internal/base/logline"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// The versions that predecessors have left in the memory of a node are read before the reports are
// exchanged, and are reported as if they had always been in this process. They are read at once,
// and their checksums show which of them are complete: threads of the dead may still run, but their
// stores are to places outside all complete versions.

// takeOver reads this rank's home, once. At the lowest rank of a node takeOver also reads the homes
// whose owners are not on that node: of dead ranks without a replacement, or of ranks on another
// node.
func (r *runner) takeOver() {
	memory := door.NodeMemory(r.w.base)
	if memory == nil || r.cfg.NodeMemory == NodeMemoryOff {
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
	for number := range memory.Homes() {
		if !r.w.run.Reads(number, nodes) {
			continue
		}
		if other := memory.Home(number); r.inherit(other) {
			r.home.taken = append(r.home.taken, other)
		}
	}
}

// placement returns the nodes of the ranks, as far as they are known before the reports.
func (w *World) placement() []int {
	nodes := door.Engine(w.base).Nodes()
	if nodes == nil {
		nodes = make([]int, w.run.Size)
	}
	return nodes
}

// inherit reads a home, and reports whether the home has any content.
func (r *runner) inherit(h *rankstore.Home) bool {
	labels, err := h.Labels()
	if err != nil {
		r.warnOfHome(err)
		return false
	}
	for _, l := range labels {
		if err := r.inheritVersion(h, l, h == r.home.Home && partsIn(labels, l) == 1); err != nil {
			r.warnOfHome(err)
		}
	}
	return len(labels) > 0
}

// warnOfHome reports a version in node memory that cannot be read.
func (r *runner) warnOfHome(err error) {
	r.warn("node memory not read", attrs(slog.Int("rank", r.w.run.Rank), logline.Error(err)), "rank %d: %v", r.w.run.Rank, err)
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

// inheritVersion reads one object in a home. With stays, members of a part that stay in the home
// are only compared with their checksums.
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
				return nil // the bytes are only compared with their checksums
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

// partsOf returns the members of a part as a home keeps them. They follow an entry about the world:
// the rank of the part, and the nodes of all ranks.
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

// aboutWorld is distinct from the name of every member.
const aboutWorld = "world"

func nameIn(m Member) string { return "member " + m.name }

// here is a buffer for n bytes of a member.
func here(_, n int) []byte { return make([]byte, n) }

// readKept is the inverse of partsOf. It returns an error if the program now protects other
// members. room returns the destination of the n bytes of member i; nil: the bytes are only
// compared with their checksums.
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
