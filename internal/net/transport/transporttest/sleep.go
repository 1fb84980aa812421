package transporttest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// testTwoFlags: two goroutines of one rank sleep on its bell, one for each flag, and pass a turn
// back and forth. One lost wake-up stops both.
func testTwoFlags(t *testing.T, factory func(t *testing.T, n int) World) {
	turns := int64(20000)
	if runtime.GOMAXPROCS(0) == 1 {
		turns = 1000 // each sleeper keeps the only processor until the monitor of the runtime preempts it
	}
	tr := factory(t, 1).Port(0)
	var turn atomic.Int64
	player := func(me int64, flag, other uint32) func() error {
		mine := func() bool { return turn.Load()%2 == me || turn.Load() >= turns }
		return func() error {
			for turn.Load() < turns {
				for !mine() {
					tr.Node.Sleep(flag, mine, forever)
				}
				if turn.Load() < turns {
					turn.Add(1)
					moves.Add(1)
				}
				tr.Node.Notify(0, other)
			}
			return nil
		}
	}
	together(t, player(0, park.Caller, park.Background), player(1, park.Background, park.Caller))
}

// testTimeout: a sleeper without a wake-up returns by itself.
func testTimeout(t *testing.T, factory func(t *testing.T, n int) World) {
	tr := factory(t, 1).Port(0)
	for _, timeout := range []mono.Duration{0, 1, mono.Microsecond, mono.Millisecond} {
		together(t, func() error {
			tr.Node.Sleep(park.Caller, func() bool { return false }, timeout)
			return nil
		})
	}
}

// testNotifyAll: one rank notifies all others, of which some sleep and some do not yet, at once, to
// begin the next round. One lost wake-up stops them.
func testNotifyAll(t *testing.T, factory func(t *testing.T, n int) World) {
	const n, rounds = 5, 2000
	var round, arrived atomic.Int64
	var all []int
	for rank := range n {
		all = append(all, rank)
	}
	var parts []func() error
	w := factory(t, n)
	for _, e := range ends(w, n) {
		until := func(there func() bool) {
			for !there() {
				e.Sleep(park.Caller, there, forever)
			}
		}
		parts = append(parts, func() error {
			for k := int64(1); k <= rounds; k++ {
				if e.Me() == 0 {
					until(func() bool { return arrived.Load() == k*(n-1) })
					round.Store(k)
					e.NotifyAll(all, park.Caller)
					continue
				}
				if arrived.Add(1) == k*(n-1) {
					e.Notify(0, park.Caller)
				}
				until(func() bool { return round.Load() >= k })
			}
			return nil
		})
	}
	together(t, parts...)
}

// testToken passes one frame around the ranks, as data and control in turn. Each rank sleeps until
// the frame arrives.
func testToken(n int) func(*testing.T, func(*testing.T, int) World) {
	const rounds = 2000
	return func(t *testing.T, factory func(t *testing.T, n int) World) {
		var parts []func() error
		for _, e := range ends(factory(t, n), n) {
			parts = append(parts, func() error { return passToken(e, rounds) })
		}
		together(t, parts...)
	}
}

// passToken is one rank's part. The token's number grows by one per hop.
func passToken(e *end, rounds int) error {
	n, last := e.Procs(), -1
	expect := e.Me() - 1
	got := func(k int) error {
		if expect < 0 {
			expect += n
		}
		if k != expect {
			return fmt.Errorf("rank %d got token %d, not %d", e.Me(), k, expect)
		}
		expect, last = k+n, k
		return nil
	}
	e.onData = func(_ int, f transport.Frame) error { return got(int(f.Tag)) }
	e.onControl = func(_ int, frame []byte) error { return got(int(binary.LittleEndian.Uint64(frame))) }
	if e.Me() == 0 {
		if err := e.passOn(0); err != nil {
			return err
		}
	}
	for range rounds {
		if err := e.await(func() bool { return last >= 0 }); err != nil {
			return err
		}
		k := last + 1
		last = -1
		if k < n*rounds {
			if err := e.passOn(k); err != nil {
				return err
			}
		}
	}
	return e.settle()
}

func (e *end) passOn(k int) error {
	to := (e.Me() + 1) % e.Procs()
	if k%2 == 1 {
		return e.sendControl(to, binary.LittleEndian.AppendUint64(nil, uint64(k)))
	}
	return e.send(to, transport.Header{Kind: transport.Eager, Tag: int32(k)}, nil)
}

// testAllToAll: each rank sends to all, including itself, in random order and faster than it reads.
// All rings are full, and all ranks sleep for room and for frames at the same time.
func testAllToAll(n int) func(*testing.T, func(*testing.T, int) World) {
	return func(t *testing.T, factory func(t *testing.T, n int) World) {
		var parts []func() error
		for _, e := range ends(factory(t, n), n) {
			parts = append(parts, func() error { return storm(e, 10000/n) })
		}
		together(t, parts...)
	}
}

// storm is one rank's part of testAllToAll.
func storm(e *end, frames int) error {
	n, rng := e.Procs(), rand.New(rand.NewPCG(uint64(e.Me()), 1))
	out, in, got := make([]*stream, n), make([]*stream, n), 0
	for q := range n {
		out[q], in[q] = newStream(uint64(1000*e.Me()+q)), newStream(uint64(1000*q+e.Me()))
		out[q].sizeMax, in[q].sizeMax = 4096, 4096
	}
	e.onData = func(from int, f transport.Frame) error { got++; return in[from].check(f) }
	for range frames {
		for _, to := range rng.Perm(n) {
			h, payload := out[to].next()
			if err := e.send(to, h, payload); err != nil {
				return err
			}
		}
	}
	if err := e.await(func() bool { return got == frames*n }); err != nil {
		return err
	}
	return e.settle()
}
