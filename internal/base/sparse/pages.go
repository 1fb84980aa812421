package sparse

// Pages find objects by indices that are counted up and never used again. A page without objects is
// given up, so that 64 forgotten objects take 8 bytes. The zero value has no objects.
type Pages[T any] struct {
	pages []*page[T]
}

const pageLen = 64

type page[T any] struct {
	objects [pageLen]*T
	used    int
}

// At returns the object of an index; nil: there is none.
func (p *Pages[T]) At(index uint32) *T {
	if i := index / pageLen; uint64(i) < uint64(len(p.pages)) && p.pages[i] != nil {
		return p.pages[i].objects[index%pageLen]
	}
	return nil
}

// Put adds the object of an index that has none.
func (p *Pages[T]) Put(index uint32, object *T) {
	i := int(index / pageLen)
	for i >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	if p.pages[i] == nil {
		p.pages[i] = new(page[T])
	}
	p.pages[i].objects[index%pageLen] = object
	p.pages[i].used++
}

// Forget removes an object that is there.
func (p *Pages[T]) Forget(index uint32) {
	at := p.pages[index/pageLen]
	at.objects[index%pageLen] = nil
	if at.used--; at.used == 0 {
		p.pages[index/pageLen] = nil
	}
}
