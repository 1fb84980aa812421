package repair

import (
	"iter"
	"slices"
)

// An Archive is one process's knowledge of the versions in files. It computes the contribution of
// the process to boundaries, the versions that may be restored, and the versions that may be
// deleted. The owner of the Archive writes and reads the files:
//
//	FilesBegin     each process writes its part, in the background
//	FilesPublish   all have; the lowest rank writes the manifest, and only then a version is
//	               in files; then the lowest rank deletes the Superfluous ones
//	FilesAbandon   one could not
//
// A process may die at any moment of this sequence. So a version that all agreed to publish may be
// missing. A process that cannot read a version reports this, and no process restores the version.
type Archive struct {
	epoch uint64  // greatest of a version that is there, or was
	known []Label // that may be restored: found at the start of the job, or agreed to be published
	bad   []Label // that some process could not read, or that were dropped; none is in known
	told  bool    // the process has learnt the reports of the others
}

// Stored is a version in a store.
type Stored struct {
	Label Label
	State StoredState
}

// StoredState is the state of a version in a store.
type StoredState int

// The states.
const (
	Published   StoredState = iota // a manifest, and each file that it names, with the length that it names
	Unpublished                    // files without a manifest: the writer still writes, or has died
	Damaged                        // an invalid manifest, or one whose files are not all there
	Foreign                        // of another program or an unknown format: never deleted
)

// Writing is the state of a process's own file.
type Writing int

// The states of writing.
const (
	WritingNothing Writing = iota // no version is open
	WritingStill
	WritingDone
	WritingFailed
)

// Looks reports whether this process reads the store before it reports. The lowest rank does so
// until a Protect was agreed. After that it does so only if it has not learnt the reports of the
// others: all processes that knew the files of the job may have died before a replacement got the
// lowest rank.
func (a *Archive) Looks(rank int, g Gather) bool { return rank == 0 && (!g.Known || !a.told) }

// Found records one version of the store. A version that is not wanted by the person who starts
// the job is not restored, but its epoch is not used again.
func (a *Archive) Found(s Stored, wanted bool) {
	a.epoch = max(a.epoch, s.Label.Epoch)
	if s.State == Published && wanted {
		a.know(s.Label)
	}
}

// Fill enters the knowledge of this process into its report. The report does not change when the
// process learns the reports of others: all members make their plan from the same reports.
func (a *Archive) Fill(r *Report) {
	r.Epoch = max(r.Epoch, a.epoch)
	r.Files, r.Bad = slices.Clone(a.known), slices.Clone(a.bad)
}

// Learn records the reports of all members; afterwards all have the same knowledge. Without
// reports nothing is learnt.
func (a *Archive) Learn(reports []Report) {
	a.told = a.told || reports != nil
	for _, r := range reports {
		for _, l := range r.Files {
			a.know(l)
		}
		for _, l := range r.Bad {
			a.Spoiled(l)
		}
	}
}

func (a *Archive) know(l Label) {
	a.epoch = max(a.epoch, l.Epoch)
	if !slices.Contains(a.known, l) && !slices.Contains(a.bad, l) {
		a.known = append(a.known, l)
	}
}

// Spoiled records that a version must not be restored: some process could not read it, or it was
// dropped (Drop). The next Protect takes another version.
func (a *Archive) Spoiled(l Label) {
	if !slices.Contains(a.bad, l) {
		a.bad = append(a.bad, l)
	}
	a.known = slices.DeleteFunc(a.known, func(k Label) bool { return k == l })
}

// Says returns the contribution of this process to a boundary. While one version is open, no
// process requests another. due means that the process requests files of the version of this
// Commit; last, that this is the last version before a stop: its files are written before the
// boundary.
func (a *Archive) Says(own Writing, due, last bool) Files {
	switch own {
	case WritingStill:
		return FilesWriting
	case WritingFailed:
		return FilesFailed
	case WritingNothing:
		if due && !last {
			return FilesWanted
		}
	}
	return FilesDone
}

// Publishes records that all members have written their files of a version.
func (a *Archive) Publishes(l Label) { a.know(l) }

// Superfluous returns the versions that may be deleted once newest is published. Of the published
// versions up to newest, the last keep ones stay, and the older ones are superfluous. So is every
// version up to newest that is not published: it was abandoned, or its attempt is over. Newer
// versions are not touched, because a process may be writing them. Foreign ones are not touched
// either.
func Superfluous(there []Stored, newest Label, keep int) (gone []Label) {
	var published []Label
	for _, s := range there {
		if s.State == Published && !newest.Less(s.Label) {
			published = append(published, s.Label)
		}
	}
	slices.SortFunc(published, func(a, b Label) int { return b.compare(a) })
	kept := published[:min(keep, len(published))]
	for _, s := range there {
		if s.State != Foreign && !newest.Less(s.Label) && !slices.Contains(kept, s.Label) {
			gone = append(gone, s.Label)
		}
	}
	return gone
}

// Examined yields the files of a version, by rank of the world that wrote it, that a process reads
// in full before the version is restored. Together all processes read all files, whatever the size
// of their world is. Otherwise one process could continue with a version that another process later
// fails to read.
func Examined(rank, size, files int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for file := rank; file < files; file += size {
			if !yield(file) {
				return
			}
		}
	}
}
