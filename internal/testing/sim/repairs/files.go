package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// fileSetup says whether a run has files, and what becomes of them.
type fileSetup struct {
	used   bool
	every  int           // files of each Every-th version
	keep   int           // versions that stay
	must   bool          // Config.Must
	full   int           // percent: the disk is full when a file is written
	tears  bool          // who dies while it writes leaves a part of the file
	rots   int           // percent: between two jobs a file rots
	lives  int           // jobs that follow when one has ended otherwise than done
	allDie int           // percent: a death is that of all
	disk   mono.Duration // how long a step of a write takes, typically
}

func drawFiles(t *world.Tape) (s fileSetup) {
	if !t.Percent(40) {
		return s
	}
	s.used = true
	s.every = []int{1, 1, 3}[t.Below(3)]
	s.keep = t.Between(1, 2)
	if t.Percent(15) {
		s.full, s.must = 5, t.Percent(50)
	}
	s.tears = t.Percent(50)
	s.rots = []int{0, 40, 80}[t.Below(3)]
	s.lives = t.Between(0, 4)
	s.allDie = []int{0, 20, 50}[t.Below(3)]
	s.disk = []mono.Duration{world.MessageDelay / 2, 3 * world.MessageDelay, 20 * world.MessageDelay}[t.Below(3)]
	return s
}

// A desk is where a process does what there is to do with files, as recovery/files.go: the rules of
// what is known and said, and what is being written.
type desk struct {
	*driver
	archive repair.Archive
	open    *writing
	begun   bool
	since   int      // commits since the last version was begun
	puts    []*put   // under way
	queue   []func() // versions to publish, one after the other; the first one is under way
	idle    []func() // what waits for the end of that
	lost    bool     // a version could not be published
	loaded  bool     // the program can have what was read
	read    keptPart
}

// A writing is the file of this process on its way.
type writing struct {
	label    repair.Label
	state    repair.Writing
	sum      uint64
	all      []uint64 // at rank 0, before a stop: of all ranks
	canceled bool
	then     func()
}

// A put makes a file.
type put struct{ leave func(shape fileShape) }

// write makes a file, in steps between which this process may die or give up. Whoever stops before
// the last one leaves nothing, or, where the folder tears files, a part.
func (d *desk) write(p *put, canceled func() bool, then func(ok bool)) {
	d.puts = append(d.puts, p)
	over := func() { d.puts = slices.DeleteFunc(d.puts, func(o *put) bool { return o == p }) }
	d.onDisk(canceled, over, func() { // it is begun under another name
		d.onDisk(canceled, over, func() { // all bytes are there
			if d.run.tape.Percent(d.run.setup.files.full) {
				over()
				then(false)
				return
			}
			p.leave(fileWhole)
			over()
			d.onDisk(canceled, over, func() { then(true) })
		})
	})
}

// onDisk goes on after the time of a disk's operation, unless it is not wanted any more.
func (d *desk) onDisk(canceled func() bool, over, then func()) {
	r := d.run
	r.plan(r.tape.Tail(r.setup.files.disk), func() {
		d.happen(func() {
			switch {
			case canceled():
				over()
			case r.strikes(d.worker):
				d.die()
			case !d.gone:
				then()
			}
		})
	})
}

// cannotPublish says whether this process could not publish a version that the program must have.
func (d *desk) cannotPublish() bool { return d.lost && d.run.setup.files.must }

func never() bool { return false }

// leaveTorn is what a death leaves of the files that are being written.
func (d *desk) leaveTorn() {
	for _, p := range d.puts {
		if d.run.setup.files.tears && d.run.tape.Percent(70) {
			p.leave(fileTorn)
		}
	}
	d.puts = nil
}

// says is what this process contributes about files to the boundary of a commit.
func (d *desk) says(last bool) repair.Files {
	s := &d.run.setup.files
	if !s.used {
		return repair.FilesDone
	}
	own, due := repair.WritingNothing, false
	switch {
	case d.open != nil:
		own = d.open.state
	case !last:
		d.since++
		due = !d.begun || d.since >= s.every
	}
	return d.archive.Says(own, due, last)
}

// obey does what a boundary has said about files.
func (d *desk) obey(a repair.Return, then func()) {
	switch {
	case a.Files == repair.FilesBegin:
		d.beginFile(a.Label)
	case a.Files == repair.FilesPublish && d.open != nil:
		d.publish(a.Verdict == repair.OverStop, then)
		return
	case a.Files == repair.FilesAbandon:
		d.run.report.Files.Abandoned++
		d.closeOpen()
	}
	then()
}

// beginFile writes this rank's part of a version, beside the program.
func (d *desk) beginFile(l repair.Label) {
	rank := d.att.run.Rank
	part := d.store.find(l).parts[rank]
	o := &writing{label: l, state: repair.WritingStill}
	d.open, d.begun, d.since = o, true, 0
	leave := func(shape fileShape) { d.run.folder.putFile(l, rank, shape, part) }
	d.write(&put{leave}, func() bool { return o.canceled }, func(ok bool) {
		o.state, o.sum = repair.WritingFailed, 0
		if ok {
			o.state, o.sum = repair.WritingDone, fileSum(part)
		}
		if o.then != nil {
			o.then()
		}
	})
}

