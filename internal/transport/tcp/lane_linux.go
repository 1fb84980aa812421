package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/session"
	"github.com/goulfm/goulfm/internal/transport"
	"golang.org/x/sys/unix"
)

// A lane is this process's end of one: the host of a session.
type lane struct {
	mesh   *Mesh
	peer   int // seat
	class  transport.Class
	window int // bytes that may be under way, of both ends
	s      *session.Session

	fd        int          // of the connection in use; -1: none
	conn      session.Conn // in use
	mine      attempt      // the connection that this process makes
	accepted  attempt      // one that it was given, while the session looks at it
	wantsOut  bool         // epoll tells when the socket takes bytes again
	closed    bool         // everything is dropped from now on
	hasClosed bool         // the session has: both have said goodbye, or the peer is gone
	broken    error

	out    outbox
	notice notice
	in     inbox

	asked          bool   // the peer wants an acknowledgement
	asks           bool   // this process does, of all that it has sent
	creditReturned uint64 // of this process's payload
	assembled      []byte // parts of a control frame
	awaited        int    // its length; 0: none has begun
}

// An attempt is a connection that is not in use yet.
type attempt struct {
	conn   session.Conn
	fd     int
	answer []byte // to this process's hello, as far as it is there
}

// A notice is what is to be said between two frames of the stream.
type notice struct {
	ack, askBack, bye, byeAck bool
	taken, credit             uint64 // as last said, or to say
	rest                      []byte // of one that was begun
	buf                       [headerBytes + 16]byte
}

// Bytes that may be under way on a lane. Each end acknowledges when it has taken a quarter.
const (
	dataWindow    = 512 << 10
	controlWindow = 128 << 10
)

func newLane(m *Mesh, peer int, class transport.Class) *lane {
	l := &lane{mesh: m, peer: peer, class: class, window: dataWindow, fd: -1}
	if class == transport.Control {
		l.window = controlWindow
	}
	me, it := m.cfg.Peers[m.cfg.Me], m.cfg.Peers[peer]
	l.s = session.New(session.Config{Job: m.cfg.Job, Lane: uint8(class), Copied: l.window,
		Me: session.Identity{Number: uint32(m.cfg.Me), Birth: me.Birth}, Peer: session.Identity{Number: uint32(peer), Birth: it.Birth}})
	return l
}

// step gives the session an event, and does what it asks for. A session without a connection
// measures time, and is told what time it is first.
func (l *lane) step(ev session.Event) {
	if l.s.State() != session.Open {
		l.do(l.s.Step(session.Tick{Now: l.mesh.now()}))
	}
	l.do(l.s.Step(ev))
	if deadline, ok := l.s.Deadline(); ok {
		l.mesh.arm(deadline)
	}
}

// do does what the session asks for. Nothing here gives it an event: what follows from a failure
// is seen at the next look at the socket.
func (l *lane) do(actions []session.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case session.Dial:
			l.mine = attempt{conn: a.Conn, fd: -1}
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
			l.out.release(a.To)
			l.asks = l.asks && l.s.Unacked() > 0
		case session.Fenced:
			l.mesh.cfg.OnFenced(l.peer)
		case session.Closed:
			l.hasClosed = true
		case session.Anomaly:
			l.mesh.anomaly(l.peer, a.Text)
		default:
			l.doNotice(a)
		}
	}
}

// doNotice does what is said between frames.
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
	if l.mine.fd < 0 {
		return
	}
	_, _ = send(l.mine.fd, h.Append(nil)) // a fresh socket has room; a broken one is readable
	l.mesh.poll.add(l.mine.fd, keyOf(l, true))
}

// answer answers the hello of a connection that was accepted.
func (l *lane) answer(a session.Answer) {
	if a.Conn != l.accepted.conn || l.accepted.fd < 0 {
		return
	}
	_, _ = send(l.accepted.fd, a.Hello.Append(nil))
	if a.Hello.Status == session.OK {
		l.use(&l.accepted)
	}
}

// open begins to use a connection, from a byte of this process's stream on.
func (l *lane) open(a session.Opened) {
	if a.Conn == l.mine.conn && l.mine.fd >= 0 {
		l.mesh.poll.remove(l.mine.fd)
		l.use(&l.mine)
	}
	l.out.resume(a.From)
	if l.asks { // what was said of it on an earlier connection may be lost
		l.notice.ack, l.notice.askBack = true, true
	}
	l.flush()
}

// use makes an attempt the connection in use.
func (l *lane) use(a *attempt) {
	l.fd, l.conn = a.fd, a.conn
	*a = attempt{fd: -1}
	credit := l.notice.credit
	l.notice = notice{credit: credit, ack: credit > 0, taken: l.notice.taken}
	l.wantsOut = false
	l.in.cut()
	l.mesh.poll.add(l.fd, keyOf(l, false))
}

