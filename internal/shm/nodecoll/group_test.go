package nodecoll

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// together runs the calls with a goroutine for each member.
func together(t *testing.T, w *world, mutual bool, chunk int, seed uint64, calls []*call) {
	t.Helper()
	var wg sync.WaitGroup
	var failed atomic.Bool // otherwise the other members would wait for ever
	for me := range w.n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(me)))
			a := &actor{w: w, g: New(w.config(me, mutual, chunk)), me: me, n: w.n, calls: calls}
			for a.start() {
				for {
					done, err := a.advance()
					if err != nil {
						t.Errorf("seed %d, chunk %d: %v", seed, chunk, err)
						failed.Store(true)
					}
					if failed.Load() {
						return
					}
					if done {
						break
					}
					runtime.Gosched()
				}
				for range rng.IntN(40) - 35 {
					runtime.Gosched()
				}
			}
		}()
	}
	wg.Wait()
}

func regimeName(mutual bool) string {
	if mutual {
		return "mutual"
	}
	return "central"
}

// TestEverySize makes every kind of call with every size, and with changing roots.
func TestEverySize(t *testing.T) {
	sizes := []int{0, 1, 8, 40, 48, 49, 64, 1000, 4096, 32768, 65536, 100003, 1<<20 + 8}
	members := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17}
	switch {
	case raceOn: // TestManyInARow has eight
		sizes, members = sizes[:len(sizes)-1], []int{2, 3, 5, 9, 17}
	case !longtest.On():
		sizes, members = sizes[:len(sizes)-1], []int{2, 3, 8, 9}
	case testing.Short():
		sizes, members = sizes[:len(sizes)-1], []int{1, 2, 3, 5, 8, 9, 17}
	}
	for _, n := range members {
		for _, mutual := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/%s", n, regimeName(mutual)), func(t *testing.T) {
				var calls []*call
				for i, size := range sizes {
					if n > 3 && n != 8 && n != 17 && size > 65536 {
						continue // one size with steps is enough
					}
					elem := 1
					for _, e := range []int{16, 12, 8, 4} {
						if size%e == 0 && (i+n)%3 != 0 {
							elem = e
							break
						}
					}
					for v := range verbs {
						for r := range 2 {
							if size > 1<<20 && r == 1 || size > v.sizeMax(n) {
								continue
							}
							root := []int{i % n, n - 1}[r]
							calls = append(calls, &call{verb: v, root: root, size: size, elem: elem, inPlace: (r+i)%2 == 0, seed: uint64(1000*i + int(v) + r)})
						}
					}
				}
				together(t, newWorld(n), mutual, 0, 1, calls)
			})
		}
	}
}

// TestManyInARow mixes hundreds of operations, one group after another in the same memory, with
// small chunks, so that rings and slots wrap around often.
func TestManyInARow(t *testing.T) {
	count, members := 150, []int{2, 3, 5, 8, 9, 13}
	if raceOn || testing.Short() || !longtest.On() {
		count, members = 100, []int{2, 3, 8, 9}
	}
	for _, n := range members {
		for _, mutual := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/%s", n, regimeName(mutual)), func(t *testing.T) {
				seed := uint64(n)
				rng := rand.New(rand.NewPCG(seed, 0))
				w := newWorld(n)
				w.dirty(rng)
				for _, chunk := range []int{0, 1 + rng.IntN(600), 4096} {
					most := 12000
					if chunk == 0 {
						most = 200000 / n
					}
					calls := randomCalls(rng, n, count, most)
					together(t, w, mutual, chunk, seed, calls)
					w.nextGroup(len(calls))
				}
			})
		}
	}
}
