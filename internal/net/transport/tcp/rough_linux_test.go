package tcp

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/faultproxy"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/transporttest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A roughWorld is a world with a relay in front of each listener.
type roughWorld struct {
	*world
	relays []*faultproxy.Relay

	mu      sync.Mutex
	settled map[int]bool // ranks whose streams are acknowledged to the end
}

func newRoughWorld(t testing.TB, n int, mode socket.Mode, plan func(target int) faultproxy.Plan) *roughWorld {
	w := &roughWorld{world: newWorld(t, n, mode), settled: map[int]bool{}}
	for slot := range w.peers {
		r, err := faultproxy.New(w.peers[slot].Addr, plan(slot))
		require.NoError(t, err)
		t.Cleanup(r.Close)
		w.relays = append(w.relays, r)
		w.peers[slot].Addr = r.Addr()
	}
	return w
}

// Port implements transporttest.World.
func (w *roughWorld) Port(rank int) transport.End {
	end := w.world.Port(rank)
	end.Link = &lasting{Link: end.Link.(*Link), world: w, rank: rank}
	return end
}

// stats returns the sums over all relays of Made and Done, and no other statistics.
func (w *roughWorld) stats() (all faultproxy.Stats) {
	for _, r := range w.relays {
		s := r.Stats()
		all.Made += s.Made
		for a, n := range s.Done {
			all.Done[a] += n
		}
	}
	return all
}

// A lasting link stays until the peers of all ranks have acknowledged everything. In a job the
// goodbye ensures that. A case of the suite ends when its own condition holds, although a peer may
// not know yet that its last frame was taken, or that it must send the frame once more.
type lasting struct {
	*Link
	world *roughWorld
	rank  int
}

// Written reports whether no rank needs this one any more.
func (l *lasting) Written() bool {
	acked := true
	for _, lane := range l.mesh.list {
		if !lane.closed && lane.s.Unacked() > 0 {
			acked = false
			lane.ask()
		}
	}
	w := l.world
	w.mu.Lock()
	before := len(w.settled)
	if acked {
		w.settled[l.rank] = true
	}
	all := len(w.settled) == len(w.peers)
	w.mu.Unlock()
	if all && before < len(w.peers) {
		w.node.WakeAll(w.bells)
	}
	return all
}

// TestConformanceOverCuts runs the suite while every connection breaks after at most 400,000 bytes,
// by a reset or an end, mostly in the middle of a frame.
func TestConformanceOverCuts(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode socket.Mode) {
		if mode == socket.TLS && testing.Short() {
			t.Skip("the talks go over TLS, too")
		}
		longtest.Skip(t, "the suite while thousands of connections break")
		var worlds []*roughWorld
		transporttest.RunRough(t, func(t *testing.T, n int) transporttest.World {
			w := newRoughWorld(t, n, mode, func(target int) faultproxy.Plan {
				return faultproxy.Random(uint64(target), 1, 400_000, faultproxy.Cut, faultproxy.End)
			})
			worlds = append(worlds, w)
			return w
		})
		breaks := 0
		for _, w := range worlds {
			s := w.stats()
			breaks += s.Done[faultproxy.Cut] + s.Done[faultproxy.End]
		}
		t.Logf("%d connections were broken", breaks)
		require.Greater(t, breaks, 100)
	})
}
