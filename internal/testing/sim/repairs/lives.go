package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// anew starts another job over the files of the last one, possibly with another number of ranks. No
// process of the last job remains, and no memory of a node.
func (r *repairRun) anew() {
	r.lives--
	r.report.Files.Lives++
	for _, w := range r.workers {
		w.gone = true
	}
	if r.tape.Percent(r.setup.files.rots) {
		r.rot()
	}
	if r.tape.Percent(70) {
		r.n = r.tape.Between(1, r.setup.n)
	}
	r.trace(nil, "all start anew: %d ranks", r.n)
	r.first, r.slots = len(r.workers), nil
	clear(r.memories)
	r.check.anew()
	r.launcher = launcher{}
	r.launcher.init(r)
	r.launcher.begin()
}

// isToStartAnew reports whether the job is started again after its end.
func (r *repairRun) isToStartAnew() bool {
	return r.lives > 0 && r.violation == nil && r.report.Ending != repair.Done.String()
}

// isOfFirst reports whether a worker is one of the first ranks of its job.
func (w *worker) isOfFirst() bool { return w.number >= w.run.first && w.number < w.run.first+w.run.n }

// anew drops the records of a job's processes: their answers bind no later process, except for
// versions in files.
func (k *repairChecker) anew() {
	clear(k.worlds)
	clear(k.saves)
	k.last, k.members, k.layout, k.lost = nil, nil, nil, rankset.Set{}
	k.beyond, k.beyondOwn, k.filed = false, false, false
}

// isInFiles notes that a version is in files, and is reported to be there from now on.
func (k *repairChecker) isInFiles(w *driver, l repair.Label) {
	k.run.report.Files.Written++
	k.inFiles = append(k.inFiles, l)
	if !k.run.folder.isIntact(l) {
		k.run.fail("V9", "process %d has published version %v, and not all of it is in files", w.number, l)
	}
}

// newestInFiles returns the newest version that was reported to be in files, and is.
func (k *repairChecker) newestInFiles() (newest repair.Label) {
	for _, l := range k.inFiles {
		if newest.Less(l) && k.run.folder.isIntact(l) {
			newest = l
		}
	}
	return newest
}

// deletes checks V11 when a version is deleted, or a file of a version.
func (k *repairChecker) deletes(w *driver, l repair.Label) {
	if !k.run.folder.isIntact(l) {
		return
	}
	newer := func(v *filedVersion) bool { return l.Less(v.label) && k.run.folder.isIntact(v.label) }
	if !slices.ContainsFunc(k.run.folder.versions, newer) {
		k.run.fail("V11", "process %d deletes version %v, and no newer one is whole", w.number, l)
	}
}

// restoredFromFiles checks V9 and V10 at the end of a Protect.
func (k *repairChecker) restoredFromFiles(w *driver, label repair.Label) {
	r, a := k.run, w.att
	if in := k.of(a.base).inFiles; label.Less(in) && !(r.setup.silent.verify && label.Number+1 == in.Number) {
		r.fail("V9", "process %d continues from version %v, and %v is in files", w.number, label, in)
	}
	if a.plan.Source != repair.FromFiles {
		return
	}
	r.report.Files.Restored++
	if a.run.Size != r.folder.writers(label) {
		r.report.Files.Dealt++
	}
	if !w.desk.loaded {
		r.fail("V10", "process %d continues from version %v, and could not read its part", w.number, label)
	}
	if !r.folder.isIntact(label) {
		r.fail("V10", "process %d continues from version %v, of which not all is in files as it was written", w.number, label)
	}
}

// stoppedWithFiles checks V9 after a stop, when all were informed that the last version is in
// files.
func (k *repairChecker) stoppedWithFiles(w *driver) {
	r := k.run
	if !r.setup.files.used || w.reply.Files != repair.FilesPublish || r.setup.files.full > 0 {
		return
	}
	if !r.folder.isIntact(w.reply.Label) {
		r.fail("V9", "all have stopped after version %v, which is not in files", w.reply.Label)
	}
}
