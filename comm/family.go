package comm

import (
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/engine"
)

// A family is a communicator and those that were made from it here, however far down, as far as
// they are not freed: who ends the first ends all. A nil *family has nobody.
type family struct {
	mu      sync.Mutex
	members []*engine.Comm
}

// beginFamily makes c the first one of a family.
func beginFamily(c *Comm) (revoke, free func()) {
	f := &family{}
	f.add(c.e)
	c.family = f
	return f.revoke, f.free
}

func (f *family) add(e *engine.Comm) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.members, e) { // of an intercommunicator that is its union
		f.members = append(f.members, e)
	}
}

func (f *family) forget(e *engine.Comm) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = slices.DeleteFunc(f.members, func(m *engine.Comm) bool { return m == e })
}

func (f *family) all() []*engine.Comm {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.members)
}

// revoke revokes all; one that is over by itself needs it no more.
func (f *family) revoke() {
	for _, e := range f.all() {
		_ = e.Revoke()
	}
}

// free frees all; one that is over by itself needs it no more.
func (f *family) free() {
	for _, e := range f.all() {
		f.forget(e)
		_ = e.Free()
	}
}
