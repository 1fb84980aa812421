package tcp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// fillLanes sends frames of both classes until there is no room, and returns how many bytes of each
// stream are under way.
func fillLanes(m *Mesh) (queued [2]uint64) {
	frame := make([]byte, 1000)
	for h := (transport.Header{Kind: transport.Eager, Size: len(frame)}); m.TrySend(1, &h, frame); {
	}
	for m.TryControl(1, frame, 0) == len(frame) {
	}
	return [2]uint64{m.lane(transport.Data, 1).out.queued, m.lane(transport.Control, 1).out.queued}
}

// writeAcks has the peer acknowledge all.
func writeAcks(t *testing.T, peer [2]int, taken [2]uint64) {
	for c, to := range peer {
		_, err := unix.Write(to, wire(header{kind: kindAck, body: numbersBytes}, []uint64{taken[c], 0}, ""))
		require.NoError(t, err)
	}
}

// TestPeekTellsOfRoom: an acknowledgement that Peek or NextControl reads wakes a goroutine that
// sleeps until a refused frame finds room, and Take names the peer. One for which no frame waits
// does neither.
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

// TestPeekAnswersTheWish: the request for an acknowledgement, if Peek or NextControl reads it, is
// answered at once, because Take does not name the peer for it any more.
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
	m.Peek(1) // dry
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

// TestPeekTellsOfTheGoodbye: Parted becomes true by what Peek reads, and a goroutine that waits for
// it is woken.
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

// TestAFrameHeldBackWakes: a frame that waits for the next call of its process wakes a goroutine of
// it that sleeps already: nobody else would write the frame.
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