// writeNow is beginFile for the last version before a stop: all is written, and known to rank 0,
// before the boundary.
func (d *desk) writeNow(l repair.Label, then func()) {
	d.closeOpen()
	d.beginFile(l)
	o := d.open
	o.then = func() {
		d.collectSums(o.sum, func(all []uint64, ok bool) {
			o.all = all
			if !ok {
				o.state = repair.WritingFailed
			}
			then()
		})
	}
}

// collectSums brings what all ranks have written to rank 0; the others get nil.
func (d *desk) collectSums(mine uint64, then func(all []uint64, ok bool)) {
	var all []uint64
	var moves []move
	if d.att.run.Rank == 0 {
		all = make([]uint64, d.att.run.Size)
	}
	for rank := range d.att.run.Size {
		moves = append(moves, move{rank, 0, func() any { return mine }, func(sum any) { all[rank] = sum.(uint64) }})
	}
	d.moveAll(moves, func(ok bool) { then(all, ok) })
}

func (d *desk) closeOpen() {
	if d.open != nil {
		d.open.canceled = true
		d.open = nil
	}
}

// publish makes the open version one that exists, once rank 0 knows what all have written.
func (d *desk) publish(last bool, then func()) {
	o := d.open
	d.open = nil
	if last {
		d.archive.Publishes(o.label)
		d.writeManifest(o.label, o.all, then)
		return
	}
	d.busy = "files"
	d.collectSums(o.sum, func(all []uint64, ok bool) {
		if d.gone {
			return
		}
		d.busy = ""
		if ok { // else somebody has died: the attempt is over
			d.archive.Publishes(o.label)
			d.writeManifest(o.label, all, func() {})
		}
		then()
	})
}

// writeManifest publishes a version, at rank 0, and then deletes what is superfluous.
func (d *desk) writeManifest(l repair.Label, sums []uint64, then func()) {
	if sums == nil {
		then()
		return
	}
	leave := func(shape fileShape) { d.run.folder.at(l).manifest = manifest{shape, sums} }
	over := func() {
		then()
		d.queue = d.queue[1:]
		if len(d.queue) > 0 {
			d.queue[0]()
			return
		}
		idle := d.idle
		d.idle = nil
		for _, f := range idle {
			f()
		}
	}
	d.queue = append(d.queue, func() {
		d.write(&put{leave}, never, func(ok bool) {
			if !ok {
				d.lost = true
				over()
				return
			}
			d.run.check.isInFiles(d.driver, l)
			d.sweep(repair.Superfluous(d.run.folder.list(), l, d.run.setup.files.keep), over)
		})
	})
	if len(d.queue) == 1 {
		d.queue[0]()
	}
}

// sweep deletes versions, file by file, of each the manifest first.
func (d *desk) sweep(gone []repair.Label, then func()) {
	if len(gone) == 0 {
		then()
		return
	}
	d.onDisk(never, func() {}, func() {
		d.run.check.deletes(d.driver, gone[0])
		if !d.run.folder.remove(gone[0]) {
			d.run.report.Files.Deleted++
			gone = gone[1:]
		}
		d.sweep(gone, then)
	})
}

// awaitPublished goes on when what rank 0 publishes is in files, if the plan needs those.
func (d *desk) awaitPublished(p repair.Plan, then func(ok bool)) {
	if p.Source != repair.FromFiles {
		then(true)
		return
	}
	var told []move
	for rank := 1; rank < d.att.run.Size; rank++ {
		told = append(told, move{0, rank, func() any { return true }, func(any) {}})
	}
	tell := func() { d.moveAll(told, then) }
	if d.att.run.Rank == 0 {
		d.afterPublishing(tell)
		return
	}
	tell()
}

// afterPublishing goes on when no version is being published.
func (d *desk) afterPublishing(then func()) {
	if len(d.queue) == 0 {
		then()
		return
	}
	d.idle = append(d.idle, then)
}

// look finds what a job may go on from.
func (d *desk) look() {
	for _, s := range d.run.folder.list() {
		d.archive.Found(s, true)
	}
}

// reload reads this rank's part of a version from files, and all that it is to examine: what is
// left is false if it cannot.
func (d *desk) reload(l repair.Label) bool {
	a, v := d.att, d.run.folder.find(l)
	d.loaded = false
	if v == nil || v.manifest.shape != fileWhole {
		return false
	}
	size, files := a.run.Size, len(v.manifest.sums)
	for rank := range repair.Examined(a.run.Rank, size, files) {
		if _, ok := v.read(rank); !ok {
			return false
		}
	}
	from := a.run.Rank
	if files != size {
		from = a.run.Rank * files / size // it stands for dealing out the elements
	}
	d.read, d.loaded = v.read(from)
	if d.loaded {
		d.run.check.part(d.driver, d.read, l, from)
	}
	return d.loaded
}

// restore is restore from files.
func (d *desk) restore(l repair.Label) bool {
	if d.reload(l) {
		return true
	}
	if !d.att.canceled { // else that may be why
		d.run.report.Files.Spoiled++
		d.archive.Spoiled(l)
	}
	return false
}

// take gives the program what was read. What is of a rank alone is not dealt out.
func (d *desk) take() {
	a, p := d.att, d.read
	a.step, a.value = p.step, p.value
	if p.rank == a.run.Rank && a.run.Size == d.run.folder.writers(a.plan.Label) {
		a.local = p.local
	} else { // it stands for dealing out the elements
		p.static = staticOf(a.run.Rank, a.run.Size)
	}
	d.stock.take(d.driver, &p)
}
