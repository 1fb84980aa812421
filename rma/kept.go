package rma

import "github.com/goulfm/goulfm/internal/shm/window"

// Keep makes Free retain this member's memory, and the memory of others that Inherit needs, until a
// Rebuild of the window has succeeded or Free is called once more (W21). A program may thus free
// all windows before the repair. After Free, Inherit accepts only members that were known to be
// dead at Free. Keep is this member's own option.
func Keep() Option { return func(s *spec) { s.keep = true } }

// keep retains the memory of a window that is about to be freed.
func (k *core) keep() {
	pieces := append([]piece(nil), k.pieces...)
	for i := range pieces {
		p := &pieces[i]
		p.says = nil
		if p.memory != nil {
			p.memory.Retain()
		}
	}
	k.kept.Store(&pieces)
}

// letGo releases the memory that keep retains; false: there is none.
func (k *core) letGo() bool {
	pieces := k.kept.Swap(nil)
	if pieces == nil {
		return false
	}
	for _, p := range *pieces {
		if p.memory != nil {
			p.memory.Release()
		}
	}
	return true
}

// memories are the pieces of a window, also of a freed window with Keep.
func (k *core) memories() []piece {
	if pieces := k.kept.Load(); pieces != nil {
		return *pieces
	}
	return k.pieces
}

// regionOf returns the memory with that token, if a window has such memory. k may be nil.
func (k *core) regionOf(t window.Token) *window.Region {
	if k == nil {
		return nil
	}
	for _, p := range k.memories() {
		if p.memory != nil && p.memory.Token() == t {
			return p.memory
		}
	}
	return nil
}
