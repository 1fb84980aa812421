package comm

import (
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/engine"
)

// A family is a communicator, the root, with all communicators that this process has made from the
// root, directly or indirectly, and not freed. The methods revoke and free act on all of them;
// Revoke and Free of the root itself act on the root alone. A nil *family is empty.
type family struct {
	mu      sync.Mutex
	members []*engine.Comm
}

// beginFamily makes c the root of a family, and returns the methods that revoke and free the
// family.
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
	if !slices.Contains(f.members, e) { // an intercommunicator may have its union as engine communicator
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

// revoke revokes all members; the error of a member that has ended before is ignored.
func (f *family) revoke() {
	for _, e := range f.all() {
		_ = e.Revoke()
	}
}

// free frees all members; the error of a member that has ended before is ignored.
func (f *family) free() {
	for _, e := range f.all() {
		f.forget(e)
		_ = e.Free()
	}
}
