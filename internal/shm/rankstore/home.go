package rankstore

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A Home is the memory of one rank, as one process uses it. Every process may read; Write, Drop,
// Punch and Clear require a Claim.
type Home struct {
	m      *Memory
	number int
	begin  int64 // in the memory
	max    int64 // bytes that the home may take; 0: bounded only by its size

	// Of the owner.
	owned  bool
	live   [RootsMax]*version // by root; nil: the root is free
	used   rankset.Set        // the chunks of live
	filled rankset.Set        // chunks that take memory
	full   rankset.Set        // filled chunks with all of their memory
	mapped rankset.Set        // full chunks in the mappings of this process
	idle   rankset.Set        // filled chunks that were free at the last Punch
	seq    uint64             // the greatest sequence number
}

// A version is a root with its table.
type version struct {
	root  root
	table table
}

// Number returns the number of the home.
func (h *Home) Number() int { return h.number }

// SetMax bounds the memory that the home may take.
func (h *Home) SetMax(bytes int64) { h.max = bytes }

// Claim makes a process the owner of the home. ErrOwned: another process is the owner, or was the
// owner and has not been reaped yet; the caller may retry. Claim frees the chunks of a dead owner's
// incomplete Write.
func (h *Home) Claim(proc int) error {
	word, me := h.m.owner(h.number), uint64(proc)+1
	switch {
	case h.owned:
		return nil
	case segment.Load64(word) != me && !segment.CompareAndSwap64(word, 0, me):
		return ErrOwned
	}
	live, err := h.scan()
	if err != nil {
		return err
	}
	for i, v := range live {
		if v != nil {
			h.live[i], h.seq = v, max(h.seq, v.root.seq)
		}
	}
	h.owned, h.used = true, h.inUse()
	return h.punchFree()
}

// Yield ends the claim: another process may have the home at once.
func (h *Home) Yield() {
	if h.owned {
		*h = Home{m: h.m, number: h.number, begin: h.begin, max: h.max}
		segment.Store64(h.m.owner(h.number), 0)
	}
}

// Owned reports whether this process has claimed the home.
func (h *Home) Owned() bool { return h.owned }

// scan reads the roots, and the tables of the valid roots.
func (h *Home) scan() (live [RootsMax]*version, err error) {
	b := make([]byte, RootsMax*rootBytes)
	if _, err := h.m.store.ReadAt(b, h.begin); err != nil {
		return live, fmt.Errorf("keep: home %d: %w", h.number, err)
	}
	for i := range live {
		r, ok := readRoot(b[i*rootBytes:][:rootBytes])
		if !ok {
			continue
		}
		if t, ok := h.readTable(r); ok {
			live[i] = &version{r, t}
		}
	}
	return live, nil
}

func (h *Home) readTable(r root) (table, bool) {
	b := make([]byte, r.bytes)
	if _, err := h.m.store.ReadAt(b, h.at(int(r.first))); err != nil || checksum(b) != r.crc {
		return nil, false
	}
	t, err := readTable(b)
	return t, err == nil
}

// at returns the offset of a chunk in the memory.
func (h *Home) at(chunk int) int64 { return h.begin + int64(chunk)*chunkBytes }

// inUse returns the chunks that live roots lead to.
func (h *Home) inUse() rankset.Set {
	var s rankset.Set
	for _, v := range h.live {
		if v == nil {
			continue
		}
		for i := range chunksOf(int(v.root.bytes)) {
			s.Add(int(v.root.first) + i)
		}
		for _, e := range v.table {
			for _, c := range e.chunks {
				s.Add(int(c.number))
			}
		}
	}
	return s
}

// inFull returns the chunks in use that are used to their end, and so have all their memory.
func (h *Home) inFull() rankset.Set {
	var s rankset.Set
	for _, v := range h.live {
		if v == nil {
			continue
		}
		for _, e := range v.table {
			for i, c := range e.chunks {
				if from, to := pieceOf(e.bytes, i); to-from == chunkBytes {
					s.Add(int(c.number))
				}
			}
		}
	}
	return s
}

// newest returns the newest version of a kind, or nil.
func newest(all []*version, kind Kind) *version {
	var best *version
	for _, v := range all {
		if v != nil && v.root.label.Kind == kind && (best == nil || best.before(v)) {
			best = v
		}
	}
	return best
}

// before orders versions by label, and versions of one label by the order of their stores.
func (v *version) before(other *version) bool {
	if c := v.root.label.Compare(other.root.label); c != 0 {
		return c < 0
	}
	return v.root.seq < other.root.seq
}

// all returns the versions of the home, the oldest first: the owner knows them, others read them.
func (h *Home) all() ([]*version, error) {
	live := h.live
	if !h.owned {
		var err error
		if live, err = h.scan(); err != nil {
			return nil, err
		}
	}
	all := slices.DeleteFunc(slices.Clone(live[:]), func(v *version) bool { return v == nil })
	slices.SortFunc(all, func(a, b *version) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return all, nil
}
