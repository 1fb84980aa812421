package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// The uses of node memory in a run, as in package recovery.
const (
	keepsNothing = iota
	keepsWithCopies
	keepsAlone // no copies where all ranks are on one node
)

// A nodeMemory is the memory of a node that outlives processes. The memory is lost with its node.
// The next process on the node gets a new one.
type nodeMemory struct {
	homes [repairHomesMax]keptHome
}

// A keptHome holds the data that the ranks with one home number have left on a node: their parts of
// versions, the newest label that they knew to be committed, and the number of their saves.
type keptHome struct {
	versions  []partInHome
	committed repair.Label
	own       uint64
}

// A partInHome is a part, with the nodes of the ranks of its world.
type partInHome struct {
	keptPart
	nodes []int
}

func (h *keptHome) has(l repair.Label, rank int) bool {
	return slices.ContainsFunc(h.versions, func(p partInHome) bool { return p.label == l && p.rank == rank })
}

func (h *keptHome) forget(which func(l repair.Label) bool) {
	h.versions = slices.DeleteFunc(h.versions, func(p partInHome) bool { return which(p.label) })
}

func (h *keptHome) isEmpty() bool {
	return len(h.versions) == 0 && h.own == 0 && h.committed.IsZero()
}

// memoryOf returns the present memory of a node; nil: the run has none.
func (r *repairRun) memoryOf(node int) *nodeMemory {
	if r.setup.keeps == keepsNothing {
		return nil
	}
	if r.memories[node] == nil {
		r.memories[node] = &nodeMemory{}
	}
	return r.memories[node]
}

// layout returns the layout of copies for ranks on these nodes: see package recovery.
func (w *driver) layout(nodes []int) redundancy.Layout {
	if w.alone && onOneNode(nodes) {
		return redundancy.Alone(nodes)
	}
	return w.run.setup.layout(nodes)
}

func onOneNode(nodes []int) bool { return slices.Min(nodes) == slices.Max(nodes) }

// takeOver reads this rank's home, once. The lowest rank of a node also reads the homes of ranks
// that are not on the node now.
func (w *driver) takeOver() {
	memory := w.run.memoryOf(w.node)
	if memory == nil {
		return
	}
	if w.home == nil {
		w.home = &memory.homes[w.att.run.Home]
		w.inherit(w.home)
	}
	w.taken = nil
	nodes := w.att.nodes()
	for number := range memory.homes {
		if !w.att.run.Reads(number, nodes) {
			continue
		}
		if other := &memory.homes[number]; !other.isEmpty() {
			w.inheritOwn(number, other)
			w.inherit(other)
			w.taken = append(w.taken, other)
		}
	}
}

// inherit reads a home: its parts become parts of this process.
func (w *driver) inherit(h *keptHome) {
	for _, p := range h.versions {
		if slices.Contains(w.dropped, p.label) {
			continue // a home of another rank may still have this version
		}
		v := w.store.at(p.label, p.nodes)
		if _, has := v.parts[p.rank]; !has {
			v.parts[p.rank] = p.keptPart
			w.run.report.Inherited++
		}
	}
	if h == w.home {
		w.inheritOwn(w.att.run.Home, h)
	} else if w.home.committed.Less(h.committed) {
		w.home.committed = h.committed
	}
}

func (w *driver) inheritOwn(number int, h *keptHome) {
	if h.own > w.store.own[number] {
		w.putOwn(saving{number, h.own})
	}
}

// keepPart stores this rank's part of a version in its home. Parts of earlier attempts that were
// not restored are dropped there. The result is false if the process dies before that.
func (w *driver) keepPart(l repair.Label, p keptPart) bool {
	if w.home == nil {
		return true
	}
	if w.run.strikes(w.worker) {
		w.die()
	}
	if w.gone {
		return false
	}
	w.home.versions = slices.DeleteFunc(w.home.versions, func(k partInHome) bool {
		return w.att.plan.IsStale(k.label, k.rank, w.att.run) || k.label == l
	})
	w.home.versions = append(w.home.versions, partInHome{p, w.att.nodes()})
	return true
}

// keepRestored stores the restored part in the home if the home lacks it: the part came from
// elsewhere, or the rank is on another node now.
func (w *driver) keepRestored(p repair.Plan) {
	if w.home == nil {
		return
	}
	if v := w.store.find(p.Label); p.Source == repair.FromMemory && p.Size == w.att.run.Size && !w.home.has(p.Label, w.att.run.Rank) {
		if part, has := v.parts[w.att.run.Rank]; has {
			w.home.versions = append(w.home.versions, partInHome{part, w.att.nodes()})
		}
	}
	w.home.own = max(w.home.own, w.store.own[w.att.run.Home])
}

// agreed notes that no version before oldest is needed any more. Then the homes of others that were
// read are not needed either.
func (w *driver) agreed(oldest repair.Label) {
	if w.home == nil {
		return
	}
	w.home.forget(func(l repair.Label) bool { return l.Less(oldest) })
	w.home.committed = oldest
	for _, other := range w.taken {
		*other = keptHome{}
	}
	w.taken = nil
}

// keptBeyond notes, once redundancy is whole, whose parts and savings are also in the memories of
// nodes. Until the first commit of a world of another size, the parts of the old world are with
// their servers, and each home belongs to its rank alone.
func (k *repairChecker) keptBeyond(w *driver, label repair.Label) {
	dealt := w.att.plan.Size != w.att.run.Size && label == w.att.plan.Label
	k.kept, k.keptOwn = make([]*nodeMemory, len(k.members)), make([]*nodeMemory, len(k.members))
	for rank, m := range k.members {
		memory := k.run.memoryOf(m.node)
		if memory == nil {
			continue
		}
		number := w.att.run.Homes[rank]
		home := &memory.homes[number]
		switch {
		case dealt:
		case home.has(label, rank):
			k.kept[rank] = memory
		case !m.gone && !label.IsZero() && !k.filed:
			k.run.fail("V6", "version %v is whole, and home %d on node %d has not the part of rank %d", label, number, m.node, rank)
		}
		if home.own >= k.saves[number] {
			k.keptOwn[rank] = memory
		}
	}
}

// recoverable reports whether the data of a layout are whole without the lost processes. Data of
// these in the memory of a node are readable as long as a member of the world lives on the node,
// and the node has not been lost since. lostNode is a node that is about to be lost; -1: none.
func (k *repairChecker) recoverable(layout redundancy.Layout, kept []*nodeMemory, lostNode int) bool {
	if layout.Recoverable(k.lost) {
		return true
	}
	have := redundancy.NewHoldings(layout.Size())
	for rank, m := range k.members {
		switch lost := k.lost.Has(rank); {
		case lost && kept[rank] != nil && m.node != lostNode && kept[rank] == k.run.memories[m.node] && k.isVisited(m.node):
			have.Data[rank].Add(rank)
		case lost:
		default:
			have.Data[rank].Add(rank)
			have.Parity[rank].Add(rank)
			if mirror, is := layout.(redundancy.Mirror); is {
				have.Data[rank].Union(mirror.KeptBy(rank))
			}
		}
	}
	servers := make([]int, layout.Size())
	for rank := range servers {
		servers[rank] = rank
	}
	_, whole := redundancy.Restore(layout, have, servers)
	return whole
}

// isVisited reports whether a member of the world lives on a node.
func (k *repairChecker) isVisited(node int) bool {
	for rank, m := range k.members {
		if m.node == node && !k.lost.Has(rank) {
			return true
		}
	}
	return false
}
