package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// repairChecker checks the invariants of a world that outlives its processes:
//
//	V1  all live members begin an attempt with the same size, ranks and label
//	V2  no restore to a label before one whose Commit returned nil at a live rank
//	V3  parts of different labels are never mixed
//	V4  after finitely many deaths all end alike
//	V5  no slot is reused while any process refers to its former occupant
//	V6  redundancy is whole after Protect
//	V7  interval, stop and leave are uniform
//	V8  data saved outside of versions never returns to an older state
//	V9  a version that was reported to be in files is restored, or a newer one, as long as it exists
//	V10 nothing is restored from files of which one is missing or differs from its written bytes
//	V11 a version in files is deleted only if a newer one is whole
//	V12 silent changes are found at the next commit, by all: equal values that differ, and, with
//	    Verify, a replay with another result; and nothing is reported without a change
//	V13 after Protect each process has the static and forward data of its rank, and exactly the
//	    processes without an earlier Protect are new
//	V14 no process is refused while a slot is that of a dead process which was in no communicator
//	    since the last repair began
//
// V2 and V8 hold as long as losses stay within the limits of the layout. Results of a dead process
// bind no other process (A17): a record made by a process that has died is made again by the next
// process.
type repairChecker struct {
	run    *repairRun
	worlds map[commstate.UID]*worldRecord
	last   *worldRecord // the record whose Protect was agreed last

	// State since redundancy was whole: the members, their copies of each other's data, the dead
	// among them, and whether these losses exceed the limits.
	members           []*worker
	layout            redundancy.Layout
	keepers           redundancy.Mirror
	lost              rankset.Set
	kept, keptOwn     []*nodeMemory // by rank: the memory with its part, and with its savings; nil: none
	beyond, beyondOwn bool
	filed             bool // the version is in files, and cannot be lost

	saves   map[int]uint64 // by home: the last Save that has returned nil
	inFiles []repair.Label // versions that were reported to be in files
	made    int            // worlds so far
	unseen  int            // boundaries in a row that have not reported that values differ
}

// worldRecord is the record of one attempt, by the communicator on which the attempt begins.
type worldRecord struct {
	id         int
	by         *driver // process that made the record
	begun      repair.Run
	members    []*worker
	homes      map[int]*driver
	boundaries []boundaryRecord
	committed  repair.Label
	sealed     bool
	label      repair.Label
	inFiles    repair.Label // the newest version that was reported to be in files when the attempt began
	replay     replayed
	replicas   bool // a process has been told that values differ
}

// boundaryRecord is the result of one boundary.
type boundaryRecord struct {
	by      *driver
	word    uint64
	dead    rankset.Set
	replied *driver
	reply   repair.Return
	every   int
	step    int
	value   uint64
	unseen  bool // values differ, and the boundary does not report this
}

func newRepairChecker(r *repairRun) repairChecker {
	return repairChecker{run: r, worlds: map[commstate.UID]*worldRecord{}, saves: map[int]uint64{}}
}

func (k *repairChecker) of(l *line) *worldRecord {
	rec := k.worlds[l.group.UID]
	if rec == nil {
		k.made++
		rec = &worldRecord{id: k.made, homes: map[int]*driver{}, inFiles: k.newestInFiles()}
		k.worlds[l.group.UID] = rec
	}
	return rec
}

// idOf returns a number that identifies the communicator of an attempt.
func (k *repairChecker) idOf(l *line) uint64 { return uint64(k.of(l).id) }

// begins checks V1 when an attempt begins.
func (k *repairChecker) begins(w *driver) {
	r, run, l := k.run, w.att.run, w.att.base
	w.attempts++
	rec := k.of(l)
	if run.Size != len(l.members) || run.Rank != l.group.Me {
		r.fail("V1", "process %d begins as rank %d of %d, and is rank %d of %d", w.number, run.Rank, run.Size, l.group.Me, len(l.members))
	}
	if rec.by == nil {
		k.count(run)
	}
	switch {
	case rec.by == nil || rec.by.gone:
		rec.by, rec.begun, rec.members = w, run, l.members
	case rec.begun.Attempt != run.Attempt || rec.begun.Size != run.Size || !slices.Equal(rec.begun.Lost, run.Lost):
		r.fail("V1", "process %d begins with %+v, process %d with %+v", rec.by.number, rec.begun, w.number, run)
	case !slices.Equal(rec.members, l.members):
		r.fail("V1", "processes %d and %d begin with different members", rec.by.number, w.number)
	}
	if other := rec.homes[run.Home]; other != nil && other != w && !other.gone {
		r.fail("V1", "processes %d and %d have home %d", other.number, w.number, run.Home)
	}
	rec.homes[run.Home] = w
	k.roles(w)
}

