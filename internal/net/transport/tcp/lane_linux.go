package tcp

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/session"
	"golang.org/x/sys/unix"
)

// A lane is this process's end of a stream of frames to and from a peer: the host of a session.
type lane struct {
	mesh   *Mesh
	peer   int    // slot
	birth  uint64 // of the process in that slot
	class  transport.Class
	window int // bound of the unacknowledged bytes; both ends have the same
	s      *session.Session

	line      line         // of the connection in use
	conn      session.Conn // in use
	mine      attempt      // a connection that this process makes
	accepted  attempt      // an accepted connection, while the session checks its hello
	wantsOut  bool         // epoll reports when the socket accepts bytes again
	refused   bool         // there was no room for a frame, and none became free since
	gathers   bool         // this process has tried to send since its last poll: see Mesh.gathering
	closed    bool         // everything is dropped from now on
	hasClosed bool         // session.Closed: a bye was answered, unused at Part, or an end is dead
	broken    error
	dialErr   error // of the last dial that has failed, or that ended after its attempt
	unmet     bool  // Config.OnUnmet was called, and OnMet not since

	out    outbox
	notice notice
	in     inbox

	asked          bool   // the peer requests an acknowledgement
	askedTo        uint64 // of the bytes before this position in its stream
	asksTo         uint64 // this process requests an acknowledgement of its stream up to here
	creditReturned uint64 // of this process's payload
	assembled      []byte // parts of a control frame
	awaited        int    // length of that frame; 0: none has begun
	isPutBack      bool   // that frame is whole and was put back
}

// An attempt is a connection that is not in use yet.
type attempt struct {
	conn   session.Conn
	line   line
	answer []byte // the received part of the answer to this process's hello
}

// A notice collects the uncounted frames to send between two frames of the stream.
type notice struct {
	ack, ask, bye, byeAck bool
	taken, credit         uint64 // as sent last, or to send
	rest                  []byte // the unsent part of the current notice
	buf                   [headerBytes + numbersBytes]byte
}

// Bounds of the unacknowledged bytes of a lane. Each end acknowledges when it has taken a quarter.
const (
	dataWindow    = 512 << 10
	controlWindow = 128 << 10
)

func newLane(m *Mesh, peer int, class transport.Class) *lane {
	l := &lane{mesh: m, peer: peer, birth: m.birth(peer), class: class, window: dataWindow, line: noLine, mine: attempt{line: noLine}, accepted: attempt{line: noLine}}
	if class == transport.Control {
		l.window = controlWindow
	}
	l.s = session.New(session.Config{Job: m.cfg.Job, Lane: uint8(class), Copied: l.window,
		Me: session.Identity{Number: uint32(m.cfg.Me), Birth: m.cfg.Peers[m.cfg.Me].birthOf(m.cfg.Generation)}, Peer: session.Identity{Number: uint32(peer), Birth: l.birth}})
	return l
}

// step steps the session with an event, and executes its actions. A session without a connection
// measures time, so step gives it the time first.
func (l *lane) step(ev session.Event) {
	if l.s.State() != session.Open {
		l.do(l.s.Step(session.Tick{Now: l.mesh.now()}))
	}
	l.do(l.s.Step(ev))
	if deadline, ok := l.s.Deadline(); ok {
		l.mesh.arm(deadline)
	}
}

// do executes actions of the session. It never steps the session: the next poll of the socket
// reports the consequences of a failure.
func (l *lane) do(actions []session.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case session.Dial:
			l.mine = attempt{conn: a.Conn, line: noLine}
			go l.mesh.dial(l, a.Conn)
		case session.Greet:
			l.greet(a.Hello)
		case session.Answer:
			l.answer(a)
		case session.Drop:
			l.drop(a.Conn)
		case session.Opened:
			l.open(a)
		case session.Release:
			l.release(a.To)
		case session.Ask, session.Reachable:
			l.tellMet(a)
		case session.Fenced:
			l.mesh.cfg.OnFenced(l.peer)
		case session.Closed:
			l.hasClosed = true
			if !l.closed {
				l.mesh.lookAt(l) // Parted may wait for this
			}
		case session.Anomaly:
			l.mesh.anomaly(l.peer, a.Text)
		default:
			l.doNotice(a)
		}
	}
}

// tellMet reports that the peer cannot be dialed, or no longer needs to be.
func (l *lane) tellMet(a session.Action) {
	switch a.(type) {
	case session.Ask:
		l.unmet = true
		if tell := l.mesh.cfg.OnUnmet; tell != nil {
			tell(Unmet{Peer: l.peer, Class: l.class, Addr: l.mesh.peer(l.peer).Addr, Why: whyUnmet(l.dialErr)})
		}
	case session.Reachable:
		if tell := l.mesh.cfg.OnMet; tell != nil && l.unmet {
			tell(l.peer, l.class)
		}
		l.unmet = false
	}
}

