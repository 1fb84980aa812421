package tcp

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/transporttest"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A world puts each of its ranks on a node of its own, in one process. The ranks share only the
// list of departures and the doorbells.
type world struct {
	t       testing.TB
	node    *segment.Node
	bells   *park.Bells
	peers   []Peer
	listen  []*net.TCPListener
	trust   *socket.Trust
	meshes  []*Mesh
	mu      sync.Mutex
	departs []bool
	mode    socket.Mode

	anomalies func(text string) // fails the test
	configure func(cfg *Config) // nil: nothing more is set
}

func newWorld(t testing.TB, n int, mode socket.Mode) *world {
	w := &world{t: t, mode: mode, node: segment.FormatNode(segment.Heap(segment.NodeBytes(n)), n, 1), meshes: make([]*Mesh, n), departs: make([]bool, n)}
	w.anomalies = func(text string) { t.Error(text) }
	var err error
	w.trust, err = socket.NewTrust(1, make([]byte, socket.SecretSize))
	require.NoError(t, err)
	var slots, rings []int
	for slot := range n {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		require.NoError(t, err)
		slots, rings = append(slots, slot), append(rings, fd)
		w.listen = append(w.listen, l)
		w.peers = append(w.peers, Peer{Addr: l.Addr().String(), Birth: uint64(100 + slot)})
	}
	w.bells = park.NewBells(w.node.BellOf, n, slots, rings)
	t.Cleanup(func() {
		for slot, m := range w.meshes {
			if m != nil {
				m.Close()
			} else {
				w.listen[slot].Close()
			}
		}
		for _, fd := range rings {
			unix.Close(fd)
		}
	})
	return w
}

func (w *world) Port(rank int) transport.End {
	cfg := Config{Job: 1, Me: rank, Generation: w.node.Generation(rank), Peers: w.peers, Trust: w.trust, Listener: w.listen[rank], Secure: w.mode,
		OnFenced: func(int) {}, OnAnomaly: func(peer int, text string) { w.anomalies(fmt.Sprintf("rank %d of %d: %s", rank, peer, text)) }}
	if w.configure != nil {
		w.configure(&cfg)
	}
	m, err := New(cfg)
	require.NoError(w.t, err)
	w.meshes[rank] = m
	m.SetGenerations(w.node.Generation)
	poll, others := m.Poll()
	sleeper, err := w.bells.Owner(rank, poll, others)
	require.NoError(w.t, err)
	own := segment.HeapArena(len(w.peers)) // this rank is alone on its node
	port, err := transport.NewPort(transport.Home{Node: w.node, Sleeper: sleeper, Arena: func(int) (*segment.Arena, error) { return own, nil }}, rank)
	require.NoError(w.t, err)
	end := node.New(w.node, sleeper, rank)
	m.SetWake(func() { end.Notify(rank, park.Caller|park.Background) })
	local := make([]bool, len(w.peers))
	local[rank] = true
	return transport.End{Node: end, Link: Join(port, m, local)}
}

func (w *world) Depart(rank int, died bool) {
	w.mu.Lock()
	if !w.departs[rank] {
		w.departs[rank] = true
		why := segment.Retired
		if died {
			why = segment.Died
		}
		w.node.AppendDeath(rank, why)
	}
	w.mu.Unlock()
	w.node.WakeAll(w.bells)
}

// inModes runs a test in each mode.
func inModes(t *testing.T, test func(t *testing.T, mode socket.Mode)) {
	for _, mode := range [2]socket.Mode{socket.Auth, socket.TLS} {
		t.Run(mode.String(), func(t *testing.T) { test(t, mode) })
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	transporttest.RunLate(t, func(t *testing.T, n int) transporttest.World { return newWorld(t, n, socket.Auth) })
}

func TestConformanceOverTLS(t *testing.T) {
	t.Parallel()
	transporttest.RunRough(t, func(t *testing.T, n int) transporttest.World { return newWorld(t, n, socket.TLS) })
}
