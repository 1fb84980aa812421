package nodecoll

import (
	"crypto/subtle"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/shm/park"
)

// xor is a reduction as fast as a good kernel.
func xor(dst, acc, in []byte) { subtle.XORBytes(dst, acc, in) }

// TestNoAllocation: after the first use of the data regions nothing allocates.
func TestNoAllocation(t *testing.T) {
	for _, mutual := range []bool{true, false} {
		w := newWorld(3)
		var gs [3]*Group
		var bufs, dsts [3][]byte
		for m := range gs {
			gs[m] = New(w.config(m, mutual, 0))
			bufs[m], dsts[m] = make([]byte, 600000), make([]byte, 600000)
		}
		r := Reduce{Func: xor, ElemBytes: 8}
		finish := func() {
			for open := 3; open > 0; {
				open = 3
				for _, g := range gs {
					if g.Advance() {
						open--
					}
					g.Moved()
					g.Mismatch()
				}
			}
		}
		all := func() {
			for _, size := range []int{8, 1000, 600000} {
				for m, g := range gs {
					g.Barrier(1)
					_ = m
				}
				finish()
				for m, g := range gs {
					g.Bcast(2, 1, bufs[m][:size])
				}
				finish()
				for m, g := range gs {
					g.Reduce(3, 1, dsts[m][:size], bufs[m][:size], r)
				}
				finish()
				for m, g := range gs {
					g.Allreduce(4, dsts[m][:size], bufs[m][:size], r)
				}
				finish()
			}
		}
		all()
		if got := testing.AllocsPerRun(5, all); got != 0 {
			t.Errorf("%s: %v allocations", regimeName(mutual), got)
		}
	}
}

// measurePair measures an operation of two members; the other member has its own goroutine.
func measurePair(b *testing.B, start func(g *Group, dst, src []byte), size int) {
	w := newWorld(2)
	var stop atomic.Bool
	done := make(chan struct{})
	one := func(g *Group, dst, src []byte) bool {
		start(g, dst, src)
		for !g.Advance() {
			if stop.Load() {
				return false
			}
			park.Pause(1)
		}
		return true
	}
	go func() {
		defer close(done)
		g, src, dst := New(w.config(1, true, 0)), make([]byte, size), make([]byte, size)
		for one(g, dst, src) {
		}
	}()
	g, src, dst := New(w.config(0, true, 0)), make([]byte, size), make([]byte, size)
	b.SetBytes(int64(size))
	for b.Loop() {
		one(g, dst, src)
	}
	stop.Store(true)
	<-done
}

func BenchmarkBarrier2(b *testing.B) {
	measurePair(b, func(g *Group, _, _ []byte) { g.Barrier(1) }, 0)
}

func BenchmarkAllreduce2(b *testing.B) {
	r := Reduce{Func: xor, ElemBytes: 8}
	for _, c := range []struct {
		name string
		size int
	}{{"8B", 8}, {"1KiB", 1 << 10}, {"16KiB", 16 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			measurePair(b, func(g *Group, dst, src []byte) { g.Allreduce(1, dst, src, r) }, c.size)
		})
	}
}

// BenchmarkInstructions2 is an allreduce of 8 bytes by both members on one core: the cost without
// any transfer of a line.
func BenchmarkInstructions2(b *testing.B) {
	w := newWorld(2)
	var gs [2]*Group
	var bufs [2][]byte
	for m := range gs {
		gs[m], bufs[m] = New(w.config(m, true, 0)), make([]byte, 8)
	}
	r := Reduce{Func: xor, ElemBytes: 8}
	for b.Loop() {
		for m, g := range gs {
			g.Allreduce(1, bufs[m], bufs[m], r)
		}
		gs[0].Advance()
		gs[1].Advance()
	}
}
