package recovery

import "github.com/goulfm/goulfm/internal/base/rankset"

// If all ranks are on one node and no other use needs them, the slices of a version are in the home
// of their rank alone: the home outlives this process, so a second copy in the process is useless.
//
//	commit       one copy: from the program's slice into the home, with a checksum of each 64 KiB
//	replacement  compares the home with its checksums before the report, in 64 KiB of memory
//	restore      one copy: from the home into the program's slice
//
// A part whose members are needed for another use, such as a transfer to another node, is loaded
// first.

// staysInHome reports whether n bytes of a member are in the home alone. Values, and members that
// are compared, shared by versions, written to files or verified, are also in this process.
func (r *runner) staysInHome(m Member, n int) bool {
	return r.home != nil && r.cfg.NodeMemory == NodeMemoryWithoutCopies && r.files == nil && !r.cfg.Verify &&
		m.bytes != nil && n > 0 && !m.option.Same && !m.option.Static && !m.option.Own
}

// length is the length of the present value of a Slice, in bytes, and 0 for a Value.
func (m Member) length() int {
	if m.bytes == nil {
		return 0
	}
	return len(m.bytes())
}

// put enters the part of a rank. Its members in kept are in the home.
func (v *version) put(rank int, p part, kept rankset.Set) {
	for i := range kept.All() {
		p[i] = nil
	}
	v.parts[rank] = p
	if rank == v.owner || !kept.IsEmpty() {
		v.owner, v.kept = rank, kept
	}
}

// load reads the members of a version that are in the home alone. After an error this rank has no
// part of the version.
func (r *runner) load(v *version) error {
	if v.kept.IsEmpty() {
		return nil
	}
	_, _, p, err := r.w.readKept(r.home.Home, partIn(v.label, v.owner), here)
	v.kept = rankset.Set{}
	if err != nil {
		delete(v.parts, v.owner)
		return err
	}
	v.parts[v.owner] = p
	return nil
}

// takeKept gives the members the bytes that the home alone has, except to members that stand.
func (w *World) takeKept(v *version, stands func(m Member) bool) error {
	if v.kept.IsEmpty() {
		return nil
	}
	var bad error
	_, _, _, err := w.readKept(w.r.home.Home, partIn(v.label, v.owner), func(i, n int) []byte {
		if bad != nil || !v.kept.Has(i) || stands(w.members[i]) {
			return nil
		}
		to, err := w.members[i].room(n)
		bad = err
		return to
	})
	if bad != nil {
		return bad
	}
	return err
}

// forgetUnkept forgets the parts that are no longer in the home. A commit deletes the parts that
// earlier attempts have left there, and this process must not report them.
func (r *runner) forgetUnkept() {
	for _, v := range r.mem.versions {
		if !v.kept.IsEmpty() && !r.home.has(partIn(v.label, v.owner)) {
			delete(v.parts, v.owner)
			v.kept = rankset.Set{}
		}
	}
}
