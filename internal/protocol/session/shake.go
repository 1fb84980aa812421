package session

import "github.com/goulfm/goulfm/internal/base/must"

// want dials if the lane is idle and not closing. In any other state the lane has been requested
// already.
func (s *Session) want() {
	if s.state == Idle && !s.end.wanted {
		s.since = s.now
		s.dial()
	}
}

// asked dials for a peer that cannot dial. An end that has closed without any use of the lane must
// dial, too: the peer may have appended bytes, and waits until they are taken.
//
//	0, which cannot dial 1              1
//	                                    Close: closed, unused
//	Append, dials in vain, asks
//	                                    must dial: 0 would wait for ever
func (s *Session) asked() {
	if s.state == Idle {
		s.since = s.now
		s.dial()
	}
}

// askToBeDialed asks the peer to dial when an Ask is due. An attempt that got a connection, but no
// OK, needs no Ask: dials do reach the peer.
func (s *Session) askToBeDialed() {
	if s.complains && !s.connected && s.now >= s.ask {
		s.act(Ask{})
		s.ask = s.now.Add(s.asks)
		s.asks = min(2*s.asks, AskLast)
	}
}

func (s *Session) dial() {
	s.dials++
	s.mine = Conn(2*s.dials - 1)
	s.state = Dialing
	s.giveUp = s.now.Add(AttemptFor)
	s.act(Dial{Conn: s.mine})
}

// dialed greets the peer over a connection that was just made.
func (s *Session) dialed(c Conn) {
	if c != s.mine || s.state != Dialing {
		return
	}
	s.state, s.connected = Shaking, true
	s.act(Greet{Conn: c, Hello: s.hello(s.attempt(), Asks)})
}

// attempt returns the number by which the peer knows the last dial. The number wraps round.
func (s *Session) attempt() uint16 { return uint16(s.dials) }

func (s *Session) hello(attempt uint16, status Status) Hello {
	return Hello{
		Job: s.cfg.Job, From: s.cfg.Me, To: s.cfg.Peer, Lane: s.cfg.Lane, Role: s.cfg.Role,
		Attempt: attempt, Received: s.in.received, Status: status,
	}
}

// attemptFailed ends the attempt of this process and waits for the time of the next.
func (s *Session) attemptFailed(c Conn) {
	if c == 0 || c != s.mine {
		return
	}
	s.connected = s.state == Shaking
	s.dropMine()
	s.waitToRedial()
}

// dropMine gives up this process's attempt, if one is under way.
func (s *Session) dropMine() {
	if s.mine != 0 {
		s.act(Drop{Conn: s.mine})
		s.mine = 0
	}
}

// waitToRedial enters Broken. The wait doubles each time, up to RedialLast.
func (s *Session) waitToRedial() {
	s.state = Broken
	s.redial = s.now.Add(s.backoff)
	s.backoff = min(2*s.backoff, RedialLast)
}

// broke ends a connection. If it was the open one, both ends dial.
func (s *Session) broke(c Conn) {
	switch {
	case c == 0:
	case c == s.mine:
		s.attemptFailed(c)
	case c == s.conn:
		s.breakOpen()
	}
}

func (s *Session) breakOpen() {
	s.act(Drop{Conn: s.conn})
	s.conn = 0
	if s.state == Open {
		s.since = s.now
		s.waitToRedial()
	}
}

// answered acts on the answer to this process's own Hello.
func (s *Session) answered(c Conn, h Hello) {
	if c != s.mine || s.state != Shaking {
		return
	}
	if !s.isFromPeer(h) || h.Attempt != s.attempt() || h.Status == Asks {
		s.act(Anomaly{Text: "the answer is from another process, or to another hello"})
		s.attemptFailed(c)
		return
	}
	switch h.Status {
	case OK:
		s.openMine(h)
	case Dead:
		s.act(Fenced{})
		s.finish()
	case Stranger:
		if !s.strange {
			s.strange = true
			s.act(Anomaly{Text: "the peer takes this process for a stranger"})
		}
		s.attemptFailed(c)
	default:
		s.attemptFailed(c)
	}
}

