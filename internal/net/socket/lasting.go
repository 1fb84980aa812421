package socket

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Lasting is a stream between two members that survives broken connections: all written bytes
// arrive once and in order, over one connection after another. The end that dialed first dials
// again after a break.
//
// TCP acknowledges bytes that are in the peer's kernel, which may be lost with the connection. So
// both ends count: a writer keeps its bytes until the peer's Lasting has confirmed them, and a new
// connection begins with an exchange of the counts of received bytes.
//
//	dialer                                   listener
//	first or again, id, received   ──▶       again: a known id
//	               ◀──  state, received      both write on from the peer's count
//	[kind, length] data or count   ◀─▶
//
// The stream ends at Close, and when the peer is known to have ended. The dialer learns that from a
// refused connection, or from a peer that does not know the id any more. The listener's caller must
// detect the end of the dialer and call Fail.
type Lasting struct {
	id     lastingID
	local  net.Addr
	redial func() // runs in a goroutine of its own when a connection has broken

	mu       sync.Mutex
	change   *sync.Cond
	conn     net.Conn // nil: broken
	err      error    // set when the stream has ended
	out      []byte   // this end's stream from acked on
	acked    uint64
	written  uint64 // to conn
	in       []byte // bytes of the peer's stream that were not read yet
	received uint64
	told     uint64 // the count that was sent last
	tells    bool   // writeTo must send the count
	deadline time.Time
	onEnd    func() // removes the stream from its Lastings
}

type lastingID [16]byte

const (
	lastingHello = 1 + 16 + 8
	lastingHead  = 1 + 4
	lastingPiece = 32 << 10
	lastingMax   = 4 << 20 // bytes kept for the peer, or for the reader
	lastingTell  = 64 << 10

	pieceOfStream = 1
	countOfStream = 2

	helloFirst = 1
	helloAgain = 2

	answerGoOn = 1
	answerOver = 2
)

// ErrOver is the error of a stream that the peer no longer knows.
var ErrOver = errors.New("the other end has closed the stream")

func newLasting(id lastingID, conn net.Conn) *Lasting {
	l := &Lasting{id: id, local: conn.LocalAddr()}
	l.change = sync.NewCond(&l.mu)
	return l
}

// DialLasting connects to the listener of a member. The stream dials again whenever its connection
// breaks.
func (t *Trust) DialLasting(ctx context.Context, addr string, birth uint64) (*Lasting, error) {
	var id lastingID
	_, _ = rand.Read(id[:])
	conn, err := t.Dial(ctx, addr, birth)
	if err != nil {
		return nil, err
	}
	l := newLasting(id, conn)
	l.redial = func() { l.dialAgain(t, addr, birth) }
	if err := l.greet(conn, helloFirst); err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

const (
	redialFirst = time.Millisecond
	redialLast  = 100 * time.Millisecond
	redialEach  = 3 * time.Second
)

// dialAgain dials until the stream is connected, or the peer is known to have ended.
func (l *Lasting) dialAgain(t *Trust, addr string, birth uint64) {
	for wait := redialFirst; !l.isEnded(); wait = min(2*wait, redialLast) {
		ctx, cancel := context.WithTimeout(context.Background(), redialEach)
		conn, err := t.Dial(ctx, addr, birth)
		cancel()
		if err == nil {
			if err = l.greet(conn, helloAgain); err == nil {
				return
			}
			conn.Close()
		}
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, ErrOver) {
			l.Fail(err)
			return
		}
		time.Sleep(wait)
	}
}

// greet is the dialer's part of the exchange at the start of a connection.
func (l *Lasting) greet(conn net.Conn, kind byte) error {
	l.mu.Lock()
	told := l.received
	l.mu.Unlock()
	hello := binary.LittleEndian.AppendUint64(append([]byte{kind}, l.id[:]...), told)
	_ = conn.SetDeadline(time.Now().Add(redialEach))
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	var answer [1 + 8]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if answer[0] != answerGoOn {
		return ErrOver
	}
	_ = conn.SetDeadline(time.Time{})
	return l.use(conn, told, binary.LittleEndian.Uint64(answer[1:]))
}

