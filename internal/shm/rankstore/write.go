package rankstore

import (
	"bytes"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Write stores a version. Data that equal the data of the newest version of its kind are not stored
// again. The parts must not change during the call. ErrNoRoom: the version does not fit into the
// home, and the home has not changed. After any other error, such as an error of a machine without
// free memory, the old versions are there, and the new version is not. Write removes an older
// version of the same label after it has stored the new one. If this removal fails, Write returns
// an error although the new version is there.
func (h *Home) Write(l Label, parts []Part) error {
	if !h.owned {
		return ErrOwned
	}
	if err := checkParts(parts); err != nil {
		return err
	}
	before, t := newest(h.live[:], l.Kind), unwritten(parts)
	tableBytes := len(t.encode())
	slot, err := h.admit(l, t.chunks(), tableBytes)
	if err != nil { // the version may still fit, because it shares chunks
		fresh := 0
		_ = h.share(t, before, parts, func(*chunk, []byte) error { fresh++; return nil })
		if slot, err = h.admit(l, fresh, tableBytes); err != nil {
			return err
		}
	}
	taken, number := h.used.Clone(), 0
	err = h.share(t, before, parts, func(c *chunk, data []byte) error {
		number = firstGap(taken, 1, number+1)
		taken.Add(number)
		c.number = uint32(number)
		return h.fill(number, data)
	})
	if err != nil {
		return err
	}
	v, err := h.putTable(l, t, taken)
	if err != nil {
		return err
	}
	return h.publish(slot, v)
}

// fill stores b in a free chunk. A chunk gets its memory by a call, which can fail, and an earlier
// use may have filled only a part of the chunk. If the chunk has all its memory, fill copies, which
// is several times as fast as a call.
func (h *Home) fill(c int, b []byte) error {
	if to := h.chunk(c); to != nil {
		segment.Copy(to[:len(b)], b)
		return nil
	}
	if err := h.m.put(b, h.at(c)); err != nil {
		return fmt.Errorf("keep: home %d: %w", h.number, err)
	}
	if len(b) == chunkBytes {
		h.full.Add(c)
	}
	h.filled.Add(c)
	return nil
}

// chunk returns a chunk as memory, if that is possible.
func (h *Home) chunk(c int) []byte {
	if !h.full.Has(c) {
		return nil
	}
	b := h.m.store.Mapped(h.at(c), !h.mapped.Has(c))
	if b != nil {
		h.mapped.Add(c)
	}
	return b
}

// unwritten makes the table of a version without stored data.
func unwritten(parts []Part) table {
	var t table
	for _, p := range parts {
		t = append(t, entry{name: p.Name, kind: p.Kind, elem: p.Elem, absent: p.Data == nil, bytes: len(p.Data), chunks: make([]chunk, chunksOf(len(p.Data)))})
	}
	return t
}

// share enters into the table of a version the chunks that it shares with another version, and
// calls store for the other chunks. Each store follows the computation of the checksum, while the
// data are in the cache. If checksums are equal, share compares the bytes: different data can have
// the same checksum.
func (h *Home) share(t table, before *version, parts []Part, store func(c *chunk, data []byte) error) error {
	buffer := make([]byte, chunkBytes)
	for i, p := range parts {
		var old entry
		if before != nil {
			old = before.table.find(p.Name)
		}
		for k := range t[i].chunks {
			from, to := pieceOf(len(p.Data), k)
			c := &t[i].chunks[k]
			c.crc = checksum(p.Data[from:to])
			if h.holds(old, k, c.crc, p.Data[from:to], buffer) {
				c.number = old.chunks[k].number
				continue
			}
			if err := store(c, p.Data[from:to]); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether chunk k of a part equals data.
func (h *Home) holds(e entry, k int, crc uint32, data, buffer []byte) bool {
	if k >= len(e.chunks) || e.chunks[k].crc != crc {
		return false
	}
	if from, to := pieceOf(e.bytes, k); to-from != len(data) {
		return false
	}
	if b := h.chunk(int(e.chunks[k].number)); b != nil {
		return bytes.Equal(b[:len(data)], data)
	}
	return h.readChunk(e, k, buffer) == nil && bytes.Equal(buffer[:len(data)], data)
}

func checkParts(parts []Part) error {
	if len(parts) > PartsMax {
		return fmt.Errorf("%w: %d parts: at most %d", ErrNoRoom, len(parts), PartsMax)
	}
	seen := map[string]bool{}
	for _, p := range parts {
		if len(p.Name) > stringsMax || len(p.Kind) > stringsMax || seen[p.Name] {
			return fmt.Errorf("keep: a part called %q of %q: names differ, and have at most %d bytes", p.Name, p.Kind, stringsMax)
		}
		seen[p.Name] = true
	}
	return nil
}

// admit returns a free root for a version that needs the given number of chunks and bytes of a
// table, or ErrNoRoom.
func (h *Home) admit(l Label, fresh, tableBytes int) (slot int, err error) {
	need := int64(fresh+chunksOf(tableBytes)) * chunkBytes
	have := int64(h.used.Len()) * chunkBytes
	bound := int64(homeBytes - chunkBytes)
	if h.max > 0 {
		bound = min(bound, h.max)
	}
	if have+need > bound || tableBytes > tableMax {
		return 0, fmt.Errorf("%w: version %v takes %d bytes more in home %d, where %d of %d are taken", ErrNoRoom, l, need, h.number, have, bound)
	}
	for i, v := range h.live {
		if v == nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: home %d has %d versions, and has to drop one", ErrNoRoom, h.number, RootsMax)
}

// putTable stores a table, and returns the version with its root, which is not visible yet.
func (h *Home) putTable(l Label, t table, taken rankset.Set) (*version, error) {
	b := t.encode()
	n := chunksOf(len(b))
	first := firstGap(taken, n, 1)
	if first < 0 {
		return nil, fmt.Errorf("%w: no %d chunks in a row for the table of version %v in home %d", ErrNoRoom, n, l, h.number)
	}
	for i := range n {
		from, to := pieceOf(len(b), i)
		if err := h.fill(first+i, b[from:to]); err != nil {
			return nil, err
		}
	}
	return &version{root{label: l, first: uint32(first), bytes: uint32(len(b)), crc: checksum(b), seq: h.seq + 1}, t}, nil
}

// firstGap returns the first of n chunks in a row that are not in a set, searching upwards from
// chunk from; -1: there are none.
func firstGap(s rankset.Set, n, from int) int {
	for c := s.NextAbsent(from); c+n <= chunksMax; {
		taken := s.Next(c)
		if taken < 0 || taken-c >= n {
			return c
		}
		c = s.NextAbsent(taken)
	}
	return -1
}

// publish stores a root in a free slot. It first clears the old sequence number, and stores the new
// one last:
//
//	stores a new label in a slot of an old root
//	dies                                         label and number are of two versions:
//	                                             only the checksum would show this
//
// Chunks may have been copied into mapped memory. A root is written by calls, whose locks order the
// root after the chunks.
func (h *Home) publish(slot int, v *version) error {
	b, at := v.root.encode(), h.begin+int64(slot)*rootBytes
	err := h.m.put(make([]byte, len(b)-rootHead), at+rootHead)
	if err == nil {
		err = h.m.put(b[:rootHead], at)
	}
	if err == nil {
		err = h.m.put(b[rootHead:], at+rootHead)
	}
	if err != nil {
		return fmt.Errorf("keep: home %d: %w", h.number, err)
	}
	before := h.live
	h.live[slot], h.seq = v, v.root.seq
	h.used = h.inUse()
	for i, old := range before {
		if old != nil && old.root.label == v.root.label {
			err = h.forget(i)
		}
	}
	return err
}