func (s *Session) openMine(h Hello) {
	c := s.mine
	if h.Received < s.out.acked || h.Received > s.out.queued {
		s.anomalousCount(c, h.Received)
		return
	}
	s.mine = 0
	if h.GaveUp != 0 && (!s.met || int16(h.GaveUp-s.heard) > 0) {
		s.heard, s.met = h.GaveUp, true
	}
	s.open(c, h.Received)
}

// incoming acts on the Hello of a connection from the peer. Everything is checked before
// anything changes.
func (s *Session) incoming(c Conn, h Hello) {
	must.That(c != 0 && c%2 == 0, "accepted connection %d", c)
	switch {
	case !s.isFromPeer(h) || h.Status != Asks:
		s.refuse(c, h, Stranger)
	case s.end.dead:
		s.refuse(c, h, Dead)
	case s.isStale(h):
		s.act(Drop{Conn: c})
	case h.Received > s.out.queued:
		s.act(Anomaly{Text: "the peer has received what was never sent"})
		s.refuse(c, h, Stranger)
	case s.insists():
		s.refuse(c, h, Busy)
	default:
		s.accept(c, h)
	}
}

func (s *Session) isFromPeer(h Hello) bool {
	return h.Job == s.cfg.Job && h.From == s.cfg.Peer && h.To == s.cfg.Me && h.Lane == s.cfg.Lane
}

// isStale reports whether the peer has abandoned this attempt in the meantime. The Hello lay in a
// queue here, and no process would read the answer.
//
//	The peer dials, loses patience and dials again; the second Hello is accepted, the
//	lane works. Now the first Hello is read. If accepted, it would cut a lane that works.
//	Its count may also be below the bytes that the peer has acknowledged since, which are forgotten.
//
//	Both dial, and the peer accepts the Hello of this process, which ends the peer's attempt.
//	The peer's Hello arrives after its answer, which carries the attempt that it abandoned.
//
// Without an open connection there is nothing to cut, and the number of the attempt is ignored: the
// number may have wrapped round.
func (s *Session) isStale(h Hello) bool {
	older := s.state == Open && s.met && int16(h.Attempt-s.heard) <= 0
	return older || h.Received < s.out.acked
}

// insists reports whether this process's own attempt has priority over the peer's.
//
//	The pair is 0 and 1. Both dial, and each Hello arrives while the other's answer is
//	awaited. If both accepted, each would drop the connection that the other opened,
//	for ever. So 0 answers busy, and 1 accepts.
//
//	If 0 cannot dial to 1, its attempt stays under way, and 1 would receive busy for ever.
//	So 0 insists only for BusyFor.
func (s *Session) insists() bool {
	return s.mine != 0 && s.cfg.Me.Number < s.cfg.Peer.Number && s.now < s.since.Add(BusyFor)
}

func (s *Session) refuse(c Conn, h Hello, status Status) {
	answer := s.hello(h.Attempt, status)
	answer.Received = 0
	s.act(Answer{Conn: c, Hello: answer})
	s.act(Drop{Conn: c})
}

// accept makes the peer's connection the lane. The old connection is dropped first: none of its
// bytes may count once the answer has reported the number of received bytes.
func (s *Session) accept(c Conn, h Hello) {
	s.dropMine()
	if s.conn != 0 {
		s.act(Drop{Conn: s.conn})
	}
	s.heard, s.met = h.Attempt, true
	answer := s.hello(h.Attempt, OK)
	answer.GaveUp = s.attempt()
	s.act(Answer{Conn: c, Hello: answer})
	if s.state == Ended {
		s.conn = c // the peer missed the bye-ack, and will send its bye again
		return
	}
	s.open(c, h.Received)
}

// open begins to use a connection. All taken bytes are acknowledged again: the last acknowledgement
// may have been lost with the last connection.
func (s *Session) open(c Conn, from uint64) {
	s.state, s.conn = Open, c
	s.backoff, s.strange = RedialFirst, false
	s.in.due, s.in.told = s.in.taken > 0, 0
	s.act(Opened{Conn: c, From: from})
	if s.complains {
		s.complains = false
		s.act(Reachable{})
	}
	s.end.reopen()
}

func (s *Session) anomalousCount(c Conn, count uint64) {
	s.act(Anomaly{Text: "the peer counts " + describeCount(count, s.out)})
	s.broke(c)
}
