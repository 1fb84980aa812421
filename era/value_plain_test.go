package era

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestAddPlain is Merge of the same contribution, after any earlier merges.
func TestAddPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var a, b Value
		for range rng.IntN(4) {
			rank := rng.IntN(100)
			c := Claim{Call: rng.Uint64N(3), Rank: rank}
			w := Value{From: rankset.Of(rank), Lo: c, Hi: c, Flag: rng.Uint64N(8), Returned: rng.Uint64N(3), Dead: rankset.Of(rng.IntN(100)), Acked: rankset.Of(rng.IntN(3))}
			a.Merge(w)
			b.Merge(w)
		}
		c, flag := Claim{Call: rng.Uint64N(3), Rank: rng.IntN(100)}, rng.Uint64N(8)
		a.Merge(Value{From: rankset.Of(c.Rank), Lo: c, Hi: c, Flag: flag})
		b.AddPlain(c, flag)
		assert.True(t, a.Equal(b), "%+v, merged %+v", b, a)
	}
}
