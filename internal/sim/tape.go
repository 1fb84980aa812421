package sim

import (
	"math/rand/v2"

	"github.com/goulfm/goulfm/internal/mono"
)

// tape is the only source of choices of a run. Each choice is a function of the
// seed and of how many were made before.
type tape struct{ r *rand.Rand }

func newTape(seed uint64) *tape { return &tape{r: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))} }

// below returns one of 0, ..., n-1.
func (t *tape) below(n int) int { return t.r.IntN(n) }

// between returns one of lo, ..., hi.
func (t *tape) between(lo, hi int) int { return lo + t.r.IntN(hi-lo+1) }

// percent is true in p of 100 cases.
func (t *tape) percent(p int) bool { return t.r.IntN(100) < p }

// tail returns a duration of which half are below typical, and one in 2^k above
// k*k*typical: a few are very late.
func (t *tape) tail(typical mono.Duration) mono.Duration {
	k := mono.Duration(1)
	for t.r.IntN(2) == 0 && k < 12 {
		k++
	}
	return mono.Duration(t.r.Int64N(int64(k * k * typical)))
}

// uniform returns a duration below twice typical.
func (t *tape) uniform(typical mono.Duration) mono.Duration {
	return mono.Duration(t.r.Int64N(int64(2 * typical)))
}