// doNotice schedules the frames between those of the stream.
func (l *lane) doNotice(a session.Action) {
	switch a := a.(type) {
	case session.WriteAck:
		l.notice.ack, l.notice.taken = true, a.Taken
	case session.WriteBye:
		l.notice.bye = true
	case session.WriteByeAck:
		l.notice.byeAck = true
	default:
		return
	}
	l.flush()
}

// greet sends this process's hello over the connection that it has made.
func (l *lane) greet(h session.Hello) {
	if !l.mine.line.open() {
		return
	}
	l.mine.line.say(h)
	l.mesh.poll.add(l.mine.line.fd, keyOf(l, true))
}

// answer answers the hello of an accepted connection.
func (l *lane) answer(a session.Answer) {
	if a.Conn != l.accepted.conn || !l.accepted.line.open() {
		return
	}
	l.accepted.line.say(a.Hello)
	if a.Hello.Status == session.OK {
		l.use(&l.accepted)
	}
}

// open begins to use a connection, at a byte of this process's stream.
func (l *lane) open(a session.Opened) {
	if a.Conn == l.mine.conn && l.mine.line.open() {
		l.mesh.poll.remove(l.mine.line.fd)
		l.use(&l.mine)
	}
	l.out.resume(a.From)
	l.notice.ask = l.asksTo > l.out.queued-l.s.Unacked() // the request on an earlier connection may be lost
	l.flush()
}

// use makes an attempt the connection in use.
func (l *lane) use(a *attempt) {
	l.line, l.conn = a.line, a.conn
	*a = attempt{line: noLine}
	credit := l.notice.credit
	l.notice = notice{credit: credit, ack: credit > 0, taken: l.notice.taken}
	l.wantsOut = false
	l.in.cut()
	l.mesh.poll.add(l.line.fd, keyOf(l, false))
	if l.line.secure != nil {
		l.mesh.lookAt(l) // frames may have arrived with the hello, which the socket does not report again
	}
}

// drop closes a connection.
func (l *lane) drop(c session.Conn) {
	switch {
	case c == l.conn && l.line.open():
		l.line.close()
		l.conn = 0
		l.in.cut()
	case c == l.mine.conn:
		l.mine.close()
	case c == l.accepted.conn:
		l.accepted.close()
	}
}

func (a *attempt) close() {
	a.line.close()
	*a = attempt{line: noLine}
}

// readAnswer reads the answer to this process's hello, or the part of it that has arrived.
func (l *lane) readAnswer() {
	if !l.mine.line.open() {
		return
	}
	conn, buf := l.mine.conn, make([]byte, session.HelloSize-len(l.mine.answer))
	n, err := l.mine.line.read(buf)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return
	case err != nil || n == 0:
		l.step(session.Broke{Conn: conn})
		return
	}
	l.mine.answer = append(l.mine.answer, buf[:n]...)
	if len(l.mine.answer) < session.HelloSize {
		return
	}
	h, err := session.ParseHello(l.mine.answer)
	if err != nil {
		l.step(session.Broke{Conn: conn})
		return
	}
	l.step(session.Answered{Conn: conn, Hello: h})
}

// broke ends a broken connection.
func (l *lane) broke() {
	if !l.line.open() {
		return
	}
	conn := l.conn
	l.step(session.Broke{Conn: conn})
	l.drop(conn) // even if the session has forgotten the connection
}

// bad ends a connection that has delivered an invalid frame.
func (l *lane) bad(err error) {
	l.mesh.anomaly(l.peer, err.Error())
	l.broke()
}

// put appends a frame to the stream, if there is room. If the lane gathers, the frame waits to be
// written together with others, until gatheredMax bytes wait or a bye of the peer is unanswered.
func (l *lane) put(h header, numbers [2]uint64, payload []byte) bool {
	if l.out.ring == nil {
		l.out.ring = make([]byte, l.window)
	}
	copied, _ := l.s.Room()
	if h.size() > min(l.out.room(), copied) {
		l.refused = true
		return false
	}
	l.out.put(h, numbers, payload)
	l.step(session.Append{Copied: h.size()})
	if l.s.Owes() {
		// The peer has sent a bye. Its acknowledgement covers the bytes for which this process had
		// asked when the bye arrived. This frame is not among them:
		//
		//	A: hello, unacknowledged    B: bye
		//	A: receives the bye, asks
		//	                            B: takes hello, acknowledges the bytes that A has asked for
		//	A: more                     B: takes it, and no request is pending
		//	A: the answer waits for an acknowledgement of more; so does B, for the answer
		l.ask()
		return true
	}
	if !l.gathers || l.out.queued-l.out.written >= gatheredMax {
		l.flush()
	}
	return true
}

