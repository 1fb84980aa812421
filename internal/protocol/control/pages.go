package control

// Context indices only grow and are never used again. If a program makes and frees communicators
// for weeks, a flat list would grow without bound, and a scan would take longer and longer. So the
// list is cut into pages. A page is folded into a word of bits when all its drawn indices are freed
// without orphans: a bit holds whether a closing agreement freed the index. A folded page takes 16
// bytes for 64 indices.
const pageLen = 64

type page struct {
	entries [pageLen]entry
	open    int // entries that are pending or live, or freed with orphans
}

// pages is a list of entries by number.
type pages struct {
	list []*page
	fold []uint64 // by page: the ended bits of a folded page (nil in list)
	n    uint32   // entries so far
	// The values of folded entries: never written.
	ended, gone *entry
}

func newPages() pages {
	return pages{ended: &entry{state: Freed, grave: &grave{ended: true}}, gone: &entry{state: Freed, grave: &grave{}}}
}

// at returns the i-th entry, or nil if the list is shorter. Only put changes an entry, except for
// the waiting state of a pending entry.
func (p *pages) at(i uint32) *entry {
	switch {
	case i >= p.n:
		return nil
	case p.list[i/pageLen] != nil:
		return &p.list[i/pageLen].entries[i%pageLen]
	case p.fold[i/pageLen]>>(i%pageLen)&1 == 1:
		return p.ended
	}
	return p.gone
}

// put sets the i-th entry; the entries before that are new stay Absent. A freed entry is not set
// again.
func (p *pages) put(i uint32, s entry) {
	for p.n <= i {
		if p.n%pageLen == 0 {
			p.list, p.fold = append(p.list, new(page)), append(p.fold, 0)
			p.tidy(int(p.n/pageLen) - 1)
		}
		p.n++
	}
	q := p.list[i/pageLen]
	old := &q.entries[i%pageLen]
	q.open += count(&s) - count(old)
	*old = s
	p.tidy(int(i / pageLen))
}

// count is 1 for an entry that keeps its page from being folded.
func count(s *entry) int {
	if s.state == Absent || s.state == Freed && len(s.grave.orphans) == 0 {
		return 0
	}
	return 1
}

// tidy folds a page without open entries, except the last page. Absent entries of such a page are
// never drawn.
func (p *pages) tidy(at int) {
	if at < 0 || at == len(p.list)-1 || p.list[at] == nil || p.list[at].open > 0 {
		return
	}
	for i := range p.list[at].entries {
		if s := &p.list[at].entries[i]; s.state == Freed && s.grave.ended {
			p.fold[at] |= 1 << i
		}
	}
	p.list[at] = nil
}

// each yields the entries that are not folded, ascending, and reports whether it reached the end.
// Entries may be put and folded meanwhile.
func (p *pages) each(first uint32, yield func(uint32, *entry) bool) bool {
	for k := 0; k < len(p.list); k++ {
		for i := 0; i < pageLen && p.list[k] != nil && uint32(k*pageLen+i) < p.n; i++ {
			if !yield(first+uint32(k*pageLen+i), &p.list[k].entries[i]) {
				return false
			}
		}
	}
	return true
}
