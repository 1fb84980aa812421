package world

import (
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Tape is the only source of choices of a run. A choice is a function of the seed, of its purpose,
// and of its number among the choices for one purpose. Removing a fault from a run therefore
// changes the consequences of the fault and nothing else.
type Tape struct{ state uint64 }

// Purpose separates choices of different kinds.
type Purpose uint64

// ForSwarm is the purpose of the choices of a run's parameters. Each kind of simulation adds
// purposes of its own.
const ForSwarm Purpose = 1

// NewTape returns the choices of a seed.
func NewTape(seed uint64) Tape { return Tape{state: Mix(seed + 0x9E3779B97F4A7C15)} }

// TapeAt returns the choices that follow a state.
func TapeAt(state uint64) Tape { return Tape{state: state} }

// Fork returns the choices for one purpose, about the k-th item of a process.
func (t Tape) Fork(why Purpose, proc, k int) Tape {
	return Tape{state: Mix(Mix(t.state^uint64(why)<<56^uint64(proc)) + uint64(k))}
}

// Mix is the finalizer of SplitMix64.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Next returns the next word of choices.
func (t *Tape) Next() uint64 {
	t.state += 0x9E3779B97F4A7C15
	return Mix(t.state)
}

// Below returns one of 0, ..., n-1.
func (t *Tape) Below(n int) int {
	hi, _ := bits.Mul64(t.Next(), uint64(n))
	return int(hi)
}

// Between returns one of lo, ..., hi.
func (t *Tape) Between(lo, hi int) int { return lo + t.Below(hi-lo+1) }

// Percent returns true in p of 100 cases.
func (t *Tape) Percent(p int) bool { return t.Below(100) < p }

// Perm returns 0, ..., n-1 in some order.
func (t *Tape) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := t.Below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

// Tail returns a duration. Half of them are below typical, and one in 2^k is above k*k*typical: a
// few are very late.
func (t *Tape) Tail(typical mono.Duration) mono.Duration {
	k := 1 + min(bits.TrailingZeros64(t.Next()), 11)
	return t.UpTo(mono.Duration(k*k) * typical)
}

// Uniform returns a duration below twice typical.
func (t *Tape) Uniform(typical mono.Duration) mono.Duration { return t.UpTo(2 * typical) }

// UpTo returns a duration below d.
func (t *Tape) UpTo(d mono.Duration) mono.Duration { return mono.Duration(t.Below(int(max(d, 1)))) }