// release frees the room of acknowledged bytes. If a frame was refused for lack of room, the next
// Take names the peer, whichever call has read the acknowledgement.
func (l *lane) release(acked uint64) {
	l.out.release(acked)
	if l.refused {
		l.refused = false
		l.mesh.lookAt(l)
	}
}

// gatheredMax bounds the bytes that wait to be written with later ones.
const gatheredMax = 16 << 10

// flush writes notices and frames while the socket accepts them.
func (l *lane) flush() {
	for l.line.open() {
		n := &l.notice
		if len(n.rest) > 0 {
			sent, ok := l.write(n.rest)
			if n.rest = n.rest[sent:]; !ok {
				return
			}
			continue
		}
		end := l.out.queued
		if n.any() || n.ask && l.out.written == end {
			begins, frameEnd := l.out.between()
			if begins {
				n.begin(l.out.written == l.out.queued)
				continue
			}
			end = frameEnd
		}
		if l.out.written == end {
			break
		}
		sent, ok := l.write(l.out.unwritten(end))
		if l.out.written += uint64(sent); !ok {
			return
		}
	}
	all, err := l.line.flush()
	l.wantOut(!all && (err == nil || errors.Is(err, unix.EAGAIN)))
}

// write writes a piece, and reports whether the line has accepted all of it.
func (l *lane) write(b []byte) (sent int, all bool) {
	sent, err := l.line.write(b)
	if err == nil && sent == len(b) {
		return sent, true
	}
	l.wantOut(err == nil || errors.Is(err, unix.EAGAIN)) // otherwise the connection is broken, which epoll reports as readable
	return max(sent, 0), false
}

func (l *lane) wantOut(want bool) {
	if l.line.open() && want != l.wantsOut {
		l.wantsOut = want
		l.mesh.poll.modify(l.line.fd, keyOf(l, false), want)
	}
}

// any reports whether a notice is due at the end of the next frame. The request for an
// acknowledgement follows all frames: in front of some, it would not cover them.
func (n *notice) any() bool { return n.ack || n.bye || n.byeAck }

// begin puts the next notice into rest; last is true if all frames are written.
func (n *notice) begin(last bool) {
	h := header{}
	switch {
	case n.ack || n.ask && last:
		h = header{body: numbersBytes, kind: kindAck}
		if n.ask && last {
			h.flags, n.ask = flagAckNow, false
		}
		putNumbers(n.buf[headerBytes:], n.taken, n.credit)
		n.ack = false
	case n.byeAck:
		h, n.byeAck = header{kind: kindByeAck}, false
	default:
		h, n.bye = header{kind: kindBye}, false
	}
	h.put(n.buf[:])
	n.rest = n.buf[:h.size()]
}

// ask requests an acknowledgement of everything sent so far, as soon as the peer has taken that.
func (l *lane) ask() {
	if l.s.Unacked() > 0 && l.asksTo < l.out.queued {
		l.asksTo = l.out.queued
		l.notice.ask = true
		l.flush()
	}
}

// sweep acknowledges the taken bytes if the peer has asked, until the peer has the acknowledgement
// that it requested.
func (l *lane) sweep() {
	if !l.asked {
		return
	}
	if l.in.taken > 0 {
		l.tellTaken()
	}
	_, taken := l.s.Incoming()
	l.asked = taken < l.askedTo
	l.step(session.Sweep{})
}

// returnCredit reports to the peer the number of its payload bytes that were released.
func (l *lane) returnCredit(total uint64) {
	if total > l.notice.credit {
		l.notice.credit, l.notice.ack = total, true
		l.flush()
	}
}

// part begins the goodbye: the session sends a bye once everything is acknowledged.
func (l *lane) part() {
	if l.in.taken > 0 {
		l.tellTaken()
	}
	l.ask()
	l.step(session.Close{})
}

// isOver reports whether this lane carries no further frames of this process: the lane was closed
// here, or its session is closed (hasClosed). A frame sent then counts as sent, as to a process
// that has returned from Finalize. The peer may still be alive and part with its other lanes. If
// this process waited for room here, it would not take the frames of those lanes.
func (l *lane) isOver() bool { return l.closed || l.hasClosed }

// close drops all frames, now and later.
func (l *lane) close() {
	if !l.closed {
		l.closed = true
		l.step(session.Gone{Dead: true})
		l.out, l.in = outbox{}, inbox{}
	}
}

// describe returns the state of the lane for people.
func (l *lane) describe() string {
	return fmt.Sprintf("%s, %d bytes not written", l.s.Describe(), l.out.queued-l.out.written)
}
