package tcp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/session"
	"golang.org/x/sys/unix"
)

// An arrival is the result of a goroutine that dials or accepts: a connection, or the failure to
// make one. The request of a peer to be dialed is an arrival, too.
type arrival struct {
	lane  *lane         // of a dialed connection; nil: it was accepted, or asked is set
	conn  session.Conn  // of a dialed connection
	line  line          // closed: the dial has failed, or asked is set
	err   error         // the reason of the failure
	asked bool          // no connection: the peer of the hello requests to be dialed
	hello session.Hello // of an accepted connection
}

const (
	dialFor     = time.Duration(session.AttemptFor)
	helloFor    = 3 * time.Second
	userTimeout = 5000 // milliseconds without an acknowledgement of the peer's kernel
)

// dial makes a connection that a session has requested.
func (m *Mesh) dial(l *lane, conn session.Conn) {
	peer := m.peer(l.peer)
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	defer cancel()
	made := noLine
	c, err := m.trust.Dial(ctx, peer.Addr, l.birth)
	if err == nil {
		made = prepare(c)
	}
	m.post(arrival{lane: l, conn: conn, line: made, err: err})
}

// Asked makes this process dial a peer that needs a lane and cannot dial, unless the lane was
// dialed or opened before. Any goroutine may call Asked.
func (m *Mesh) Asked(peer int, class transport.Class) {
	if peer < 0 || peer >= len(m.cfg.Peers) || peer == m.cfg.Me || class != transport.Data && class != transport.Control {
		return
	}
	m.post(arrival{asked: true, line: noLine, hello: session.Hello{From: session.Identity{Number: uint32(peer)}, Lane: uint8(class)}})
}

// whyUnmet returns the reason of a failed dial: "refused", "no route", "no answer", or the text of
// another error. err is the error of the last dial that has failed; nil: there is none.
func whyUnmet(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return "refused"
	case errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETUNREACH):
		return "no route"
	case err == nil, errors.As(err, &timeout) && timeout.Timeout():
		return "no answer"
	}
	return err.Error()
}

// prepare extracts the socket of a connection for polling, and returns a closed line if that fails.
func prepare(c *socket.Conn) line {
	fd, secure, err := c.Detach(socket.Raw{Receive: receive, Send: send, Again: unix.EAGAIN})
	if err != nil {
		return noLine
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, userTimeout)
	return line{fd: fd, secure: secure}
}

// admit reads the hello of an authenticated connection, and posts both. It closes a connection
// without a valid hello.
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

// post queues an arrival and wakes this process.
func (m *Mesh) post(a arrival) {
	m.mu.Lock()
	m.arrivals = append(m.arrivals, a)
	m.mu.Unlock()
	m.tell()
}

// receive steps the session of an arrival's lane.
func (m *Mesh) receive(a arrival) {
	l := a.lane
	if a.asked {
		m.lane(transport.Class(a.hello.Lane), int(a.hello.From.Number)).step(session.Asked{})
		return
	}
	if l == nil {
		m.incoming += 2
		l = m.lane(transport.Class(a.hello.Lane), int(a.hello.From.Number))
		l.accepted = attempt{conn: m.incoming, line: a.line}
		l.step(session.Incoming{Conn: m.incoming, Hello: a.hello})
		l.accepted.close() // does nothing if the connection is in use now
		return
	}
	switch {
	case a.conn != l.mine.conn:
		l.dialErr = a.err
		a.line.close()
	case !a.line.open():
		l.dialErr = a.err
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
