package session

// goodbye is how far the end of a lane has come.
//
// Each end says bye once everything that it ever sent is acknowledged, and answers the
// other one's bye with a bye-ack under the same condition. An end that has said bye waits
// for the bye-ack; one that has only answered is done. So both ways lead to closed, and
// whichever end closes its socket has read all that the peer had to send: closing with
// unread input would make the kernel reset the connection and throw away what was sent.
//
//	one closes                      both close at once
//	A ──bye────▶ B                  A ──bye────▶◀────bye── B
//	A ◀─bye-ack─ B  B: closed       A ──bye-ack─▶◀─bye-ack─ B
//	A: closed                       A: closed              B: closed
type goodbye struct {
	wanted bool // Close was said here
	said   bool // bye was written on this connection
	heard  bool // the peer's bye came over this connection
	dead   bool // the peer was declared dead
	told   bool // Closed was said: once
}

// reopen begins anew on a new connection: what went down with the old one is said again.
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

// close wants the end. A lane that nobody has used here is closed at once; should the peer
// dial all the same, the lane opens, takes what the peer has to send, and ends with it.
func (s *Session) close() {
	s.end.wanted = true
	s.in.due = true
	if s.state == Idle {
		s.tellClosed()
	}
}

// sayGoodbye goes as far as it can. Nothing is said before all is acknowledged.
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

// Owes says whether the peer has said bye and waits for the answer, which waits until all that was
// sent here is acknowledged.
func (s *Session) Owes() bool { return s.end.heard }

// bye is the peer's. A closed end still answers: the peer missed the bye-ack.
func (s *Session) bye(c Conn) {
	switch {
	case c == 0 || c != s.conn:
	case s.state == Ended:
		s.act(WriteByeAck{Conn: c}) // the peer closes then, which comes as Broke
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

// gone ends the lane without the peer.
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
