package membershiphost

import (
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

// patient sets times so long that no silence is noticed: members learn of a death by the end of
// connections alone.
func patient(_ int, cfg *Config) {
	const long = 600 * mono.Second
	cfg.Roster.Timeout, cfg.Roster.Confirm, cfg.Roster.Link, cfg.Roster.Orphan = long, long, long, long
}

// A network puts relays between each pair of members, one for each direction of dialing.
type network struct {
	t       *testing.T
	streams map[[2]int]*faultproxy.Relay // by the member that dials, and the dialed member
	packets map[[2]int]*faultproxy.Packets
}

// between replaces the peers of a member by relays to them.
func (n *network) between(m int, cfg *Config) {
	cfg.Peers = slices.Clone(cfg.Peers)
	for other, p := range cfg.Peers {
		if other == m {
			continue
		}
		stream, err := faultproxy.New(p.Addr, nil)
		require.NoError(n.t, err)
		n.t.Cleanup(stream.Close)
		packets, err := faultproxy.NewPackets(p.Packets)
		require.NoError(n.t, err)
		n.t.Cleanup(packets.Close)
		n.streams[[2]int{m, other}], n.packets[[2]int{m, other}] = stream, packets
		cfg.Peers[other].Addr, cfg.Peers[other].Packets = stream.Addr(), packets.Addr()
	}
}

// cut separates one member from all others, or reconnects them.
func (n *network) cut(m int, on bool) {
	for way, r := range n.streams {
		if way[0] != m && way[1] != m {
			continue
		}
		n.packets[way].Drop(on)
		if on {
			r.Stall(faultproxy.ToTarget)
			r.Stall(faultproxy.ToDialer)
		} else {
			r.Heal()
		}
	}
}

// TestAPartition: the member that is cut off freezes before it is declared dead, and learns of the
// declaration when the network is whole again. The other members continue.
func TestAPartition(t *testing.T) {
	t.Parallel()
	n := &network{t, map[[2]int]*faultproxy.Relay{}, map[[2]int]*faultproxy.Packets{}}
	j := startAs(t, 4, rankset.Set{}, func(m int, cfg *Config) {
		cfg.Roster.Period, cfg.Roster.Timeout, cfg.Roster.Confirm = 50*mono.Millisecond, 600*mono.Millisecond, 200*mono.Millisecond
		n.between(m, cfg)
	})
	n.cut(2, true)
	j.await(happening{0, 2, "declaration"})
	assert.True(t, j.seen[happening{2, 2, "freeze"}], "before the declaration")
	j.await(happening{1, 2, "declaration"}, happening{3, 2, "declaration"})
	n.cut(2, false)
	j.await(happening{2, 2, "over: it was declared dead"})
	for h := range j.seen {
		assert.True(t, h.what != "declaration" || h.member == 2, "%v", h)
		assert.True(t, h.what != "freeze" || h.member == 2, "%v", h)
	}
}

// awaitKept waits until a member keeps a connection to another member, or does not.
func (j *job) awaitKept(m, other int, kept bool) {
	j.t.Helper()
	l := j.members[m].links[other]
	require.Eventually(j.t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.kept == kept
	}, 10*time.Second, time.Millisecond, "from %d to %d", m, other)
}

// TestTheEndOfALateMember: all members learn of the end at once, as for any other member. No member
// keeps a connection to the dead one. The coordinator does not observe the heartbeats of the late
// member.
func TestTheEndOfALateMember(t *testing.T) {
	j := startAs(t, 5, rankset.Of(2), patient)
	require.NoError(t, j.members[0].Admit(2, j.peers[2]))
	j.begin(2, rankset.Set{}, true)
	j.await(happening{2, 2, "thaw"})
	for _, m := range []int{1, 3, 4} {
		require.NoError(t, j.members[m].Admit(2, j.peers[2]))
	}
	assert.Error(t, j.members[1].Admit(1, j.peers[1]), "itself")
	assert.Error(t, j.members[1].Admit(5, j.peers[3]), "no such member")
	j.members[2].Close()
	j.await(happening{0, 2, "declaration"}, happening{1, 2, "declaration"}, happening{3, 2, "declaration"}, happening{4, 2, "declaration"})
	for _, m := range []int{0, 1, 3, 4} {
		j.awaitKept(m, 2, false)
	}
}

// awaitAnomaly waits until the first member has received a message of another member that makes no
// sense. No other anomaly may come before.
func (j *job) awaitAnomaly(from int) {
	j.t.Helper()
	select {
	case h := <-j.all:
		require.Equal(j.t, happening{0, from, h.what}, h)
		require.Contains(j.t, h.what, "anomaly")
	case <-time.After(10 * time.Second):
		require.Fail(j.t, "the message does not arrive")
	}
}

// startAlone starts one member of three. The others are the test: they close each connection.
func startAlone(t *testing.T) *job {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	j := startAs(t, 3, rankset.Of(1, 2), patient)
	for _, m := range []int{1, 2} {
		p := j.peers[m]
		p.Addr = l.Addr().String()
		require.NoError(t, j.members[0].Admit(m, p))
		j.awaitKept(0, m, true)
	}
	return j
}

// TestCopiesOfDatagrams: a datagram counts once, and one that a later datagram has overtaken does
// not count. Nor does a datagram for a member of another birth, or one that this member has sent
// itself.
func TestCopiesOfDatagrams(t *testing.T) {
	j := startAlone(t)
	v := j.members[0]
	conn, err := net.Dial("udp", j.peers[0].Packets)
	require.NoError(t, err)
	defer conn.Close()
	send := func(birth uint64, from uint32, sequence uint64) {
		_, err := conn.Write(v.cfg.Trust.SealDatagram(nil, birth, from, sequence, []byte("no message")))
		require.NoError(t, err)
	}
	send(100, 1, 7)
	j.awaitAnomaly(1)
	send(100, 1, 7)
	send(100, 1, 6)
	send(100, 1, 8)
	j.awaitAnomaly(1)
	send(101, 1, 9)
	send(100, 0, 10)
	send(100, 3, 10)
	send(100, 2, 1)
	j.awaitAnomaly(2)
}

// TestAnotherBirth: a frame counts only if its sender has the birth that the table lists (F1).
func TestAnotherBirth(t *testing.T) {
	j := startAlone(t)
	v := j.members[0]
	send := func(from uint32, birth uint64) {
		conn, err := v.cfg.Trust.Dial(t.Context(), j.peers[0].Addr, 100)
		require.NoError(t, err)
		defer conn.Close()
		b := binary.LittleEndian.AppendUint32(nil, from)
		b = binary.LittleEndian.AppendUint64(b, birth)
		b = binary.LittleEndian.AppendUint32(b, 10)
		_, _ = conn.Write(append(b, "no message"...))
		_, _ = conn.Read(make([]byte, 1)) // until it is refused, or read
	}
	finished := make(chan struct{})
	go func() { defer close(finished); send(1, 102) }()
	select {
	case <-finished:
	case <-time.After(10 * time.Second):
		require.Fail(t, "a stranger is not refused")
	}
	go send(2, 102)
	j.awaitAnomaly(2)
}

// TestALinkWithoutEnd: no more than queueMax messages wait for a member that cannot be reached.
func TestALinkWithoutEnd(t *testing.T) {
	l := newLink(&Driver{}, 1)
	l.runs = true
	for range queueMax + 10 {
		l.post([]byte("x"))
	}
	assert.Len(t, l.queue, queueMax)
	l.stop()
	l.post([]byte("x"))
	assert.Len(t, l.queue, queueMax)
	assert.False(t, l.awaitWork())
}
