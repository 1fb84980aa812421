package tcp

import (
	"context"
	"io"
	"time"

	"github.com/goulfm/goulfm/internal/session"
	"github.com/goulfm/goulfm/internal/socket"
	"github.com/goulfm/goulfm/internal/transport"
	"golang.org/x/sys/unix"
)

// An arrival is a connection that a goroutine has made or accepted, or failed to make.
type arrival struct {
	lane  *lane         // of one that was dialed; nil: it was accepted
	conn  session.Conn  // of one that was dialed
	line  line          // closed: it could not be made
	hello session.Hello // of one that was accepted
}

const (
	dialFor     = time.Duration(session.AttemptFor)
	helloFor    = 3 * time.Second
	userTimeout = 5000 // milliseconds without an acknowledgement of the peer's kernel
)

// dial makes the connection for which a session has asked.
func (m *Mesh) dial(l *lane, conn session.Conn) {
	peer := m.peer(l.peer)
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	defer cancel()
	made := noLine
	if c, err := m.trust.Dial(ctx, peer.Addr, l.birth); err == nil {
		made = prepare(c)
	}
	m.post(arrival{lane: l, conn: conn, line: made})
}

// prepare takes a connection for polling; a closed line: it cannot be.
func prepare(c *socket.Conn) line {
	fd, secure, err := c.Detach(socket.Raw{Receive: receive, Send: send, Again: unix.EAGAIN})
	if err != nil {
		return noLine
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, userTimeout)
	return line{fd: fd, secure: secure}
}

// admit hands over a connection whose other end has proved to be a member, with its hello.
func (m *Mesh) admit(c *socket.Conn) {
	b := make([]byte, session.HelloSize)
	_ = c.SetReadDeadline(time.Now().Add(helloFor))
	_, err := io.ReadFull(c, b)
	var h session.Hello
	if err == nil {
		h, err = session.ParseHello(b)
	}
	if err != nil || h.From.Number >= uint32(len(m.cfg.Peers)) || h.Lane > uint8(transport.Control) || int(h.From.Number) == m.cfg.Me {
		c.Close()
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if l := prepare(c); l.open() {
		m.post(arrival{line: l, hello: h})
	}
}

// post hands an arrival over.
func (m *Mesh) post(a arrival) {
	m.mu.Lock()
	m.arrivals = append(m.arrivals, a)
	m.mu.Unlock()
	m.tell()
}

// receive lets a session look at an arrival.
func (m *Mesh) receive(a arrival) {
	l := a.lane
	if l == nil {
		m.incoming += 2
		l = m.lane(transport.Class(a.hello.Lane), int(a.hello.From.Number))
		l.accepted = attempt{conn: m.incoming, line: a.line}
		l.step(session.Incoming{Conn: m.incoming, Hello: a.hello})
		l.accepted.close() // unless it is in use now
		return
	}
	switch {
	case a.conn != l.mine.conn:
		a.line.close()
	case !a.line.open():
		l.step(session.DialFailed{Conn: a.conn})
	default:
		l.mine.line = a.line
		l.step(session.Dialed{Conn: a.conn})
	}
}

// Close closes all connections and the listener.
func (m *Mesh) Close() {
	m.CloseAll()
	if m.cfg.Listener != nil {
		_ = m.cfg.Listener.Close()
	}
	m.mu.Lock()
	m.timer.Stop()
	m.mu.Unlock()
}