func (k *repairChecker) count(run repair.Run) {
	if run.Attempt > 1 {
		k.run.report.Repairs++
	}
	if k.last != nil && run.Size < k.last.begun.Size {
		k.run.report.Shrunk++
	}
}

// boundary checks V7 when a boundary is decided.
func (k *repairChecker) boundary(w *driver, word uint64, dead rankset.Set) {
	rec := k.of(w.att.base)
	for len(rec.boundaries) < w.att.number {
		rec.boundaries = append(rec.boundaries, boundaryRecord{})
	}
	b := &rec.boundaries[w.att.number-1]
	switch {
	case b.by == nil || b.by.gone:
		b.by, b.word, b.dead = w, word, dead
	case b.word != word || !b.dead.Equal(dead):
		k.run.fail("V7", "boundary %d returns to process %d %x, dead %v, and process %d %x, dead %v", w.att.number, b.by.number, b.word, b.dead, w.number, word, dead)
	}
}

// replied checks V7, V3 and V2 when the rules answer the program.
func (k *repairChecker) replied(w *driver) {
	r, a := k.run, w.att
	switch w.reply.Verdict {
	case repair.BadLost:
		if !k.beyond {
			r.fail("V2", "process %d finds no whole version though losses stayed within the levels", w.number)
		}
		if in := k.of(a.base).inFiles; !in.IsZero() {
			r.fail("V9", "process %d finds no whole version, and %v is in files", w.number, in)
		}
	case repair.BadReplica:
		k.replicasDiffer(w)
	case repair.BadMembers, repair.BadPlace:
		r.fail("V1", "process %d gets verdict %d", w.number, w.reply.Verdict)
	case repair.BadFiles:
		if r.setup.files.full == 0 {
			r.fail("V9", "process %d learns that files could not be written", w.number)
		}
	}
	k.committedAgain(w)
	if a.compared == a.number { // there was no boundary
		return
	}
	a.compared = a.number
	rec := k.of(a.base)
	b := &rec.boundaries[a.number-1]
	switch every := w.world.Interval(); {
	case b.replied == nil || b.replied.gone:
		b.replied, b.reply, b.every, b.step, b.value = w, w.reply, every, a.step, a.value
	case b.reply != w.reply || b.every != every:
		r.fail("V7", "boundary %d returns to process %d %+v, interval %d, and process %d %+v, interval %d", a.number, b.replied.number, b.reply, b.every, w.number, w.reply, every)
	case b.step != a.step || b.value != a.value:
		k.valuesDiffer(w, b)
	}
	if a.sealed && rec.committed.Less(w.reply.Label) {
		rec.committed = w.reply.Label
		r.report.Commits++
		k.filed = false
		k.whole(w, a.plan.Layout)
	}
}

// promised notes that Commit has returned nil.
func (k *repairChecker) promised(w *driver) {
	if w.promise.Less(w.reply.Label) {
		w.promise = w.reply.Label
	}
}

