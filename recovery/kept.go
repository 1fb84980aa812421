package recovery

import "github.com/goulfm/goulfm/internal/base/rankset"

// Where all ranks are on one node, and nobody else needs them, the slices of a version are in the
// home of their rank alone: the home outlives this process, so a copy in the process as well is for
// nothing.
//
//	commit    one copy: from the program's slice into the home, with a checksum of each 64 KiB on the way
//	newcomer  compares what is in the home with its checksums before it reports it, in 64 KiB of memory
//	restore   one copy: from the home into the program's slice
//
// A part whose members are needed for anything else, as to send them to another node, is loaded
// first.

// staysInHome says whether n bytes of a member are in the home alone. Values, and members that are
// compared, shared by versions, written to files or verified, are here, too.
func (r *runner) staysInHome(m Member, n int) bool {
	return r.home != nil && r.cfg.NodeMemory == WithoutCopies && r.files == nil && !r.cfg.Verify &&
		m.bytes != nil && n > 0 && !m.option.Same && !m.option.Static && !m.option.Own
}

// length is that of the present value of a Slice, in bytes; 0 of a Value.
func (m Member) length() int {
	if m.bytes == nil {
		return 0
	}
	return len(m.bytes())
}

// put enters the part of a rank, of which the members in kept are in the home.
func (v *version) put(rank int, p part, kept rankset.Set) {
	for i := range kept.All() {
		p[i] = nil
	}
	v.parts[rank] = p
	if rank == v.owner || !kept.IsEmpty() {
		v.owner, v.kept = rank, kept
	}
}

// load brings here what a version has in the home alone. With an error this rank has no part of it.
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

// forgetUnkept forgets the parts that were in the home and are not any more: a commit forgets what
// attempts before have left there, and this process is not to report it.
func (r *runner) forgetUnkept() {
	for _, v := range r.mem.versions {
		if !v.kept.IsEmpty() && !r.home.has(partIn(v.label, v.owner)) {
			delete(v.parts, v.owner)
			v.kept = rankset.Set{}
		}
	}
}
