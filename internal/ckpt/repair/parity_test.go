package repair

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// sendsTo returns the receivers of a rank's part in a commit: the keepers of its copies, or
// the members of its group, each of which has parity of it.
func sendsTo(l redundancy.Layout, rank int) []int {
	if l, is := l.(redundancy.Mirror); is {
		return append([]int(nil), l.Keepers(rank)...)
	}
	return others(l.(redundancy.Code), rank).Slice()
}

// keptBy returns the ranks of which a rank has a copy, or parity.
func keptBy(l redundancy.Layout, rank int) rankset.Set {
	if l, is := l.(redundancy.Mirror); is {
		return l.KeptBy(rank)
	}
	return others(l.(redundancy.Code), rank)
}

// others returns the other members of a rank's group, if that has parity.
func others(c redundancy.Code, rank int) rankset.Set {
	g := c.Groups()[c.GroupOf(rank)]
	if g.Parity == 0 {
		return rankset.Set{}
	}
	s := rankset.Of(g.Members...)
	s.Remove(rank)
	return s
}

// receive puts owner's part into the memory of k: as a copy, or into k's share of parity.
func (m *model) receive(l redundancy.Layout, k *proc, label Label, owner int, what part) {
	h := m.mine(k)
	if _, is := l.(redundancy.Mirror); is {
		m.write(h, rootKey{label, owner, ""}, what)
		return
	}
	key := rootKey{label, k.rank, fmt.Sprint(what.nodes)}
	share := part{label: label, nodes: what.nodes, of: map[int]part{}}
	if slot, has := h.roots[key]; has {
		maps.Copy(share.of, h.slots[slot].of)
	}
	share.of[owner] = what
	m.write(h, key, share)
}

// received reports whether p has the copy or the parity of owner's part that p keeps.
func (m *model) received(l redundancy.Layout, p *proc, label Label, owner int) bool {
	h := m.mine(p)
	if _, is := l.(redundancy.Mirror); is {
		_, has := h.roots[rootKey{label, owner, ""}]
		return has
	}
	slot, has := h.roots[rootKey{label, p.rank, fmt.Sprint(placement(p))}]
	if has {
		_, has = h.slots[slot].of[owner]
	}
	return has
}

// wholeShare reports whether a share of parity has the parts of all others of its group.
func (m *model) wholeShare(share part, rank int) bool {
	c := m.setup.cfg.layout(share.nodes).(redundancy.Code)
	for owner := range others(c, rank).All() {
		if _, has := share.of[owner]; !has {
			return false
		}
	}
	return true
}

// findShare returns a share of parity that a process can read.
func (m *model) findShare(p *proc, label Label, rank int, g redundancy.Group) (part, bool) {
	for id := range 64 {
		if h := m.memory[p.node][id]; h != nil {
			for key, slot := range h.roots {
				share := h.slots[slot]
				if key.label == label && key.rank == rank && key.parity != "" && m.wholeShare(share, rank) && m.isOf(share, g) {
					return share, true
				}
			}
		}
	}
	return part{}, false
}

// isOf reports whether a share belongs to g, with the same members in the share's placement.
func (m *model) isOf(share part, g redundancy.Group) bool {
	c := m.setup.cfg.layout(share.nodes).(redundancy.Code)
	return slices.Equal(c.Groups()[c.GroupOf(g.Members[0])].Members, g.Members)
}

// gets returns the rank that receives data by a step of a plan.
func gets(s redundancy.Step) int {
	switch s := s.(type) {
	case redundancy.Send:
		return s.To
	case redundancy.Rebuild:
		return s.To
	case redundancy.Encode:
		return s.To
	}
	return -1
}

// fetch returns the data that p receives by a step, and their key. alive is false if a sender has
// died; has is false if a sender does not have them yet.
func (m *model) fetch(p *proc, s redundancy.Step) (key rootKey, got part, alive, has bool) {
	label := p.body.plan.Label
	switch s := s.(type) {
	case redundancy.Send:
		from := p.base.members[s.From]
		got, has = m.find(from, label, s.Owner)
		return rootKey{label, s.Owner, ""}, got, from.alive, has
	case redundancy.Rebuild:
		got, alive, has = m.rebuild(p, s)
		return rootKey{label, s.Owner, ""}, got, alive, has
	case redundancy.Encode:
		got, alive, has = m.encode(p, s)
		return rootKey{label, p.rank, fmt.Sprint(placement(p))}, got, alive, has
	}
	return rootKey{}, part{}, false, false
}

// rebuild makes a part out of the pieces that the plan names.
func (m *model) rebuild(p *proc, s redundancy.Rebuild) (got part, alive, has bool) {
	alive, has = true, true
	for _, d := range s.Data {
		from := p.base.members[d.From]
		_, there := m.find(from, p.body.plan.Label, d.Owner)
		alive, has = alive && from.alive, has && there
	}
	for _, d := range s.Parity {
		from := p.base.members[d.From]
		share, there := m.findShare(from, p.body.plan.Label, d.Owner, s.Group)
		alive, has = alive && from.alive, has && there
		if d.Owner != s.Owner && there {
			got = share.of[s.Owner]
		}
	}
	return got, alive, has && got.nodes != nil
}

// encode makes p's share of the parity of its group.
func (m *model) encode(p *proc, s redundancy.Encode) (got part, alive, has bool) {
	got.of = map[int]part{}
	alive, has = true, true
	for _, r := range s.Group.Members {
		from := p.base.members[r]
		data, there := m.find(from, p.body.plan.Label, r)
		alive, has = alive && from.alive, has && there
		got.label, got.nodes = data.label, placement(p)
		if r != p.rank {
			got.of[r] = data
		}
	}
	return got, alive, has
}

// placement returns the nodes of the members of p's attempt.
func placement(p *proc) []int {
	var nodes []int
	for _, q := range p.base.members {
		nodes = append(nodes, q.node)
	}
	return nodes
}
