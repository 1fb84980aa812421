package rma

import "github.com/goulfm/goulfm/internal/shm/window"

// Keep has Free leave this member's memory, and what it reaches of the others' as Inherit needs it,
// until a Rebuild has taken it or Free is called once more (W21): a program may give everything up
// before it repairs. It is this member's alone.
func Keep() Option { return func(s *spec) { s.keep = true } }

// keep holds on to the memory of a window that is about to be freed.
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

// letGo gives up what keep holds; false: it holds nothing.
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

// memories are the pieces of a window, also of one that is freed and was kept.
func (k *core) memories() []piece {
	if pieces := k.kept.Load(); pieces != nil {
		return *pieces
	}
	return k.pieces
}

// regionOf returns the memory with that token, if a window has it. k may be nil.
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
