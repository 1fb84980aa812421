package tcp

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/session"
)

// openLanes returns a mesh with open lanes to process 1, and the peer's ends of the sockets by
// class.
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
		m.receive(arrival{line: line{fd: pair[0]}, hello: session.Hello{Job: 1, From: session.Identity{Number: 1, Birth: 6}, To: session.Identity{Birth: 5}, Lane: uint8(c), Attempt: 1}})
		require.Equal(t, session.Open, m.lane(transport.Class(c), 1).s.State())
		peer[c] = pair[1]
	}
	return m, peer
}

// wire returns the bytes of a frame on a lane.
func wire(h header, numbers []uint64, payload string) []byte {
	o := outbox{ring: make([]byte, 4096)}
	var two [2]uint64
	copy(two[:], numbers)
	o.put(h, two, []byte(payload))
	return o.ring[:o.queued]
}

// FuzzLanes: a peer writes arbitrary bytes in pieces of 1 to 256 bytes. This process survives, and
// all frames that it accepts keep within their bounds. The input ends when the mesh closes the
// connection, as after an invalid frame.
func FuzzLanes(f *testing.F) {
	eager := wire(header{kind: uint8(transport.Eager), body: 3, ctx: 7, tag: -1}, nil, "abc")
	for _, seed := range [][]byte{
		eager, append(eager, wire(header{kind: kindAck, body: numbersBytes}, []uint64{0, 9}, "")...),
		wire(header{kind: uint8(transport.Announce), body: numbersBytes}, []uint64{1 << 30, 4}, ""), wire(header{kind: uint8(transport.Chunk), body: numbersBytes + 2}, []uint64{1, 2}, "xy"),
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
				return // the mesh has closed the connection
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

// TestFramesInPieces: frames that arrive one byte at a time are read like whole ones.
func TestFramesInPieces(t *testing.T) {
	m, peer := openLanes(t)
	var stream []byte
	for range 3 {
		stream = append(stream, wire(header{kind: uint8(transport.Eager), body: 3, ctx: 7, tag: -1, elem: 2}, nil, "abc")...)
		stream = append(stream, wire(header{kind: kindAck, body: numbersBytes}, []uint64{0, 9}, "")...)
	}
	got := 0
	for i := range stream {
		_, err := unix.Write(peer[transport.Data], stream[i:i+1])
		require.NoError(t, err)
		for range 2 { // a short read skips the next one
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

// TestTheWishToBeAcknowledgedComesLast: the request for an acknowledgement follows all frames. In
// front of frames that the socket did not accept yet, the request would not cover them, and no
// other request would follow.
func TestTheWishToBeAcknowledgedComesLast(t *testing.T) {
	m, peer := openLanes(t)
	sent := 0
	for h := (transport.Header{Kind: transport.Eager, Size: transport.EagerMax}); m.TrySend(1, &h, make([]byte, h.Size)); sent++ {
	}
	l := m.lane(transport.Data, 1)
	require.Less(t, l.out.written, l.out.queued, "the socket has taken all")
	m.WantRoom(1, true)
	frames, _ := heard(t, m, peer[transport.Data])
	require.Len(t, frames, sent+1)
	assert.True(t, frames[sent].kind == kindAck && frames[sent].flags&flagAckNow != 0)
}

// heard flushes the data lane of a mesh, and returns the frames that the mesh has written to the
// lane with the peer's end fd.
func heard(t *testing.T, m *Mesh, fd int) (frames []header, bodies [][]byte) {
	var all []byte
	l := m.lane(transport.Data, 1)
	for {
		l.flush()
		b := make([]byte, 1<<20)
		n, err := unix.Read(fd, b)
		if err != nil || n <= 0 {
			break
		}
		all = append(all, b[:n]...)
	}
	require.GreaterOrEqual(t, len(all), session.HelloSize)
	for b := all[session.HelloSize:]; len(b) > 0; { // after the answer to the peer's hello
		h, err := parseHeader(b)
		require.NoError(t, err)
		frames, bodies = append(frames, h), append(bodies, b[headerBytes:h.size()])
		b = b[h.size():]
	}
	return frames, bodies
}

// TestAWishIsKeptUntilItIsMet: a receiver that sweeps before it has taken everything acknowledges
// the rest later.
func TestAWishIsKeptUntilItIsMet(t *testing.T) {
	m, peer := openLanes(t)
	frame := wire(header{kind: uint8(transport.Eager), body: 3, ctx: 7}, nil, "abc")
	wish := wire(header{kind: kindAck, body: numbersBytes, flags: flagAckNow}, []uint64{0, 0}, "")
	_, err := unix.Write(peer[transport.Data], slices.Concat(frame, frame, wish))
	require.NoError(t, err)
	for range 2 {
		_, ok := m.Peek(1)
		require.True(t, ok)
		m.Advance(1)
		m.Sweep(1)
	}
	frames, bodies := heard(t, m, peer[transport.Data])
	require.NotEmpty(t, frames)
	assert.Equal(t, uint8(kindAck), frames[len(frames)-1].kind)
	assert.Equal(t, uint64(2*len(frame)), binary.LittleEndian.Uint64(bodies[len(bodies)-1]))
}
