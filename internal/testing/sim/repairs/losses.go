package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// forgive drops the promises if losses exceeded the limits.
func (k *repairChecker) forgive(rec *worldRecord) {
	if k.beyond {
		for _, q := range k.run.workers {
			q.drive.promise = repair.Label{}
		}
	}
	if k.beyondOwn {
		clear(k.saves)
	}
	for home := range repairHomesMax {
		if rec.homes[home] == nil { // the world is smaller, and no rank continues with this home
			delete(k.saves, home)
		}
	}
}

// whole notes that redundancy is whole, except for the dead.
func (k *repairChecker) whole(w *driver, layout redundancy.Layout) {
	k.members, k.layout, k.lost = w.att.base.members, layout, rankset.Set{}
	for rank, m := range k.members {
		if m.gone {
			k.lost.Add(rank)
		}
	}
	k.keptBeyond(w, w.reply.Label)
	k.beyond = !k.filed && !k.recoverable(k.layout, k.kept, -1)
}

// bears reports whether, after the death of some processes, and of a node with its memory (-1:
// none), the last version would be whole and a process alive.
func (k *repairChecker) bears(dying []*worker, node int) bool {
	living := 0
	for _, w := range k.run.slots {
		if w.rules != nil && !w.gone && !slices.Contains(dying, w) {
			living++
		}
	}
	if living == 0 || k.layout == nil {
		return living > 0
	}
	before := k.lost
	defer func() { k.lost = before }()
	k.lost = before.Clone()
	for _, w := range dying {
		if rank := slices.Index(k.members, w); rank >= 0 {
			k.lost.Add(rank)
		}
	}
	return (k.filed || k.recoverable(k.layout, k.kept, node)) && k.recoverable(k.keepers, k.keptOwn, node)
}

// died notes a loss.
func (k *repairChecker) died(w *worker) {
	rank := slices.Index(k.members, w)
	if rank < 0 {
		return
	}
	k.lost.Add(rank)
	k.beyond = k.beyond || !k.filed && !k.recoverable(k.layout, k.kept, -1)
	k.beyondOwn = k.beyondOwn || !k.recoverable(k.keepers, k.keptOwn, -1)
}