// use continues the stream over a new connection. The second argument is the count that this end
// has sent to the peer, the third is the peer's count of this end's stream. If two connections
// begin at the same time, the later one may be outdated:
//
//	connection 1: told 10 bytes         connection 2: told 10 bytes
//	use; 5 bytes arrive
//	                                    use: the peer would write these 5 again
func (l *Lasting) use(conn net.Conn, told, has uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if l.received != told {
		return errors.New("another connection was faster")
	}
	if has < l.acked || has > l.acked+uint64(len(l.out)) {
		return errors.New("the peer counts what was never sent")
	}
	if l.conn != nil {
		l.conn.Close()
	}
	l.forget(has)
	l.conn, l.written, l.tells = conn, has, false
	l.change.Broadcast()
	go l.readFrom(conn)
	go l.writeTo(conn)
	return nil
}

// forget drops the bytes that the peer has received. The caller holds mu.
func (l *Lasting) forget(has uint64) {
	l.out = l.out[has-l.acked:]
	l.acked = has
}

// lose closes a connection. If the stream still uses this connection, redial runs.
func (l *Lasting) lose(conn net.Conn) {
	conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != conn {
		return
	}
	l.conn = nil
	l.change.Broadcast()
	if l.err == nil && l.redial != nil {
		go l.redial()
	}
}

// readFrom reads frames from a connection until it breaks.
func (l *Lasting) readFrom(conn net.Conn) {
	defer l.lose(conn)
	buf := make([]byte, lastingPiece)
	for {
		if _, err := io.ReadFull(conn, buf[:lastingHead]); err != nil {
			return
		}
		kind, n := buf[0], int(binary.LittleEndian.Uint32(buf[1:]))
		if n > len(buf) || kind == countOfStream && n != 8 {
			return
		}
		if _, err := io.ReadFull(conn, buf[:n]); err != nil || !l.take(conn, kind, buf[:n]) {
			return
		}
	}
}

// take accepts a piece of the stream or a count; false: the connection is no longer in use.
func (l *Lasting) take(conn net.Conn, kind byte, b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.conn == conn && l.err == nil && len(l.in) > lastingMax {
		l.change.Wait()
	}
	if l.conn != conn || l.err != nil {
		return false
	}
	if kind == countOfStream {
		has := binary.LittleEndian.Uint64(b)
		if has > l.acked+uint64(len(l.out)) {
			return false
		}
		if has > l.acked {
			l.forget(has)
		}
	} else {
		l.in = append(l.in, b...)
		l.received += uint64(len(b))
		l.tells = l.tells || l.received-l.told >= lastingTell
	}
	l.change.Broadcast()
	return true
}

// writeTo writes counts and pieces of the stream to a connection until it breaks.
func (l *Lasting) writeTo(conn net.Conn) {
	defer l.lose(conn)
	for {
		l.mu.Lock()
		for l.conn == conn && l.err == nil && !l.tells && l.written == l.acked+uint64(len(l.out)) {
			l.change.Wait()
		}
		if l.conn != conn || l.err != nil {
			l.mu.Unlock()
			return
		}
		var frame []byte
		if l.tells {
			l.tells, l.told = false, l.received
			frame = binary.LittleEndian.AppendUint64([]byte{countOfStream, 8, 0, 0, 0}, l.received)
		}
		at := max(l.written, l.acked)
		piece := l.out[at-l.acked:]
		piece = piece[:min(len(piece), lastingPiece)]
		frame = binary.LittleEndian.AppendUint32(append(frame, pieceOfStream), uint32(len(piece)))
		frame = append(frame, piece...)
		l.mu.Unlock()
		if _, err := conn.Write(frame); err != nil {
			return
		}
		l.mu.Lock()
		if l.conn == conn {
			l.written = at + uint64(len(piece))
		}
		l.change.Broadcast()
		l.mu.Unlock()
	}
}

