package tcp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/session"
	"github.com/goulfm/goulfm/internal/socket"
	"github.com/goulfm/goulfm/internal/transport"
)

// openLanes returns a mesh with open lanes to process 1, and what that would write to, by class.
func openLanes(t testing.TB) (m *Mesh, peer [2]int) {
	trust, err := socket.NewTrust(1, make([]byte, socket.SecretSize))
	require.NoError(t, err)
	m, err = New(Config{Job: 1, Peers: []Peer{{Birth: 5}, {Birth: 6}}, Trust: trust, OnFenced: func(int) {}})
	require.NoError(t, err)
	t.Cleanup(func() { m.Close(); unix.Close(m.poll.fd) })
	for c := range peer {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		require.NoError(t, err)
		t.Cleanup(func() { unix.Close(pair[1]) })
		m.receive(arrival{fd: pair[0], hello: session.Hello{Job: 1, From: session.Identity{Number: 1, Birth: 6}, To: session.Identity{Birth: 5}, Lane: uint8(c), Attempt: 1}})
		require.Equal(t, session.Open, m.lane(transport.Class(c), 1).s.State())
		peer[c] = pair[1]
	}
	return m, peer
}

// wire is a frame as it goes over a lane.
func wire(h header, numbers []uint64, payload string) []byte {
	o := outbox{ring: make([]byte, 4096)}
	o.put(h, numbers, []byte(payload))
	return o.ring[:o.queued]
}

// FuzzLanes: whatever a peer writes, in pieces of any size, this process lives; what it takes for
// a frame keeps within its bounds, and after nonsense nothing more comes.
func FuzzLanes(f *testing.F) {
	eager := wire(header{kind: uint8(transport.Eager), body: 3, ctx: 7, tag: -1}, nil, "abc")
	for _, seed := range [][]byte{
		eager, append(eager, wire(header{kind: kindAck, body: 16}, []uint64{0, 9}, "")...),
		wire(header{kind: uint8(transport.Announce), body: 16}, []uint64{1 << 30, 4}, ""), wire(header{kind: uint8(transport.Chunk), body: 18}, []uint64{1, 2}, "xy"),
		wire(header{kind: kindControl, body: 2, ctx: 4}, nil, "ab"), wire(header{kind: kindBye}, nil, ""), wire(header{kind: kindByeAck}, nil, ""),
	} {
		f.Add(seed, uint8(5), true)
		f.Add(seed, uint8(100), false)
	}
	f.Fuzz(func(t *testing.T, said []byte, piece uint8, data bool) {
		m, peer := openLanes(t)
		to := peer[transport.Control]
		if data {
			to = peer[transport.Data]
		}
		for len(said) > 0 {
			n := min(len(said), int(piece)+1)
			if _, err := unix.Write(to, said[:n]); err != nil {
				return // it was closed
			}
			said = said[n:]
			for fr, ok := m.Peek(1); ok; fr, ok = m.Peek(1) {
				assert.LessOrEqual(t, len(fr.Payload), transport.LongMax)
				assert.LessOrEqual(t, fr.Size, transport.SizeMax)
				m.Advance(1)
			}
			for frame, ok := m.NextControl(1); ok; frame, ok = m.NextControl(1) {
				assert.LessOrEqual(t, len(frame), transport.ControlMax)
			}
		}
	})
}

// TestFramesInPieces: a byte at a time is as good as all at once.
func TestFramesInPieces(t *testing.T) {
	m, peer := openLanes(t)
	var stream []byte
	for range 3 {
		stream = append(stream, wire(header{kind: uint8(transport.Eager), body: 3, ctx: 7, tag: -1, elem: 2}, nil, "abc")...)
		stream = append(stream, wire(header{kind: kindAck, body: 16}, []uint64{0, 9}, "")...)
	}
	got := 0
	for i := range stream {
		_, err := unix.Write(peer[transport.Data], stream[i:i+1])
		require.NoError(t, err)
		for range 2 { // a short read leaves the next one out
			if f, ok := m.Peek(1); ok {
				assert.Equal(t, transport.Header{Ctx: 7, Tag: -1, Kind: transport.Eager, Elem: 2, Size: 3}, f.Header)
				assert.Equal(t, "abc", string(f.Payload))
				m.Advance(1)
				got++
			}
		}
	}
	assert.Equal(t, 3, got)
	assert.Equal(t, uint64(9), m.CreditReturned(1))
}
