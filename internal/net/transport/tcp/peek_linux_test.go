package tcp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// fillLanes sends frames of both classes until there is no room, and returns the number of bytes
// queued on each lane.
func fillLanes(m *Mesh) (queued [2]uint64) {
	frame := make([]byte, 1000)
	for h := (transport.Header{Kind: transport.Eager, Size: len(frame)}); m.TrySend(1, &h, frame); {
	}
	for m.TryControl(1, frame, 0) == len(frame) {
	}
	return [2]uint64{m.lane(transport.Data, 1).out.queued, m.lane(transport.Control, 1).out.queued}
}

// writeAcks writes the peer's acknowledgement of all bytes.
func writeAcks(t *testing.T, peer [2]int, taken [2]uint64) {
	for c, to := range peer {
		_, err := unix.Write(to, wire(header{kind: kindAck, body: numbersBytes}, []uint64{taken[c], 0}, ""))
		require.NoError(t, err)
	}
}

// TestPeekTellsOfRoom: when Peek or NextControl reads an acknowledgement that makes room for a
// refused frame, a sleeping goroutine wakes and Take names the peer. If no frame waits, an
// acknowledgement wakes no goroutine.
func TestPeekTellsOfRoom(t *testing.T) {
	m, peer := openLanes(t)
	woken := 0
	m.SetWake(func() { woken++ })
	for round := range 2 {
		queued := fillLanes(m)
		m.Take(transport.Data, nil)
		m.Take(transport.Control, nil)
		require.False(t, m.anyUnseen.Load())
		woken = 0
		writeAcks(t, peer, queued)
		_, data := m.Peek(1)
		_, control := m.NextControl(1)
		assert.False(t, data || control)
		assert.Equal(t, 2, woken, "round %d", round)
		assert.Equal(t, []int{1}, m.Take(transport.Data, nil))
		assert.Equal(t, []int{1}, m.Take(transport.Control, nil))
	}
	h := transport.Header{Kind: transport.Eager}
	require.True(t, m.TrySend(1, &h, nil))
	woken = 0
	writeAcks(t, peer, [2]uint64{m.lane(transport.Data, 1).out.queued, m.lane(transport.Control, 1).out.queued})
	m.Peek(1)
	assert.Zero(t, m.lane(transport.Data, 1).s.Unacked())
	assert.Zero(t, woken)
}

// TestPeekAnswersTheWish: if Peek or NextControl reads a request for an acknowledgement, the mesh
// answers at once, because Take no longer names the peer for the request.
func TestPeekAnswersTheWish(t *testing.T) {
	m, peer := openLanes(t)
	for c, kind := range []uint8{uint8(transport.Eager), kindControl} {
		_, err := unix.Write(peer[c], wire(header{kind: kind, body: 3, ctx: 3}, nil, "abc"))
		require.NoError(t, err)
	}
	_, data := m.Peek(1)
	m.Advance(1)
	_, control := m.NextControl(1)
	require.True(t, data && control)
	m.Peek(1) // reads until the socket is dry
	m.NextControl(1)
	for c, to := range peer {
		frames, _ := heard(t, m, to)
		require.Empty(t, frames, "class %d", c)
		_, err := unix.Write(to, wire(header{kind: kindAck, flags: flagAckNow, body: numbersBytes}, nil, ""))
		require.NoError(t, err)
	}
	m.Peek(1)
	m.NextControl(1)
	for c, to := range peer {
		b := make([]byte, 100)
		n, err := unix.Read(to, b)
		require.NoError(t, err, "class %d", c)
		h, err := parseHeader(b[:n])
		require.NoError(t, err)
		assert.Equal(t, uint8(kindAck), h.kind)
	}
}

// TestPeekTellsOfTheGoodbye: if a bye-ack that Peek or NextControl reads closes a lane, a goroutine
// that waits for Parted wakes.
func TestPeekTellsOfTheGoodbye(t *testing.T) {
	m, peer := openLanes(t)
	m.Part()
	for _, to := range peer {
		_, err := unix.Write(to, wire(header{kind: kindByeAck}, nil, ""))
		require.NoError(t, err)
	}
	woken := 0
	m.SetWake(func() { woken++ })
	m.Peek(1)
	m.NextControl(1)
	assert.True(t, m.Parted(func(int) bool { return false }))
	assert.Equal(t, 2, woken)
	assert.True(t, m.Pending(-1))
}

// TestAFrameHeldBackWakes: a gathered frame wakes a goroutine of the process that sleeps already,
// because no other code would write the frame.
func TestAFrameHeldBackWakes(t *testing.T) {
	m, peer := openLanes(t)
	woken := 0
	m.SetWake(func() { woken++ })
	h := transport.Header{Kind: transport.Eager}
	require.True(t, m.TrySend(1, &h, nil))
	assert.Zero(t, woken, "it is written")
	for range 2 {
		require.True(t, m.TrySend(1, &h, nil))
		assert.Equal(t, 1, woken)
	}
	require.False(t, m.written())
	m.Take(transport.Data, nil)
	assert.True(t, m.written())
	frames, _ := heard(t, m, peer[transport.Data])
	assert.Len(t, frames, 3)
}
