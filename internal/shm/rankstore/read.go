package rankstore

import (
	"fmt"
	"slices"
)

// Labels returns the versions with a valid root and table, the oldest first. Read checks the rest.
func (h *Home) Labels() ([]Label, error) {
	all, err := h.all()
	if err != nil {
		return nil, err
	}
	var labels []Label
	for _, v := range all {
		labels = append(labels, v.root.label)
	}
	return slices.Compact(labels), nil
}

// Read returns the parts of a version, in the order in which they were given to Write, in new
// memory. ErrNone: there is no such version. ErrTorn: the stored bytes differ from the written
// bytes.
func (h *Home) Read(l Label) ([]Part, error) {
	return h.ReadInto(l, func(_, n int) []byte { return make([]byte, n) })
}

// ReadInto is Read into memory of the caller: room returns the memory for the n bytes of part i. If
// room returns nil, ReadInto compares the part with its checksums and does not return it, which
// takes no memory.
func (h *Home) ReadInto(l Label, room func(i, n int) []byte) ([]Part, error) {
	all, err := h.all()
	if err != nil {
		return nil, err
	}
	var found *version
	for _, v := range all {
		if v.root.label == l {
			found = v
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %v in home %d", ErrNone, l, h.number)
	}
	return h.readParts(found, room)
}

// readParts bounds its allocations by the memory in use: an invalid table may claim more.
func (h *Home) readParts(v *version, room func(i, n int) []byte) ([]Part, error) {
	left, err := h.m.store.Taken()
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(v.table))
	for i, e := range v.table {
		if left -= int64(e.bytes); left < 0 {
			return nil, fmt.Errorf("%w: %v in home %d is larger than the memory", ErrTorn, v.root.label, h.number)
		}
		parts[i] = Part{Name: e.name, Kind: e.kind, Elem: e.elem}
		if e.absent {
			continue
		}
		parts[i].Data = room(i, e.bytes)
		if err := h.readPart(e, parts[i].Data); err != nil {
			return nil, fmt.Errorf("%w: part %q of %v in home %d", err, e.name, v.root.label, h.number)
		}
	}
	return parts, nil
}

// readPart reads a part into data; nil: readPart only compares checksums.
func (h *Home) readPart(e entry, data []byte) error {
	var buffer []byte
	if data == nil {
		buffer = make([]byte, min(e.bytes, chunkBytes))
	}
	for i := range e.chunks {
		b := buffer
		if data != nil {
			b = data[i*chunkBytes:]
		}
		if err := h.readChunk(e, i, b); err != nil {
			return err
		}
	}
	return nil
}

// readChunk reads chunk i of a part into the front of b, and compares its checksum.
func (h *Home) readChunk(e entry, i int, b []byte) error {
	from, to := pieceOf(e.bytes, i)
	b = b[:to-from]
	if _, err := h.m.store.ReadAt(b, h.at(int(e.chunks[i].number))); err != nil {
		return err
	}
	if checksum(b) != e.chunks[i].crc {
		return ErrTorn
	}
	return nil
}