// drop closes a connection.
func (l *lane) drop(c session.Conn) {
	switch {
	case c == l.conn && l.fd >= 0:
		unix.Close(l.fd)
		l.fd, l.conn = -1, 0
		l.in.cut()
	case c == l.mine.conn:
		l.mine.close()
	case c == l.accepted.conn:
		l.accepted.close()
	}
}

func (a *attempt) close() {
	if a.fd >= 0 {
		unix.Close(a.fd)
	}
	*a = attempt{fd: -1}
}

// readAnswer reads the answer to this process's hello, as far as it is there.
func (l *lane) readAnswer() {
	if l.mine.fd < 0 {
		return
	}
	conn, buf := l.mine.conn, make([]byte, session.HelloSize-len(l.mine.answer))
	n, err := receive(l.mine.fd, buf)
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

// broke ends a connection that is of no use any more.
func (l *lane) broke() {
	if l.fd < 0 {
		return
	}
	conn := l.conn
	l.step(session.Broke{Conn: conn})
	l.drop(conn) // also one that the session has forgotten
}

// bad ends a connection over which nonsense has come.
func (l *lane) bad(err error) {
	l.mesh.anomaly(l.peer, err.Error())
	l.broke()
}

// put appends a frame to the stream, if there is room, and writes what can be written.
func (l *lane) put(h header, numbers []uint64, payload []byte) bool {
	if l.out.ring == nil {
		l.out.ring = make([]byte, l.window)
	}
	copied, _ := l.s.Room()
	if h.size() > min(l.out.room(), copied) {
		return false
	}
	l.out.put(h, numbers, payload)
	l.step(session.Append{Copied: h.size()})
	l.flush()
	return true
}

// flush writes what there is, as far as the socket takes it.
func (l *lane) flush() {
	for l.fd >= 0 {
		n := &l.notice
		if len(n.rest) > 0 {
			sent, ok := l.write(n.rest)
			if n.rest = n.rest[sent:]; !ok {
				return
			}
			continue
		}
		end := l.out.queued
		if n.any() {
			begins, frameEnd := l.out.between()
			if begins {
				n.begin()
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
	l.wantOut(false)
}

// write writes a piece, and says whether all of it went out.
func (l *lane) write(b []byte) (sent int, all bool) {
	sent, err := send(l.fd, b)
	if err == nil && sent == len(b) {
		return sent, true
	}
	l.wantOut(err == nil || errors.Is(err, unix.EAGAIN)) // else it is broken: readable
	return max(sent, 0), false
}

func (l *lane) wantOut(want bool) {
	if l.fd >= 0 && want != l.wantsOut {
		l.wantsOut = want
		l.mesh.poll.modify(l.fd, keyOf(l, false), want)
	}
}

func (n *notice) any() bool { return n.ack || n.bye || n.byeAck }

// begin puts the next notice into rest.
func (n *notice) begin() {
	le, h := binary.LittleEndian, header{}
	switch {
	case n.ack:
		h = header{body: 16, kind: kindAck}
		if n.askBack {
			h.flags = flagAckNow
		}
		le.PutUint64(n.buf[headerBytes:], n.taken)
		le.PutUint64(n.buf[headerBytes+8:], n.credit)
		n.ack, n.askBack = false, false
	case n.byeAck:
		h, n.byeAck = header{kind: kindByeAck}, false
	default:
		h, n.bye = header{kind: kindBye}, false
	}
	h.put(n.buf[:])
	n.rest = n.buf[:h.size()]
}

// ask has the peer acknowledge what it has taken.
func (l *lane) ask() {
	if l.asks = l.s.Unacked() > 0; l.asks {
		l.notice.ack, l.notice.askBack = true, true
		l.flush()
	}
}

// sweep acknowledges what was taken, if the peer has asked.
func (l *lane) sweep() {
	if l.asked {
		l.asked = false
		if l.in.taken > 0 {
			l.tellTaken()
		}
		l.step(session.Sweep{})
	}
}

// returnCredit tells the peer how many of its payload bytes were let go.
func (l *lane) returnCredit(total uint64) {
	if total > l.notice.credit {
		l.notice.credit, l.notice.ack = total, true
		l.flush()
	}
}

// part takes leave: the session says bye once everything is acknowledged.
func (l *lane) part() {
	if l.in.taken > 0 {
		l.tellTaken()
	}
	l.ask()
	l.step(session.Close{})
}

// close drops everything, now and later.
func (l *lane) close() {
	if !l.closed {
		l.closed = true
		l.step(session.Gone{Dead: true})
		l.out, l.in = outbox{}, inbox{}
	}
}

// describe says for people how it stands.
func (l *lane) describe() string {
	return fmt.Sprintf("%s, %d bytes not written", l.s.Describe(), l.out.queued-l.out.written)
}
