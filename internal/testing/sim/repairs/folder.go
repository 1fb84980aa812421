package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// A folder stores versions in files, as a store of package recovery/checkpoint does. The folder
// outlives all processes.
type folder struct{ versions []*filedVersion }

// A filedVersion is the stored part of a version.
type filedVersion struct {
	label    repair.Label
	manifest manifest
	files    []rankFile // by rank
}

// A manifest lists the files of all ranks. With a manifest the files are a version.
type manifest struct {
	shape fileShape
	sums  []uint64 // of the files, by rank
}

// A rankFile is the part of one rank.
type rankFile struct {
	shape fileShape
	part  keptPart
}

// fileShape is the state of a file.
type fileShape int

const (
	fileAbsent fileShape = iota
	fileTorn             // its writer has died: the file is too short
	fileRotten           // of the right length, with bytes that differ from the written ones
	fileWhole
)

// fileSum is the checksum of a file.
func fileSum(p keptPart) uint64 { return world.Mix(p.sum ^ uint64(p.step)<<32 ^ p.local) }

func (f *folder) find(l repair.Label) *filedVersion {
	i := slices.IndexFunc(f.versions, func(v *filedVersion) bool { return v.label == l })
	if i < 0 {
		return nil
	}
	return f.versions[i]
}

func (f *folder) at(l repair.Label) *filedVersion {
	v := f.find(l)
	if v == nil {
		v = &filedVersion{label: l}
		f.versions = append(f.versions, v)
	}
	return v
}

// putFile sets the file of a rank.
func (f *folder) putFile(l repair.Label, rank int, shape fileShape, p keptPart) {
	v := f.at(l)
	for len(v.files) <= rank {
		v.files = append(v.files, rankFile{})
	}
	v.files[rank] = rankFile{shape, p}
}

// remove deletes the manifest of a version, or, once there is none, one file. The result is false
// if nothing is left.
func (f *folder) remove(l repair.Label) (more bool) {
	v := f.find(l)
	if v == nil {
		return false
	}
	if v.manifest.shape != fileAbsent {
		v.manifest = manifest{}
		return true
	}
	for rank := range v.files {
		if v.files[rank].shape != fileAbsent {
			v.files[rank] = rankFile{}
			return true
		}
	}
	f.versions = slices.DeleteFunc(f.versions, func(o *filedVersion) bool { return o == v })
	return false
}

// list returns the stored versions and their states, by manifests and lengths.
func (f *folder) list() (all []repair.Stored) {
	for _, v := range f.versions {
		if v.manifest.shape != fileAbsent || slices.ContainsFunc(v.files, func(x rankFile) bool { return x.shape != fileAbsent }) {
			all = append(all, repair.Stored{Label: v.label, State: v.state()})
		}
	}
	return all
}

func (v *filedVersion) state() repair.StoredState {
	switch v.manifest.shape {
	case fileAbsent:
		return repair.Unpublished
	case fileTorn, fileRotten:
		return repair.Damaged
	}
	for rank := range v.manifest.sums {
		if rank >= len(v.files) || v.files[rank].shape < fileRotten {
			return repair.Damaged
		}
	}
	return repair.Published
}

// read returns the part in the file of a rank, if its bytes match the manifest.
func (v *filedVersion) read(rank int) (p keptPart, ok bool) {
	if rank >= len(v.files) {
		return p, false
	}
	x := v.files[rank]
	return x.part, x.shape == fileWhole && fileSum(x.part) == v.manifest.sums[rank]
}

// writers returns the number of ranks that wrote a version.
func (f *folder) writers(l repair.Label) int {
	if v := f.find(l); v != nil {
		return len(v.manifest.sums)
	}
	return 0
}

// isIntact reports whether a version is stored with all its bytes. A process of the run knows this
// only after it has read all of them.
func (f *folder) isIntact(l repair.Label) bool {
	v := f.find(l)
	if v == nil || v.manifest.shape != fileWhole {
		return false
	}
	for rank := range v.manifest.sums {
		if p, ok := v.read(rank); !ok || p.label != l || p.rank != rank {
			return false
		}
	}
	return true
}

// rot changes bytes of one file of a published version, most likely the newest.
func (r *repairRun) rot() {
	for i := len(r.folder.versions) - 1; i >= 0; i-- {
		v := r.folder.versions[i]
		if v.state() == repair.Published && r.tape.Percent(70) {
			rank := r.tape.Below(len(v.manifest.sums))
			v.files[rank].shape = fileRotten
			r.trace(nil, "the file of rank %d of version %v rots", rank, v.label)
			return
		}
	}
}
