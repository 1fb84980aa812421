package robustlock

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ram is a Memory of real atomic words, for goroutines.
type ram struct {
	word atomic.Uint64
	_    [56]byte
	hint atomic.Uint64
	_    [56]byte
	dead []atomic.Bool
	s    []struct {
		claim atomic.Uint64
		_     [56]byte
	}
}

func newRAM(n int) *ram {
	return &ram{dead: make([]atomic.Bool, n), s: make([]struct {
		claim atomic.Uint64
		_     [56]byte
	}, n)}
}

type memberView struct {
	*ram
	me int
}

func (r memberView) Word() uint64              { return r.word.Load() }
func (r memberView) Swap(old, new uint64) bool { return r.word.CompareAndSwap(old, new) }
func (r memberView) Release(w uint64)          { r.word.Store(w) }
func (r memberView) Hint() bool                { return r.hint.Load() != 0 }
func (r memberView) Claim(o int) Claim         { return Claim(r.s[o].claim.Load()) }
func (r memberView) SetClaim(c Claim)          { r.s[r.me].claim.Store(uint64(c)) }
func (r memberView) SetClaimFenced(c Claim)    { r.s[r.me].claim.Store(uint64(c)) }
func (r memberView) SetHint(waiting bool) {
	if waiting {
		r.hint.Store(1)
	} else {
		r.hint.Store(0)
	}
}

func (r memberView) Len() int          { return len(r.s) }
func (r memberView) Name(o int) uint64 { return uint64(o) + 1 }
func (r memberView) Origin(name uint64) (o int, ok bool) {
	return int(name) - 1, name-1 < uint64(len(r.s))
}
func (r memberView) Dead(o int) bool { return r.dead[o].Load() }

func (r *ram) lock(me int) *Lock {
	return New(Config{Memory: memberView{r, me}, Members: memberView{r, me}, Me: me})
}

// TestGoroutines: one goroutine at a time writes the protected data. The race detector checks that
// each holder sees the stores of the one before it.
func TestGoroutines(t *testing.T) {
	const n, rounds = 6, 400
	r := newRAM(n)
	var sum, read int
	writes := make([]int, n)
	var wg sync.WaitGroup
	for me := range n {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(me), 1))
			l := r.lock(me)
			for range rounds {
				mode := Exclusive
				if rng.IntN(3) == 0 {
					mode = Shared
				}
				l.Lock(mode)
				for l.Outcome() == Waiting && rng.IntN(50) > 0 {
					runtime.Gosched()
					l.Look()
				}
				switch {
				case l.Outcome() == Waiting:
					l.Withdraw()
					continue
				case mode == Exclusive:
					sum++
					writes[me]++
				case sum < 0:
					read++
				}
				l.Unlock()
			}
		})
	}
	wg.Wait()
	want := 0
	for _, w := range writes {
		want += w
	}
	assert.Equal(t, want, sum)
	assert.Zero(t, read)
	assert.Equal(t, Held, r.lock(0).Lock(Exclusive), "nobody has left anything")
}

// TestGoroutinesDie: half of the goroutines stop between any two accesses. The others continue, and
// mend the broken locks.
func TestGoroutinesDie(t *testing.T) {
	for seed := range uint64(60) {
		const n = 6
		r := newRAM(n)
		var value, copied int // equal outside of holds
		var wg sync.WaitGroup
		for me := range n {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(me)))
				l := r.lock(me)
				life := 1 << 40
				if me%2 == 1 {
					life = 1 + rng.IntN(300)
				}
				mode := Exclusive
				for done := 0; done < 60; life-- {
					if life == 0 {
						r.dead[me].Store(true) // after all of its stores
						return
					}
					switch l.phase {
					case idle:
						mode = Exclusive
						if l.Dead() != 0 {
							mode = Mend
						}
						l.startLock(mode)
					case holding:
						if mode == Mend {
							copied = value
						}
						assert.Equal(t, value, copied, "seed %d", seed)
						value++
						if life == 1 {
							continue // this goroutine dies in the middle of its work
						}
						copied++
						done++
						l.startUnlock()
					default:
						if l.step() {
							runtime.Gosched()
						}
					}
				}
				l.Look() // the last release
			})
		}
		wg.Wait()
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	l := newRAM(2).lock(0)
	b.ReportAllocs()
	for b.Loop() {
		l.Lock(Exclusive)
		l.Unlock()
	}
}
