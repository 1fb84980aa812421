package rankstore

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Drop forgets the versions that which selects.
func (h *Home) Drop(which func(l Label) bool) error {
	if !h.owned {
		return ErrOwned
	}
	for i, v := range h.live {
		if v != nil && which(v.root.label) {
			if err := h.forget(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget frees a root by its sequence number: one store.
func (h *Home) forget(slot int) error {
	if err := h.m.put(make([]byte, 8), h.begin+int64(slot)*rootBytes+rootHead); err != nil {
		return fmt.Errorf("keep: home %d: %w", h.number, err)
	}
	h.live[slot] = nil
	h.used = h.inUse()
	return nil
}

// Punch frees the memory of chunks that are free now and were free at the last Punch. The next
// version uses the chunks that have just become free: existing pages are cheaper than new ones.
func (h *Home) Punch() error {
	if !h.owned {
		return ErrOwned
	}
	for c := range h.filled.All() {
		switch {
		case h.used.Has(c):
			h.idle.Remove(c)
		case !h.idle.Has(c):
			h.idle.Add(c)
		default:
			if err := h.punch(c, c+1); err != nil {
				return err
			}
			for _, s := range []*rankset.Set{&h.idle, &h.filled, &h.full, &h.mapped} {
				s.Remove(c)
			}
		}
	}
	return nil
}

// punchFree frees the memory of all chunks that no root leads to, also of chunks that other owners
// have written.
func (h *Home) punchFree() error {
	from := 1
	for c := h.used.Next(from); c >= 0; c = h.used.Next(from) {
		if err := h.punch(from, c); err != nil {
			return err
		}
		from = c + 1
	}
	h.filled, h.full, h.mapped, h.idle = h.used.Clone(), h.inFull(), rankset.Set{}, rankset.Set{}
	return h.punch(from, chunksMax)
}

func (h *Home) punch(from, to int) error {
	if from >= to {
		return nil
	}
	if err := h.m.store.Punch(h.at(from), int64(to-from)*chunkBytes); err != nil {
		return fmt.Errorf("keep: home %d: punch: %w", h.number, err)
	}
	return nil
}

// Clear frees all memory of the home.
func (h *Home) Clear() error {
	if err := h.Drop(func(Label) bool { return true }); err != nil {
		return err
	}
	return h.punchFree()
}
