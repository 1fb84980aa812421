package rankstore

import "testing"

// FuzzTable reads a version with a valid root and arbitrary bytes as table and chunks.
func FuzzTable(f *testing.F) {
	for seed := range uint64(3) {
		m := Heap(1)
		h := m.Home(0)
		_ = h.Claim(1)
		_ = h.Write(label(1), partsOf(seed)[:1+seed])
		f.Add(h.live[0].table.encode(), []byte{byte(seed)})
	}
	f.Fuzz(func(t *testing.T, b, data []byte) {
		if len(b) > 2*chunkBytes {
			return
		}
		m := Heap(1)
		h := m.Home(0)
		_, _ = m.store.WriteAt(data, h.at(1))
		_, _ = m.store.WriteAt(b, h.at(2))
		r := root{label: label(1), first: 2, bytes: uint32(len(b)), crc: checksum(b), seq: 1}
		_, _ = m.store.WriteAt(r.encode(), h.begin)
		useHome(t, h)
	})
}

// FuzzHome reads a home that begins with arbitrary bytes.
func FuzzHome(f *testing.F) {
	f.Add(root{label: label(1), first: 1, seq: 1}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m := Heap(1)
		_, _ = m.store.WriteAt(b, m.Home(0).begin)
		useHome(t, m.Home(0))
	})
}

// useHome reads all versions, claims the home and writes.
func useHome(t *testing.T, h *Home) {
	labels, err := h.Labels()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range labels {
		_, _ = h.Read(l)
	}
	if err := h.Claim(3); err != nil {
		t.Fatal(err)
	}
	fresh := Label{Kind: 77}
	if err := h.Write(fresh, []Part{{Data: []byte{1}}}); err != nil && len(labels) < RootsMax {
		t.Fatal(err)
	}
	if err := h.Clear(); err != nil {
		t.Fatal(err)
	}
}
