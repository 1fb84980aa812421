package firstfit

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSpace: random objects never overlap and lie inside, and Fit fails only if no stretch is long
// enough, as judged by a table of bytes. Spaces that made the same calls have the same digest,
// others another.
func TestSpace(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, twin := Space{Bytes: 4096}, Space{Bytes: 4096}
		taken := make([]bool, 4096)
		for range 200 {
			before := s.Digest()
			if n := len(s.blocks); n > 0 && r.IntN(3) == 0 {
				at := r.IntN(n)
				b := s.blocks[at]
				assert.Equal(t, at, s.Find(b))
				for i := range b.Bytes {
					taken[b.Off+i] = false
				}
				s.Give(at)
				twin.Give(at)
				assert.Equal(t, -1, s.Find(b))
				assert.NotEqual(t, before, s.Digest())
				continue
			}
			bytes := r.IntN(600)
			b, at, ok := s.Fit(bytes)
			if !assert.Equal(t, hasRoom(taken, bytes), ok, "seed %d", seed) || !ok {
				continue
			}
			assert.Zero(t, b.Off%Line)
			for i := range bytes {
				assert.False(t, taken[b.Off+i], "seed %d", seed)
				taken[b.Off+i] = true
			}
			s.Take(b, at)
			again, at, _ := twin.Fit(bytes)
			twin.Take(again, at)
			assert.Equal(t, b, again)
			assert.NotEqual(t, before, s.Digest())
		}
		assert.Equal(t, twin.Digest(), s.Digest())
		assert.Equal(t, twin.Clone(), s)
		assert.NotEqual(t, s.Digest(1, 2), s.Digest(2, 1))
	}
}

// hasRoom reports whether an object of that many bytes fits anywhere.
func hasRoom(taken []bool, bytes int) bool {
	for off := 0; off <= len(taken); off += Line {
		free := off+bytes <= len(taken)
		for i := off; free && i < off+bytes; i++ {
			free = !taken[i]
		}
		if free {
			return true
		}
	}
	return false
}
