package sim

// hash is FNV-1a over 64-bit words and bytes.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h *hash) add(v uint64) {
	*h ^= hash(v)
	*h *= 1099511628211
	*h ^= *h >> 29
}

func (h *hash) addEvent(e *event) {
	h.add(uint64(e.at))
	h.add(uint64(e.kind)<<32 | uint64(e.proc)<<16 | uint64(e.other))
	if e.kind == look {
		h.add(uint64(e.comm))
	}
	for _, b := range e.frame {
		*h ^= hash(b)
		*h *= 1099511628211
	}
}
