package match

// Contexts are counted up and never reused, so a program that makes and frees communicators for
// weeks would grow a flat table without bound. The table is cut into pages. A page whose contexts
// are all Freed, or were skipped, is replaced by one shared page of Freed ones once a later page is
// in use. The remaining cost is 8 bytes per 1024 contexts ever used.
const (
	pageBits = 10
	pageLen  = 1 << pageBits
)

// A page holds neighbouring contexts. Invariant: no entry is nil.
type page struct {
	spaces [pageLen]*space
	used   int // entries that are neither Absent nor Freed
}

// A table finds a context by its number: two slice indices. The shared spaces
// and pages stand for contexts without queues; they are never written.
type table struct {
	pages                   []*page
	absent, freed           *space
	absentPage, sharedFreed *page
}

func newTable() table {
	t := table{absent: &space{state: Absent}, freed: &space{state: Freed}}
	t.absentPage, t.sharedFreed = filled(t.absent), filled(t.freed)
	return t
}

func filled(s *space) *page {
	p := new(page)
	for i := range p.spaces {
		p.spaces[i] = s
	}
	return p
}

// space returns the context's queues; they are shared ones, not to be written,
// iff the context is Absent or Freed.
func (t *table) space(ctx uint32) *space {
	i := int(ctx >> pageBits)
	if i >= len(t.pages) {
		return t.absent
	}
	return t.pages[i].spaces[ctx%pageLen]
}

// put makes s the queues of ctx.
func (t *table) put(ctx uint32, s *space) {
	i := int(ctx >> pageBits)
	for i >= len(t.pages) {
		t.pages = append(t.pages, t.absentPage)
		t.fold(len(t.pages) - 2)
	}
	if t.pages[i] == t.absentPage {
		t.pages[i] = filled(t.absent)
	}
	p := t.pages[i]
	if old := p.spaces[ctx%pageLen]; old == t.absent {
		p.used++
	}
	p.spaces[ctx%pageLen] = s
}

// forget makes ctx, which is not Freed yet, Freed.
func (t *table) forget(ctx uint32) {
	t.put(ctx, t.freed)
	i := int(ctx >> pageBits)
	t.pages[i].used--
	t.fold(i)
}

// fold replaces a page that is no longer used. Contexts are counted up: those that were skipped are
// never used.
func (t *table) fold(i int) {
	if i >= 0 && i < len(t.pages)-1 && t.pages[i].used == 0 {
		t.pages[i] = t.sharedFreed
	}
}
