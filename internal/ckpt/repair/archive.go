package repair

import (
	"iter"
	"slices"
)

// An Archive is what one process knows of the versions in files, and by which it says at boundaries
// how far it is, which version may be restored, and which ones may be deleted. Who owns it writes
// and reads the files:
//
//	FilesBegin     each process writes its part, in the background
//	FilesPublish   all have; the lowest rank writes the manifest, and only then there is a version
//	               in files; then it deletes what is Superfluous
//	FilesAbandon   one could not
//
// A process may die at any moment of that. So a version that all agreed to publish may be missing;
// who cannot read a version says so, and nobody restores it.
type Archive struct {
	epoch uint64  // greatest of a version that is there, or was
	known []Label // that may be restored: found at the start of the job, or agreed to be published
	bad   []Label // that some process could not read, or that were dropped; none is in known
	told  bool    // it knows what the others know
}

// Stored is a version as a store has it.
type Stored struct {
	Label Label
	State StoredState
}

// StoredState says what a store has of a version.
type StoredState int

// The states.
const (
	Published   StoredState = iota // a manifest, and each file that it names, with the length that it names
	Unpublished                    // files and no manifest: of somebody who is writing, or has died
	Damaged                        // a manifest, and not all that it names; or one that is not right itself
	Foreign                        // of a program or a format that is not ours: it is not touched
)

// Writing says how far a process is with its own file.
type Writing int

// What it can be.
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

// Found takes over one version that the store has. What is not wanted, by the
// person who starts it, is not restored; but no epoch comes twice.
func (a *Archive) Found(s Stored, wanted bool) {
	a.epoch = max(a.epoch, s.Label.Epoch)
	if s.State == Published && wanted {
		a.know(s.Label)
	}
}

// Fill enters what this process knows into its report, which does not change when it learns what
// others have reported: all make their plan of the same reports.
func (a *Archive) Fill(r *Report) {
	r.Epoch = max(r.Epoch, a.epoch)
	r.Files, r.Bad = slices.Clone(a.known), slices.Clone(a.bad)
}

// Learn takes over what all have reported: by then all know the same. Without reports nothing is
// learnt.
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

// Spoiled notes that a version must not be restored: some process could not read it, or it was
// dropped (Drop). The next Protect takes another one.
func (a *Archive) Spoiled(l Label) {
	if !slices.Contains(a.bad, l) {
		a.bad = append(a.bad, l)
	}
	a.known = slices.DeleteFunc(a.known, func(k Label) bool { return k == l })
}

// Says is what this process contributes to a boundary: while one version is open nobody wants
// another. due says that it wants files of the version of this Commit; last, that this is the last
// one before a stop: then its files are written before the boundary.
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

// Publishes notes that all have written their files of a version.
func (a *Archive) Publishes(l Label) { a.know(l) }

// Superfluous says which versions may be deleted once newest is published: all that are older, but
// for so many published ones that keep of them are left, newest among them. What is not published
// is of an attempt that is over. Versions that are newer are not touched: a process may be writing
// them. Foreign ones are not touched either.
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

// Examined are the files of a version, by rank of the world that wrote it, of which a process reads
// all bytes before it is restored. Together all processes read all, whatever the size of their
// world is: else one could go on with a version of which another one finds out later that it cannot
// be read.
func Examined(rank, size, files int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for file := rank; file < files; file += size {
			if !yield(file) {
				return
			}
		}
	}
}
