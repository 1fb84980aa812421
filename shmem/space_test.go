package shmem

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSpace: random objects never overlap, lie inside, and the space says no only if there is no stretch that is long enough: a
// table of bytes is the judge. Spaces that made the same calls have the same digest, others another.
func TestSpace(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, twin := space{bytes: 4096}, space{bytes: 4096}
		taken := make([]bool, 4096)
		for range 200 {
			before := s.digest()
			if n := len(s.blocks); n > 0 && r.IntN(3) == 0 {
				at := r.IntN(n)
				b := s.blocks[at]
				assert.Equal(t, at, s.find(b))
				for i := range b.bytes {
					taken[b.off+i] = false
				}
				s.give(at)
				twin.give(at)
				assert.Equal(t, -1, s.find(b))
				assert.NotEqual(t, before, s.digest())
				continue
			}
			bytes := r.IntN(600)
			b, at, ok := s.fit(bytes)
			if !assert.Equal(t, hasRoom(taken, bytes), ok, "seed %d", seed) || !ok {
				continue
			}
			assert.Zero(t, b.off%line)
			for i := range bytes {
				assert.False(t, taken[b.off+i], "seed %d", seed)
				taken[b.off+i] = true
			}
			s.take(b, at)
			again, at, _ := twin.fit(bytes)
			twin.take(again, at)
			assert.Equal(t, b, again)
			assert.NotEqual(t, before, s.digest())
		}
		assert.Equal(t, twin.digest(), s.digest())
		assert.Equal(t, twin.clone(), s)
		assert.NotEqual(t, s.digest(1, 2), s.digest(2, 1))
	}
}

// hasRoom says whether an object of so many bytes fits anywhere.
func hasRoom(taken []bool, bytes int) bool {
	for off := 0; off <= len(taken); off += line {
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
