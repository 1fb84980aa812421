package rendezvous

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/protocol/match"
)

// TestFramesAreReadBack: the output of Append can be read back; shorter and longer frames are
// refused.
func TestFramesAreReadBack(t *testing.T) {
	const h = 1<<63 + 7
	for _, frame := range [][]byte{
		Grant{Send: h, Recv: 3, Limit: math.MaxUint64}.Append(nil), Withdraw{Send: h, Number: 300}.Append(nil),
		Withdrawn{Send: h}.Append(nil), Refuse{Send: h, Why: 2}.Append(nil), Gone{Recv: h}.Append(nil),
	} {
		again, err := reread(frame)
		assert.NoError(t, err)
		assert.Equal(t, frame, again)
		for n := range frame {
			_, err := reread(frame[:n])
			assert.ErrorIs(t, err, ErrMalformed, "%x", frame[:n])
		}
		_, err = reread(append(frame, 0))
		assert.ErrorIs(t, err, ErrMalformed)
	}
	_, err := ReadGone(Withdrawn{Send: 1}.Append(nil))
	assert.ErrorIs(t, err, ErrMalformed, "another kind")
}

// reread reads a frame and writes it again.
func reread(frame []byte) ([]byte, error) {
	if len(frame) == 0 {
		frame = []byte{KindGone}
	}
	switch frame[0] {
	case KindGrant:
		f, err := ReadGrant(frame)
		return f.Append(nil), err
	case KindWithdraw:
		f, err := ReadWithdraw(frame)
		return f.Append(nil), err
	case KindWithdrawn:
		f, err := ReadWithdrawn(frame)
		return f.Append(nil), err
	case KindRefuse:
		f, err := ReadRefuse(frame)
		return f.Append(nil), err
	}
	f, err := ReadGone(frame)
	return f.Append(nil), err
}

// FuzzFrames: any bytes are refused, or are a frame that is written and read as the same.
func FuzzFrames(f *testing.F) {
	f.Add(Grant{Send: 1, Recv: 2, Limit: 3}.Append(nil))
	f.Add(Withdraw{Send: 1, Number: 2}.Append(nil))
	f.Add([]byte{KindRefuse, 0x80})
	f.Fuzz(func(t *testing.T, frame []byte) {
		once, err := reread(frame)
		if err != nil {
			return
		}
		twice, err := reread(once)
		assert.NoError(t, err)
		assert.Equal(t, once, twice)
	})
}

// TestPeersThatBreakTheProtocol: a frame of another process, or an impossible frame, is refused.
func TestPeersThatBreakTheProtocol(t *testing.T) {
	var s Send
	s.Begin(4)
	assert.False(t, s.Grant(4, Grant{Limit: 1}, 10), "before the announcement")
	s.Announced(1)
	assert.False(t, s.Grant(5, Grant{Limit: 1}, 10), "of another process")
	assert.False(t, s.Grant(4, Grant{Limit: 11}, 10), "more than there is")
	assert.False(t, s.Grant(4, Grant{Limit: math.MaxUint64}, 10), "more than there is")
	assert.False(t, s.Withdrawn(4), "nobody has asked")
	assert.False(t, s.Refused(5), "of another process")
	assert.True(t, s.Grant(4, Grant{Recv: 9, Limit: 10}, 10))
	assert.False(t, s.Grant(4, Grant{Recv: 9, Limit: 10}, 10), "granted twice")
	assert.False(t, s.Refused(4), "it has matched")

	var r Recv
	assert.False(t, r.Lands(4, 0, 1), "it has not matched")
	assert.False(t, r.IsGone(4), "it has not matched")
	r.Match(4, 7, 10, 20)
	assert.False(t, r.Lands(5, 0, 1), "of another process")
	assert.False(t, r.Lands(4, 1, 1), "not the next")
	assert.False(t, r.Lands(4, 0, 11), "more than was granted")
	assert.False(t, r.Lands(4, 0, -1), "less than nothing")
	assert.False(t, r.IsGone(5), "of another process")
	assert.True(t, r.Lands(4, 0, 4))
	assert.False(t, r.Landed(4))
	assert.Equal(t, Grant{Send: 7, Recv: 1, Limit: 10}, r.Grant(1), "all of it, once more")
	assert.True(t, r.Lands(4, 0, 10))
	assert.True(t, r.Landed(10))
}

// TestPulledSends: a receiver that copies from memory may still request chunks, and then the send
// continues as usual.
func TestPulledSends(t *testing.T) {
	var s Send
	s.Begin(1)
	s.Announced(1)
	assert.Equal(t, Ask, s.TakeBack())
	s.Pulled()
	assert.Equal(t, TooLate, s.TakeBack())
	assert.False(t, s.Withdrawn(1), "it has matched")
	assert.True(t, s.HasMatched())
	assert.True(t, s.Grant(1, Grant{Recv: 2, Limit: 3}, 3))
	s.Pulled() // a notice of the copy from memory, read late
	_, tell := s.End()
	assert.True(t, tell, "the chunks do not come")
}

// TestNothingIsAllocated: neither a message nor a withdrawal that finds its message allocates.
func TestNothingIsAllocated(t *testing.T) {
	m := match.New()
	m.Reserve(0)
	m.Open(0, 2, false)
	var (
		s    Send
		r    Recv
		p, q Peer
		room [64]byte
	)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		s.Begin(1)
		s.Announced(q.Count())
		p.Hear(1)
		r.Match(0, 1, 10, 10)
		g, _ := ReadGrant(r.Grant(2).Append(room[:0]))
		s.Grant(1, g, 10)
		_, offset, n := s.Chunk(10)
		s.Pushed(n)
		s.End()
		if r.Lands(0, offset, n) && r.Landed(n) {
			r.End()
		}
		s.Begin(1)
		s.Announced(q.Count())
		p.Hear(2)
		msg := m.Message()
		msg.Announced, msg.Handle = true, 2
		m.Keep(msg)
		s.TakeBack()
		w, _ := ReadWithdraw(s.Withdraw(2).Append(room[:0]))
		p.TakeBack(m, 0, w)
	}))
}