// sealed checks V1, V2, V6 and V8 at the end of a Protect.
func (k *repairChecker) sealed(w *driver) {
	r, a, label := k.run, w.att, w.reply.Label
	a.sealed = true
	rec := k.of(a.base)
	if !rec.sealed {
		rec.sealed, rec.label, rec.committed, k.last = true, label, label, rec
		k.forgive(rec)
		k.filed = a.plan.Source == repair.FromFiles
		if a.plan.Source == repair.FromMemory {
			r.report.Restored++
		}
		layout := a.plan.Layout
		if a.plan.Source == repair.FromMemory && a.plan.Size != a.run.Size {
			layout = a.keepers()
		}
		k.whole(w, layout)
		k.keepers = a.keepers()
		k.beyondOwn = !k.recoverable(k.keepers, k.keptOwn, -1)
	}
	k.replied(w)
	if rec.label != label {
		r.fail("V1", "process %d continues from version %v, others from %v", w.number, label, rec.label)
	}
	for _, q := range r.workers {
		switch promised := q.drive.promise; {
		case q.gone || !label.Less(promised):
		case r.setup.silent.verify && label.Number+1 == promised.Number:
			q.drive.promise = label // each repair restores one version earlier than necessary: the next one from here
		default:
			r.fail("V2", "process %d continues from version %v, and a Commit of process %d has returned nil for %v", w.number, label, q.number, promised)
		}
	}
	k.restoredFromFiles(w, label)
	k.ownNeverGoesBack(w)
	k.copies(w, label)
}

// copies checks V6, as long as no member has died since.
func (k *repairChecker) copies(w *driver, label repair.Label) {
	r, a := k.run, w.att
	if a.plan.Source != repair.FromMemory || a.plan.Size != a.run.Size || slices.ContainsFunc(a.base.members, func(m *worker) bool { return m.gone }) {
		return
	}
	v, me := w.store.find(label), a.run.Rank
	var needed rankset.Set
	needed.Add(me)
	switch layout := a.plan.Layout.(type) {
	case redundancy.Mirror:
		needed.Union(layout.KeptBy(me))
	case redundancy.Code:
		nodes := a.nodes()
		has := slices.ContainsFunc(v.shares, func(s keptShare) bool { return s.rank == me && slices.Equal(s.nodes, nodes) })
		if groupOf(layout, me).Parity > 0 && !has {
			r.fail("V6", "after Protect process %d has no parity of version %v", w.number, label)
		}
	}
	for owner := range needed.All() {
		if _, has := v.parts[owner]; !has {
			r.fail("V6", "after Protect process %d has nothing of rank %d's part of version %v", w.number, owner, label)
		}
	}
}

func groupOf(c redundancy.Code, rank int) redundancy.Group {
	for _, g := range c.Groups() {
		if slices.Contains(g.Members, rank) {
			return g
		}
	}
	return redundancy.Group{}
}

// part checks V3 when a part comes from another process.
func (k *repairChecker) part(w *driver, p keptPart, label repair.Label, owner int) {
	if p.label != label || p.rank != owner || p.sum != sumOf(label, owner, p.value) {
		k.run.fail("V3", "process %d gets rank %d's part of version %v for rank %d's of %v", w.number, p.rank, p.label, owner, label)
	}
}

// saved notes that Save has returned nil.
func (k *repairChecker) saved(w *driver, s saving) { k.saves[s.home] = max(k.saves[s.home], s.count) }

// ownNeverGoesBack checks V8: a live process has its last saving, and a successor has the saving
// that was reported to be kept.
func (k *repairChecker) ownNeverGoesBack(w *driver) {
	home := w.att.run.Home
	now := w.store.own[home]
	if now < w.ever {
		k.run.fail("V8", "process %d had saved %d times, and continues with home %d, which has %d times", w.number, w.ever, home, now)
	}
	w.ever = now
	if now < k.saves[home] {
		k.run.fail("V8", "home %d had saved %d times when its Save returned nil, and process %d finds %d", home, k.saves[home], w.number, now)
	}
}

// reused checks V5: no process refers to the former occupant of a reused slot, and every process
// knows of its death.
func (k *repairChecker) reused(dead *worker) {
	for _, w := range k.run.workers {
		switch {
		case w.gone || w.rules == nil:
		case w.refersTo(dead):
			k.run.fail("V5", "slot %d is used again, and process %d has a communicator with process %d, which had it", dead.slot, w.number, dead.number)
		case !w.knows.Has(dead.number):
			k.run.fail("V5", "slot %d is used again, and process %d does not know of the death of process %d, which had it", dead.slot, w.number, dead.number)
		}
	}
}

// orphan checks V4 when a process is left behind: the process is a replacement in its first
// attempt.
func (k *repairChecker) orphan(w *driver) {
	if w.attempts != 1 || w.isOfFirst() {
		k.run.fail("V4", "the others continue without process %d, which is no replacement", w.number)
	}
}
