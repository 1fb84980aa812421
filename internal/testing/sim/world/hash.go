package world

// Hash is FNV-1a over 64-bit words and bytes.
type Hash uint64

// NewHash returns the hash of an empty trace.
func NewHash() Hash { return 14695981039346656037 }

// Add adds a word.
func (h *Hash) Add(v uint64) {
	*h ^= Hash(v)
	*h *= 1099511628211
	*h ^= *h >> 29
}

// AddBytes adds bytes, without their number.
func (h *Hash) AddBytes(p []byte) {
	for _, b := range p {
		*h ^= Hash(b)
		*h *= 1099511628211
	}
}

// AddTexts adds texts, each with its length.
func (h *Hash) AddTexts(texts []string) {
	h.Add(uint64(len(texts)))
	for _, t := range texts {
		h.Add(uint64(len(t)))
		h.AddBytes([]byte(t))
	}
}