// Write keeps b for the peer. It returns once the kernel has b, like the Write of other
// connections, or at once while the stream is disconnected. It blocks while too many bytes are
// kept.
func (l *Lasting) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && len(l.out) > lastingMax {
		l.change.Wait()
	}
	if l.err != nil {
		return 0, l.err
	}
	l.out = append(l.out, b...)
	end := l.acked + uint64(len(l.out))
	l.change.Broadcast()
	for l.err == nil && l.conn != nil && l.written < end {
		l.change.Wait()
	}
	return len(b), nil
}

// Read returns bytes of the peer's stream. It blocks until there are some.
func (l *Lasting) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.in) == 0 {
		switch {
		case l.err != nil:
			return 0, l.err
		case !l.deadline.IsZero() && !time.Now().Before(l.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		l.change.Wait()
	}
	n := copy(b, l.in)
	if l.in = l.in[n:]; len(l.in) == 0 {
		l.in = nil
	}
	l.change.Broadcast()
	return n, nil
}

// Fail ends the stream for a reason. Read returns that error once all received bytes are read.
func (l *Lasting) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	if l.conn != nil {
		l.conn.Close()
	}
	l.change.Broadcast()
	if l.onEnd != nil {
		go l.onEnd()
	}
}

// Close ends the stream.
func (l *Lasting) Close() error {
	l.Fail(net.ErrClosed)
	return nil
}

func (l *Lasting) isEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

// IsBroken reports whether the stream is disconnected and has not ended.
func (l *Lasting) IsBroken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn == nil && l.err == nil
}

// LocalAddr returns the local address of the first connection.
func (l *Lasting) LocalAddr() net.Addr { return l.local }

// SetReadDeadline is SetReadDeadline of net.Conn.
func (l *Lasting) SetReadDeadline(at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = at
	if !at.IsZero() {
		time.AfterFunc(time.Until(at), l.change.Broadcast)
	}
	l.change.Broadcast()
	return nil
}

// A Lastings holds the streams that other members have begun with this one.
type Lastings struct {
	mu  sync.Mutex
	all map[lastingID]*Lasting
}

// Admit handles an accepted connection. It returns the stream if the connection begins a new one.
// It returns nil if the connection continues a known stream, or was refused. The stream calls
// onBreak in a new goroutine whenever it loses a connection.
func (ls *Lastings) Admit(conn *Conn, onBreak func(*Lasting)) *Lasting {
	_ = conn.SetDeadline(time.Now().Add(redialEach))
	var hello [lastingHello]byte
	if _, err := io.ReadFull(conn, hello[:]); err != nil {
		conn.Close()
		return nil
	}
	id, has := lastingID(hello[1:17]), binary.LittleEndian.Uint64(hello[17:])
	ls.mu.Lock()
	l, known := ls.all[id]
	if !known && hello[0] == helloFirst && has == 0 {
		l = newLasting(id, conn)
		l.redial = func() { onBreak(l) }
		l.onEnd = func() { ls.forget(id) }
		if ls.all == nil {
			ls.all = map[lastingID]*Lasting{}
		}
		ls.all[id] = l
	}
	ls.mu.Unlock()
	if l == nil || !l.answer(conn, has) {
		_, _ = conn.Write(append([]byte{answerOver}, make([]byte, 8)...))
		conn.Close()
		return nil
	}
	if known {
		return nil
	}
	return l
}

// forget removes a stream that has ended. A dialer that tries to continue the stream then receives
// answerOver.
func (ls *Lastings) forget(id lastingID) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.all, id)
}

// answer is the listener's part of the exchange at the start of a connection. It closes the old
// connection first: no byte of the old one may count once the answer holds the count of received
// bytes.
func (l *Lasting) answer(conn *Conn, has uint64) bool {
	l.mu.Lock()
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
		l.change.Broadcast()
	}
	received, err := l.received, l.err
	l.mu.Unlock()
	if err != nil {
		return false
	}
	_, err = conn.Write(binary.LittleEndian.AppendUint64([]byte{answerGoOn}, received))
	if err == nil {
		_ = conn.SetDeadline(time.Time{})
		err = l.use(conn, received, has)
	}
	if err != nil { // the dialer dials again
		conn.Close()
		if l.IsBroken() {
			go l.redial()
		}
	}
	return true
}
