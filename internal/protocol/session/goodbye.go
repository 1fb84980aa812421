package session

// goodbye is the progress of the end of a lane.
//
// Each end sends a bye once everything that it ever sent is acknowledged, and answers the peer's
// bye with a bye-ack under the same condition. An end that has sent a bye waits for the bye-ack; an
// end that has only answered is done. So both paths lead to closed, and an end that closes its
// socket has read all that the peer had to send. Closing with unread input would make the kernel
// reset the connection and discard the bytes that were sent.
//
//	one closes                      both close at once
//	A ──bye────▶ B                  A ──bye────▶◀────bye── B
//	A ◀─bye-ack─ B  B: closed       A ──bye-ack─▶◀─bye-ack─ B
//	A: closed                       A: closed              B: closed
type goodbye struct {
	wanted bool // the host has given Close
	said   bool // bye was written on this connection
	heard  bool // the peer's bye came over this connection
	dead   bool // the peer was declared dead
	told   bool // Closed was reported: once
}

// reopen begins again on a new connection: frames that were lost with the old connection are sent
// again.
func (g *goodbye) reopen() { g.said, g.heard = false, false }

func (g *goodbye) describe() string {
	switch {
	case g.dead:
		return ", peer dead"
	case g.said:
		return ", bye said"
	case g.wanted:
		return ", closing"
	}
	return ""
}

// close begins the end. A lane that this end never used is closed at once. If the peer dials later,
// the lane opens, receives the peer's bytes, and ends with the peer.
func (s *Session) close() {
	s.end.wanted = true
	s.in.due = true
	if s.state == Idle {
		s.tellClosed()
	}
}

// sayGoodbye takes each step of the end that is possible now, and none before all is acknowledged.
func (s *Session) sayGoodbye() {
	if s.out.acked < s.out.queued {
		return
	}
	switch {
	case s.end.heard:
		s.act(WriteByeAck{Conn: s.conn})
		s.end.heard = false
		if !s.end.said {
			s.finish()
		}
	case s.end.wanted && !s.end.said:
		s.end.said = true
		s.act(WriteBye{Conn: s.conn})
	}
}

// Owes reports whether the peer has sent a bye and waits for the answer. The answer waits until all
// bytes that this end sent are acknowledged.
func (s *Session) Owes() bool { return s.end.heard }

// bye handles a bye of the peer. A closed end still answers: the peer missed the bye-ack.
func (s *Session) bye(c Conn) {
	switch {
	case c == 0 || c != s.conn:
	case s.state == Ended:
		s.act(WriteByeAck{Conn: c}) // the peer closes then; the host reports Broke
	default:
		s.end.heard = true
	}
}

func (s *Session) byeAck(c Conn) {
	if c == 0 || c != s.Current() {
		return
	}
	if !s.end.said {
		s.act(Anomaly{Text: "bye-ack without bye"})
		s.breakOpen()
		return
	}
	s.finish()
}

// gone ends the lane without the peer's consent.
func (s *Session) gone(dead bool) {
	s.end.dead = s.end.dead || dead
	if s.state != Ended {
		s.finish()
	}
}

// finish closes everything.
func (s *Session) finish() {
	s.dropMine()
	if s.conn != 0 {
		s.act(Drop{Conn: s.conn})
		s.conn = 0
	}
	s.state = Ended
	if s.complains {
		s.complains = false
		s.act(Reachable{})
	}
	s.tellClosed()
}

func (s *Session) tellClosed() {
	if !s.end.told {
		s.end.told = true
		s.act(Closed{Lost: s.Unacked()})
	}
}
