package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// opened returns end 0 of a lane that is open on connection 1, with 10 bytes sent by copy
// and 20 by reference.
func opened(t *testing.T) *Session {
	s := New(Config{Job: 7, Me: identity(0), Peer: identity(1), Copied: 64, Referred: 32})
	s.Step(Append{Copied: 10, Referred: 20})
	s.Step(Dialed{Conn: 1})
	s.Step(Answered{Conn: 1, Hello: answerTo(s, 0)})
	require.Equal(t, Open, s.State())
	return s
}

func answerTo(s *Session, received uint64) Hello {
	return Hello{Job: 7, From: identity(1), To: identity(0), Attempt: s.attempt(), Received: received, Status: OK}
}

// find returns the first action of one kind.
func find[A Action](actions []Action) (A, bool) {
	for _, a := range actions {
		if a, ok := a.(A); ok {
			return a, true
		}
	}
	var none A
	return none, false
}

// TestRoomFollowsAcknowledgements fills the room of each kind, and gets the room back in the order
// of the appends.
func TestRoomFollowsAcknowledgements(t *testing.T) {
	s := opened(t)
	s.Step(Append{Copied: 54, Referred: 12})
	for _, c := range []struct {
		acked            uint64
		copied, referred int
	}{{0, 0, 0}, {4, 4, 0}, {10, 10, 0}, {25, 10, 15}, {30, 10, 20}, {84, 64, 20}, {96, 64, 32}} {
		s.Step(Acked{Conn: 1, Taken: c.acked})
		copied, referred := s.Room()
		assert.Equal(t, [2]int{c.copied, c.referred}, [2]int{copied, referred}, "acknowledged %d", c.acked)
		assert.Equal(t, 96-c.acked, s.Unacked())
	}
}

// TestOtherConnectionsDoNotCount gives a lane events of connections that were dropped or never
// existed.
func TestOtherConnectionsDoNotCount(t *testing.T) {
	s := opened(t)
	for _, ev := range []Event{
		Arrived{Conn: 3, Bytes: 5}, Arrived{Conn: 0, Bytes: 5}, Acked{Conn: 3, Taken: 5}, Bye{Conn: 3}, ByeAck{Conn: 3},
		Broke{Conn: 3}, Broke{Conn: 0}, Dialed{Conn: 3}, DialFailed{Conn: 1}, Answered{Conn: 1, Hello: answerTo(s, 5)},
	} {
		before := s.Describe()
		assert.Empty(t, s.Step(ev), "%#v", ev)
		assert.Equal(t, before, s.Describe(), "%#v", ev)
	}
}

// TestCountsThatCannotBe lets the peer count bytes that were never sent, or fewer bytes than the
// peer has acknowledged.
func TestCountsThatCannotBe(t *testing.T) {
	for _, received := range []uint64{31, 9} {
		s := opened(t)
		s.Step(Acked{Conn: 1, Taken: 10})
		s.Step(Broke{Conn: 1})
		s.Step(Tick{Now: mono.Time(ms)})
		s.Step(Dialed{Conn: 3})
		actions := s.Step(Answered{Conn: 3, Hello: answerTo(s, received)})
		_, opened := find[Opened](actions)
		assert.False(t, opened, "received %d", received)
		_, anomaly := find[Anomaly](actions)
		assert.True(t, anomaly, "received %d", received)
		assert.Equal(t, Broken, s.State())
	}
}

// TestHelloThatCountsTooMuch puts too high a count into the Hello of a dialer: nothing changes.
func TestHelloThatCountsTooMuch(t *testing.T) {
	s := opened(t)
	h := Hello{Job: 7, From: identity(1), To: identity(0), Attempt: 1, Received: 31}
	actions := s.Step(Incoming{Conn: 2, Hello: h})
	answer, ok := find[Answer](actions)
	require.True(t, ok)
	assert.Equal(t, Stranger, answer.Hello.Status)
	assert.Equal(t, Conn(1), s.Current())
}

// TestAttemptsMayWrapRound lets the peer's count of dials wrap round while the peer could not reach
// this process: the peer's next hello is accepted.
func TestAttemptsMayWrapRound(t *testing.T) {
	s := New(Config{Job: 7, Me: identity(0), Peer: identity(1), Copied: 64})
	h := Hello{Job: 7, From: identity(1), To: identity(0), Attempt: 1}
	s.Step(Incoming{Conn: 2, Hello: h})
	s.Step(Broke{Conn: 2})
	h.Attempt = 0x9000
	s.Step(Incoming{Conn: 4, Hello: h})
	assert.Equal(t, Conn(4), s.Current())
}

// TestAnswersOfOthers requires that an answer of another process, or to another hello, opens
// nothing, and that "dead" from a stranger fences nobody.
func TestAnswersOfOthers(t *testing.T) {
	for name, change := range map[string]func(h *Hello){
		"job":     func(h *Hello) { h.Job++ },
		"from":    func(h *Hello) { h.From.Number++ },
		"birth":   func(h *Hello) { h.From.Birth++; h.Status = Dead },
		"to":      func(h *Hello) { h.To.Birth++ },
		"lane":    func(h *Hello) { h.Lane++ },
		"attempt": func(h *Hello) { h.Attempt++ },
		"asks":    func(h *Hello) { h.Status = Asks },
	} {
		s := New(Config{Job: 7, Me: identity(0), Peer: identity(1), Copied: 64})
		s.Step(Want{})
		s.Step(Dialed{Conn: 1})
		h := answerTo(s, 0)
		change(&h)
		actions := s.Step(Answered{Conn: 1, Hello: h})
		_, fenced := find[Fenced](actions)
		assert.False(t, fenced, name)
		assert.Equal(t, Broken, s.State(), name)
	}
}

// TestStrangerIsSaidOnce: another process may have got the port. The session reports this once.
func TestStrangerIsSaidOnce(t *testing.T) {
	s := New(Config{Job: 7, Me: identity(0), Peer: identity(1), Copied: 64})
	s.Step(Want{})
	said := 0
	for range 5 {
		s.Step(Dialed{Conn: s.mine})
		h := answerTo(s, 0)
		h.Status = Stranger
		if _, ok := find[Anomaly](s.Step(Answered{Conn: s.mine, Hello: h})); ok {
			said++
		}
		at, ok := s.Deadline()
		require.True(t, ok)
		s.Step(Tick{Now: at})
	}
	assert.Equal(t, 1, said)
}

// TestConfigCheck requires that invalid configurations are refused.
func TestConfigCheck(t *testing.T) {
	good := Config{Me: identity(0), Peer: identity(1), Copied: 64}
	require.NoError(t, good.Check())
	for name, change := range map[string]func(c *Config){
		"oneself":  func(c *Config) { c.Peer = c.Me },
		"no ring":  func(c *Config) { c.Copied = 3 },
		"negative": func(c *Config) { c.Referred = -1 },
	} {
		c := good
		change(&c)
		assert.ErrorIs(t, c.Check(), ErrConfig, name)
	}
}
