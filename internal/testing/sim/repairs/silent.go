package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// silentSetup holds the silent change of a run in one process, and the comparison of replays.
type silentSetup struct {
	verify  bool // Config.Verify; a replay computes the same results
	process int  // process with the change; -1: none
	step    int  // step with a changed result
	local   bool // the change is in the value of this rank alone; otherwise in the value that is equal at all ranks
}

func drawSilent(t *world.Tape, n, steps int) (s silentSetup) {
	s.process = -1
	s.verify = t.Percent(25)
	if t.Percent(30) {
		s.process, s.step, s.local = t.Below(n), t.Between(1, steps), s.verify && t.Percent(70)
	}
	return s
}

// compute computes the next step. With Verify its value is a function of the previous value.
// Otherwise the value depends on the attempt, too, as in a program that never computes the same
// result twice.
func (w *driver) compute() {
	a, s := w.att, &w.run.setup.silent
	a.step++
	w.stock.forward = max(w.stock.forward, a.step)
	by := uint64(0)
	if !s.verify {
		by = w.run.check.idOf(a.base) << 16
	}
	a.value = world.Mix(a.value ^ by ^ uint64(a.step))
	a.local = world.Mix(a.local ^ a.value + uint64(a.run.Rank))
	if s.process != w.number || s.step != a.step || w.flipped {
		return
	}
	w.flipped = true
	w.run.report.Silent.Flipped++
	w.run.trace(w.worker, "something changes unseen")
	if s.verify { // a replay should come soon
		w.run.fuse = 1 + w.run.tape.Below(10*w.run.setup.n)
	}
	if s.local {
		a.local ^= 1 << 17
	} else {
		a.value ^= 1 << 17
	}
}

// replayOf returns the kept version that a program makes again after a restore of another one; nil:
// none. If there are several, the newest is returned.
func (s *store) replayOf(restored repair.Label, size int) (had *kept) {
	for _, v := range s.versions {
		if repair.Replays(restored, v.label) && len(v.nodes) == size && (had == nil || had.label.Less(v.label)) {
			had = v
		}
	}
	return had
}

// compare compares the new version with the kept one: this rank's part, and the parts whose copies
// this rank keeps. A difference is an error of the program.
func (w *driver) compare(v *kept) {
	if w.expected == nil || w.expected.label.Number != v.label.Number {
		return
	}
	for rank := range w.att.run.Size {
		before, had := w.expected.parts[rank]
		now, has := v.parts[rank]
		if had && has && before.content() != now.content() {
			w.differs = true
			w.run.report.Silent.Replays++
			w.run.check.alarmed(w)
		}
	}
}

// content returns the values of a part, independent of its version.
func (p keptPart) content() [3]uint64 { return [3]uint64{uint64(p.step), p.value, p.local} }

// A replayed is the checker's record of a version that will be made again.
type replayed struct {
	number uint64
	had    []heldPart
	owed   bool // the version was made, and differs
}

// heldPart is one process's part of the older version.
type heldPart struct {
	by   *driver
	rank int
	part keptPart
}

// remembers notes, when a version is restored, which parts of the next version a process has.
func (k *repairChecker) remembers(w *driver, restored repair.Label) {
	rec := k.of(w.att.base)
	rec.replay.number = restored.Number + 1
	var newest *kept
	for _, v := range w.store.versions {
		again := restored.Less(v.label) && v.label.Number == restored.Number+1 && len(v.nodes) == w.att.run.Size
		if again && (newest == nil || newest.label.Less(v.label)) {
			newest = v
		}
	}
	if newest == nil {
		return
	}
	for rank := range w.att.run.Size {
		if p, has := newest.parts[rank]; has {
			rec.replay.had = append(rec.replay.had, heldPart{w, rank, p})
		}
	}
}

// makesAgain notes, for V12, that a version is made again and differs.
func (k *repairChecker) makesAgain(w *driver, p keptPart) {
	rec := k.of(w.att.base)
	if !k.run.setup.silent.verify || rec.replay.number != p.label.Number {
		return
	}
	mirror, copies := w.att.plan.Layout.(redundancy.Mirror)
	for _, h := range rec.replay.had {
		sees := h.by == w || copies && h.by.att.base.group.UID == w.att.base.group.UID && slices.Contains(mirror.Keepers(p.rank), h.by.att.run.Rank)
		if h.rank == p.rank && sees && !h.by.gone && h.part.content() != p.content() {
			rec.replay.owed = true
		}
	}
}

// alarmed checks V12 when a process reports that a replay differs.
func (k *repairChecker) alarmed(w *driver) {
	if k.run.report.Silent.Flipped == 0 {
		k.run.fail("V12", "process %d finds that a replay differs, and nothing has changed unseen", w.number)
	}
}

// committedAgain checks V12 when a version is committed: a replay that differs is not.
func (k *repairChecker) committedAgain(w *driver) {
	if rec := k.of(w.att.base); rec.replay.owed && w.reply.Verdict == repair.OK && w.reply.Label.Number >= rec.replay.number && w.reply.Label.Epoch == w.att.plan.Epoch {
		k.run.fail("V12", "process %d learns that version %v is committed, a replay that differs from what was there", w.number, w.reply.Label)
	}
}

// unseenMax bounds the number of boundaries in a row that may miss that values differ. Each
// boundary does with a probability of one in 1,024.
const unseenMax = 2

// valuesDiffer checks V3 and V12 when two ranks are at one boundary with different values.
func (k *repairChecker) valuesDiffer(w *driver, b *boundaryRecord) {
	r, a, s := k.run, w.att, &k.run.report.Silent
	switch {
	case s.Flipped == 0 || r.setup.silent.local || b.step != a.step || a.number == 1 && s.Unseen == 0: // the first boundary is the restored version's
		r.fail("V3", "at boundary %d process %d is at step %d with value %x, process %d at step %d with value %x", a.number, b.replied.number, b.step, b.value, w.number, a.step, a.value)
	case a.number == 1, b.unseen, w.reply.Verdict != repair.OK:
	default:
		b.unseen = true
		s.Unseen++
		k.unseen++
		if k.unseen > unseenMax {
			r.fail("V12", "%d boundaries in a row have not reported that values differ, the last one process %d", k.unseen, w.number)
		}
	}
}

// replicasDiffer checks V12 when a process learns that values differ: they must.
func (k *repairChecker) replicasDiffer(w *driver) {
	if s := &k.run.report.Silent; s.Flipped == 0 || k.run.setup.silent.local {
		k.run.fail("V12", "process %d learns that values differ, at step %d, and nothing has changed unseen", w.number, w.att.step)
	} else if rec := k.of(w.att.base); !rec.replicas {
		rec.replicas = true
		s.Replicas++
		k.unseen = 0
	}
}
