package rankstore

import (
	"errors"
	"testing"
)

// BenchmarkWrite stores 16 MiB of changed or unchanged data, and for comparison copies them in
// ordinary memory.
func BenchmarkWrite(b *testing.B) {
	m, err := Create(1)
	if errors.Is(err, errors.ErrUnsupported) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	h, data := m.Home(0), make([]byte, 16<<20)
	if err := h.Claim(0); err != nil {
		b.Fatal(err)
	}
	for name, change := range map[string]byte{"changed": 1, "unchanged": 0} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for n := range b.N {
				for c := 0; c < len(data); c += chunkBytes {
					data[c] += change
				}
				if err := h.Write(label(n), []Part{{Data: data}}); err != nil {
					b.Fatal(err)
				}
				if err := h.Drop(func(l Label) bool { return l != label(n) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		to := make([]byte, len(data))
		for range b.N {
			copy(to, data)
		}
	})
}
