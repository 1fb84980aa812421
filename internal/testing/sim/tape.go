package sim

import (
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// tape is the only source of choices of a run. A choice is a function of the seed,
// of what it is for, and of its number among those for the same thing: so a fault
// that is taken out of a run changes what comes of it, and nothing else.
type tape struct{ state uint64 }

// purpose is what choices are for.
type purpose uint64

const (
	forSwarm purpose = iota + 1
	forFaults
	forDelay
	forSlowPair
	forNotice
	forLoss
	forCascade
	forThink
	forChoice
	forRevoke
	forAck
	forTraffic
	forLook
	forPlain
	forDelays
)

func newTape(seed uint64) tape { return tape{state: mix(seed + 0x9E3779B97F4A7C15)} }

// fork returns the choices for one purpose, about the k-th thing of whom.
func (t tape) fork(what purpose, whom, k int) tape {
	return tape{state: mix(mix(t.state^uint64(what)<<56^uint64(whom)) + uint64(k))}
}

// mix is the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (t *tape) next() uint64 {
	t.state += 0x9E3779B97F4A7C15
	return mix(t.state)
}

// below returns one of 0, ..., n-1.
func (t *tape) below(n int) int {
	hi, _ := bits.Mul64(t.next(), uint64(n))
	return int(hi)
}

// between returns one of lo, ..., hi.
func (t *tape) between(lo, hi int) int { return lo + t.below(hi-lo+1) }

// percent is true in p of 100 cases.
func (t *tape) percent(p int) bool { return t.below(100) < p }

// perm returns 0, ..., n-1 in some order.
func (t *tape) perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := t.below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

// tail returns a duration of which half are below typical, and one in 2^k above
// k*k*typical: a few are very late.
func (t *tape) tail(typical mono.Duration) mono.Duration {
	k := 1 + min(bits.TrailingZeros64(t.next()), 11)
	return t.upTo(mono.Duration(k*k) * typical)
}

// uniform returns a duration below twice typical.
func (t *tape) uniform(typical mono.Duration) mono.Duration { return t.upTo(2 * typical) }

// upTo returns a duration below d.
func (t *tape) upTo(d mono.Duration) mono.Duration { return mono.Duration(t.below(int(max(d, 1)))) }
