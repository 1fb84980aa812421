package rankstore

import "sync"

// A heap is a store of Go memory, sparse like a file.
type heap struct {
	mu     sync.RWMutex
	chunks map[int64]*[chunkBytes]byte // by offset / chunkBytes
}

func newHeap() *heap { return &heap{chunks: map[int64]*[chunkBytes]byte{}} }

// ReadAt implements io.ReaderAt for a file without an end.
func (h *heap) ReadAt(b []byte, off int64) (int, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for done := 0; done < len(b); {
		c, at := (off+int64(done))/chunkBytes, (off+int64(done))%chunkBytes
		n := min(len(b)-done, int(chunkBytes-at))
		if chunk := h.chunks[c]; chunk != nil {
			copy(b[done:done+n], chunk[at:])
		} else {
			clear(b[done : done+n])
		}
		done += n
	}
	return len(b), nil
}

// WriteAt implements io.WriterAt.
func (h *heap) WriteAt(b []byte, off int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for done := 0; done < len(b); {
		c, at := (off+int64(done))/chunkBytes, (off+int64(done))%chunkBytes
		if h.chunks[c] == nil {
			h.chunks[c] = new([chunkBytes]byte)
		}
		done += copy(h.chunks[c][at:], b[done:])
	}
	return len(b), nil
}

// Punch frees whole chunks.
func (h *heap) Punch(off, n int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.chunks {
		if c >= off/chunkBytes && c < (off+n)/chunkBytes {
			delete(h.chunks, c)
		}
	}
	return nil
}

// Taken returns the memory of the chunks.
func (h *heap) Taken() (int64, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return int64(len(h.chunks)) * chunkBytes, nil
}

// Mapped always returns nil: others may be reading.
func (h *heap) Mapped(int64, bool) []byte { return nil }
