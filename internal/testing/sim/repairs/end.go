package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// hasRoom reports whether there are processes to fill up a world.
func (k *repairChecker) hasRoom() bool {
	living := 0
	for _, w := range k.run.slots {
		if !w.gone {
			living++
		}
	}
	return living < k.run.setup.universe
}

// refused checks V14 when a request for processes is refused for lack of slots.
func (k *repairChecker) refused(root *worker, a job.Answer) {
	ask := root.drive.ask
	if !a.Short || root.gone || ask == nil || ask.token != a.Token {
		return
	}
	n, free := len(ask.what.Ranks), 0
	for slot := range k.run.setup.universe {
		if slot >= len(k.run.slots) || k.isOver(k.run.slots[slot], root) {
			free++
		}
	}
	if free >= n && n == 1 { // several must be adjacent
		k.run.fail("V14", "process %d is refused 1 process, and %d slots of %d are free, or of dead processes that were not in the last attempt\n%s", root.number, free, k.run.setup.universe, k.run.describe())
	}
}

// isOver reports whether a process is dead, all live processes know of its death from the list, and
// the process was in neither the last attempt nor a repair since.
func (k *repairChecker) isOver(w *worker, root *worker) bool {
	for _, o := range k.run.workers {
		if !o.gone && o.rules != nil && !o.knows.Has(w.number) {
			return false
		}
	}
	return w.gone && w.reaped && w.declared && !slices.Contains(root.drive.att.base.members, w) && !slices.Contains(root.drive.ask.on.members, w)
}

// final checks V4: all processes have ended, and alike.
func (k *repairChecker) final() {
	r := k.run
	r.report.Ending = ""
	var first *driver
	for _, process := range r.workers[r.first:] {
		w := process.drive
		switch {
		case w.gone:
			continue
		case w.outcome == nil:
			r.fail("V4", "not all have ended, and nothing happens any more\n%s", r.describe())
			return
		case first == nil:
			first = w
		case w.outcome.End != first.outcome.End:
			r.fail("V4", "process %d ends with %v, process %d with %v", first.number, first.outcome.End, w.number, w.outcome.End)
		}
		if w.outcome.End == repair.Done && w.att.step != r.setup.steps {
			r.fail("V4", "process %d is done at step %d of %d", w.number, w.att.step, r.setup.steps)
		}
	}
	if first == nil {
		return
	}
	switch first.outcome.End {
	case repair.Done:
		k.allDone(first)
	case repair.Stopped:
		k.stoppedWithFiles(first)
	}
	r.report.Ending = first.outcome.End.String()
	k.ending(first.outcome.End)
}

// allDone checks that all members of the last attempt have finished, including those that have died
// since: no process leaves before.
func (k *repairChecker) allDone(w *driver) {
	for rank, m := range w.att.base.members {
		a := m.drive.att
		if a == nil || a.base.group.UID != w.att.base.group.UID || a.step != k.run.setup.steps {
			k.run.fail("V4", "all are done, but process %d, rank %d of the last attempt, has died before", m.number, rank)
		}
	}
}

// ending checks that a run may end in this way.
func (k *repairChecker) ending(e repair.Ending) {
	r, s := k.run, &k.run.setup
	possible := false
	switch e {
	case repair.Done:
		possible = true
	case repair.Peer:
		possible = s.fatal >= 0 || k.beyond || s.files.must && s.files.full > 0 || r.report.Silent.Replays > 0
	case repair.Stopped:
		possible = s.stop >= 0
	case repair.NoProgress:
		possible = r.report.Silent.Unseen > 0 // because values differ for ever in a committed version
	case repair.TooFew:
		possible = r.report.Refused > 0 && s.shortage != repair.ShortageShrink || s.starts > 0 || s.deaths > repair.FillsMax
	}
	if !possible {
		r.fail("V4", "all end with %v", e)
	}
}
