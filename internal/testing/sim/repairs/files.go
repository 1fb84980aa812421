package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// fileSetup holds the use of files in a run, and the faults of the files.
type fileSetup struct {
	used   bool
	every  int           // every Every-th version is written to files
	keep   int           // number of versions that stay
	must   bool          // Config.Must
	full   int           // percent: the disk is full when a file is written
	tears  bool          // a death during a write may leave part of the file
	rots   int           // percent: between two jobs a file rots
	lives  int           // number of jobs that follow when one has not ended with done
	allDie int           // percent: a death takes all processes
	disk   mono.Duration // typical time of one step of a write
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

// A desk does the file operations of a process, as recovery/files.go does. The desk holds the rules
// of known and reported versions, and the file in progress.
type desk struct {
	*driver
	archive repair.Archive
	open    *writing
	begun   bool
	since   int      // commits since the last version was begun
	puts    []*put   // under way
	queue   []func() // versions to publish, one after the other; the first one is under way
	idle    []func() // functions that wait for the end of the queue
	lost    bool     // a version could not be published
	loaded  bool     // the program can take the part that was read
	read    keptPart
}

// A writing is the file of this process in progress.
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

// write makes a file in three steps. The process may die or cancel between the steps. The file is
// whole from the end of the second step. A process that dies before may leave a part of the file,
// if the setup tears files. A canceled write leaves nothing.
func (d *desk) write(p *put, canceled func() bool, then func(ok bool)) {
	d.puts = append(d.puts, p)
	over := func() { d.puts = slices.DeleteFunc(d.puts, func(o *put) bool { return o == p }) }
	d.onDisk(canceled, over, func() { // the file is begun under another name
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

// onDisk continues after the time of a disk operation, unless the write is canceled.
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

// cannotPublish reports whether this process failed to publish a version that the program requires.
func (d *desk) cannotPublish() bool { return d.lost && d.run.setup.files.must }

func never() bool { return false }

// leaveTorn leaves the remains of unfinished files after a death.
func (d *desk) leaveTorn() {
	for _, p := range d.puts {
		if d.run.setup.files.tears && d.run.tape.Percent(70) {
			p.leave(fileTorn)
		}
	}
	d.puts = nil
}

// says returns this process's contribution about files to the boundary of a commit.
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

// obey executes the decision of a boundary about files.
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

// beginFile writes this rank's part of a version while the program continues.
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

// writeNow is beginFile for the last version before a stop: all files are written, and rank 0 knows
// their sums, before the boundary.
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

// collectSums brings the sums of all ranks to rank 0. The others get nil.
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

// publish publishes the open version, once rank 0 knows the sums of all ranks.
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
		if ok { // otherwise a process has died, and the attempt is over
			d.archive.Publishes(o.label)
			d.writeManifest(o.label, all, func() {})
		}
		then()
	})
}

// writeManifest publishes a version, at rank 0, and then deletes superfluous versions.
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

// sweep deletes versions, file by file, the manifest of each first.
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

// awaitPublished continues when the versions that rank 0 publishes are in files, if the plan needs
// files.
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

// afterPublishing continues when no version is being published.
func (d *desk) afterPublishing(then func()) {
	if len(d.queue) == 0 {
		then()
		return
	}
	d.idle = append(d.idle, then)
}

// look finds the stored versions from which a job may continue.
func (d *desk) look() {
	for _, s := range d.run.folder.list() {
		d.archive.Found(s, true)
	}
}

// reload reads this rank's part of a version from files, and all files that the rank must examine.
// The result is false if one of them is not readable.
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
		from = a.run.Rank * files / size // in place of a redistribution of elements
	}
	d.read, d.loaded = v.read(from)
	if d.loaded {
		d.run.check.part(d.driver, d.read, l, from)
	}
	return d.loaded
}

// restore restores this rank's part from files.
func (d *desk) restore(l repair.Label) bool {
	if d.reload(l) {
		return true
	}
	if !d.att.canceled { // otherwise the cancellation may be the cause
		d.run.report.Files.Spoiled++
		d.archive.Spoiled(l)
	}
	return false
}

// take gives the program the part that was read. Values of a single rank are not redistributed.
func (d *desk) take() {
	a, p := d.att, d.read
	a.step, a.value = p.step, p.value
	if p.rank == a.run.Rank && a.run.Size == d.run.folder.writers(a.plan.Label) {
		a.local = p.local
	} else { // in place of a redistribution of elements
		p.static = staticOf(a.run.Rank, a.run.Size)
	}
	d.stock.take(d.driver, &p)
}
