package membershiphost

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// Bounds of a link.
const (
	dialFor    = time.Second
	redialMin  = time.Millisecond
	redialMax  = 100 * time.Millisecond
	queueMax   = 256     // messages in the queue; further ones are lost, and the rules repeat them
	frameMax   = 1 << 20 // bytes of a message
	helloBytes = 12
)

// A link carries messages from this member to one other over TCP. It connects when it has a message
// to send, or when keepLinks keeps the connection.
type link struct {
	v  *Driver
	to int

	mu      sync.Mutex
	changed sync.Cond
	queue   [][]byte
	kept    bool
	runs    bool // its goroutine runs
	over    bool
	conn    net.Conn
	cancel  context.CancelFunc // of a dial

	// Used by the goroutine alone.
	broken  bool // Broken was reported, and Connected not since
	refused bool // the same of Refused
	wait    time.Duration
}

func newLink(v *Driver, to int) *link {
	l := &link{v: v, to: to}
	l.changed.L = &l.mu
	return l
}

// post queues a message behind the earlier ones. It never blocks, and drops the message if the
// queue is full.
func (l *link) post(msg []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.queue) >= queueMax {
		return
	}
	l.queue = append(l.queue, msg)
	l.wake()
}

// keep sets whether the link stays connected while it has nothing to send.
func (l *link) keep(so bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.kept == so {
		return
	}
	l.kept = so
	l.wake()
}

// wake starts the goroutine, or makes it check its state. The caller holds mu.
func (l *link) wake() {
	if !l.runs {
		l.runs = true
		l.v.ended.Go(l.run)
	}
	l.changed.Broadcast()
}

// stop ends the link and its goroutine.
func (l *link) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.conn != nil {
		l.conn.Close()
	}
	if l.cancel != nil {
		l.cancel()
	}
	l.changed.Broadcast()
}

// run connects and writes until stop.
func (l *link) run() {
	for l.awaitWork() {
		conn, err := l.dial()
		if err != nil {
			l.fail(err)
			continue
		}
		l.wait = 0
		if l.broken || l.refused {
			l.broken, l.refused = false, false
			l.v.tell(membership.Connected{Member: l.to})
		}
		l.write(conn)
		if !l.isOver() {
			l.broken = true
			l.v.tell(membership.Broken{Member: l.to})
		}
	}
}

func (l *link) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// awaitWork waits until the link has a reason to connect; false: the link has ended.
func (l *link) awaitWork() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.over && !l.kept && len(l.queue) == 0 {
		l.changed.Wait()
	}
	return !l.over
}

// fail reports a refused connection to the rules, drops the queued messages, and waits before the
// next attempt.
func (l *link) fail(err error) {
	if errors.Is(err, syscall.ECONNREFUSED) && !l.refused {
		l.refused = true
		l.v.tell(membership.Refused{Member: l.to})
	}
	l.mu.Lock()
	l.queue = nil
	l.mu.Unlock()
	l.wait = min(max(2*l.wait, redialMin), redialMax)
	select {
	case <-time.After(l.wait):
	case <-l.v.closed:
	}
}

// dial connects and sends the hello, which identifies this member.
func (l *link) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialFor)
	defer cancel()
	l.mu.Lock()
	if l.cancel = cancel; l.over {
		cancel()
	}
	l.mu.Unlock()
	peer := l.v.ways[l.to].to.Load()
	conn, err := l.v.cfg.Trust.Dial(ctx, peer.Addr, peer.Birth)
	if err != nil {
		return nil, err
	}
	me := l.v.cfg.Roster.Me
	hello := binary.LittleEndian.AppendUint32(nil, uint32(me))
	hello = binary.LittleEndian.AppendUint64(hello, l.v.birth())
	if _, err := conn.Write(hello); err != nil {
		conn.Close()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		conn.Close()
	}
	l.conn = conn
	return conn, nil
}

// write writes posted messages until the connection ends or stop closes it.
func (l *link) write(conn net.Conn) {
	gone := make(chan struct{})
	l.v.ended.Go(func() {
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1)) // the other end never writes: Read returns when the connection ends
		l.mu.Lock()
		if l.conn == conn {
			l.conn = nil
		}
		l.changed.Broadcast()
		l.mu.Unlock()
	})
	for frames := l.take(conn); frames != nil; frames = l.take(conn) {
		if _, err := frames.WriteTo(conn); err != nil {
			break
		}
	}
	conn.Close()
	<-gone
}

// take waits for messages and returns their frames; nil: the connection has ended.
func (l *link) take(conn net.Conn) *net.Buffers {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.over && l.conn == conn && len(l.queue) == 0 {
		l.changed.Wait()
	}
	if l.over || l.conn != conn {
		return nil
	}
	var frames net.Buffers
	for _, msg := range l.queue {
		frames = append(frames, binary.LittleEndian.AppendUint32(nil, uint32(len(msg))), msg)
	}
	l.queue = nil
	return &frames
}
