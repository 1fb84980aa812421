package watchserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
)

// Bounds of the cost of clients.
const (
	connsMax     = 256             // at a time
	strangersMax = 1024            // that are watched
	requestFor   = 5 * time.Second // time limit for a client's request
	lastFor      = 200 * time.Millisecond
	refuseFor    = 100 * time.Millisecond
)

// A Post is a socket at which programs learn which processes are alive. Its methods may be called
// from any goroutine. No method waits for a client, except for Close, which grants clients
// lastFor to read the last line.
type Post struct {
	folder, path string
	listener     net.Listener
	told         func(watch.Event) // receives the events about strangers, too

	mu        sync.Mutex
	over      bool // after the event Over
	closed    bool
	census    *census
	conns     map[net.Conn]bool // true: the client has not sent a request yet
	clients   map[*client]bool
	strangers map[string]*stranger // by name
	serving   sync.WaitGroup
}

// New makes a socket in a new folder below dir, which no other user may enter, and serves it. An
// empty dir is the folder for temporary files. New calls strangers, unless that is nil, with each
// event about a stranger after the watchers have received it.
func New(dir string, strangers func(watch.Event)) (*Post, error) {
	folder, listener, err := listen(dir)
	if err != nil {
		return nil, err
	}
	p := &Post{folder: folder, path: listener.Addr().String(), listener: listener, told: strangers,
		census: newCensus(), conns: map[net.Conn]bool{}, clients: map[*client]bool{}, strangers: map[string]*stranger{}}
	p.serving.Go(p.accept)
	return p, nil
}

// Path returns the path of the socket: the value of GOULFM_WATCH.
func (p *Post) Path() string { return p.path }

// Tell numbers an event and queues it for all watchers, without blocking. An event after Close or
// Over is dropped.
func (p *Post) Tell(e watch.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(e)
}

// tell numbers and queues an event. The caller holds mu.
func (p *Post) tell(e watch.Event) {
	if p.over {
		return
	}
	p.over = e.What == watch.Over
	e.Seq = p.census.seq + 1
	p.census.note(e)
	line := encode(e)
	for c := range p.clients {
		c.post(line)
	}
}

// Close ends the events to watchers, with Over unless that event came before, and removes socket
// and folder. Strangers are no longer watched.
func (p *Post) Close() {
	if p.shut() {
		return
	}
	_ = p.listener.Close()
	p.serving.Wait()
	_ = os.RemoveAll(p.folder)
}

// shut makes all goroutines end, and reports whether shut was called before.
func (p *Post) shut() (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again = p.closed
	over := word(watch.Over, "")
	over.AtNs = nowNs()
	p.tell(over)
	p.closed = true
	for c := range p.clients {
		c.end(lastFor)
	}
	for conn, isSilent := range p.conns {
		if isSilent {
			_ = conn.SetReadDeadline(time.Now())
		}
	}
	for _, s := range p.strangers {
		s.process.Close()
	}
	return again
}

// accept serves clients until the listener is closed.
func (p *Post) accept() {
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptors, perhaps: others will be closed
			time.Sleep(refuseFor)
			continue
		}
		if err := p.admit(conn); err != nil {
			refuse(conn, err)
			continue
		}
		p.serving.Go(func() {
			defer p.dismiss(conn)
			p.serve(conn)
		})
	}
}

var errOver = errors.New("the job is over")

// admit adds a connection, or returns the reason for its refusal.
func (p *Post) admit(conn net.Conn) error {
	if err := checkUser(conn); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
		return errOver
	case len(p.conns) >= connsMax:
		return fmt.Errorf("%d programs are connected already: close what is not used", connsMax)
	}
	p.conns[conn] = true
	_ = conn.SetReadDeadline(time.Now().Add(requestFor)) // under mu: shut sets an earlier one
	return nil
}

func (p *Post) dismiss(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// refuse sends a client the reason for its refusal.
func refuse(conn net.Conn, why error) {
	_ = conn.SetWriteDeadline(time.Now().Add(refuseFor))
	_, _ = conn.Write(encode(word(refused, why.Error())))
	conn.Close()
}

// serve handles the request of a client.
func (p *Post) serve(conn net.Conn) {
	r, err := readRequest(conn)
	if err == nil && r.What == askRegister {
		err = p.register(conn, r.Name)
	}
	switch {
	case err != nil:
		refuse(conn, err)
	case r.What == askWatch:
		p.serveWatcher(conn)
	}
}

// serveWatcher sends a watcher all events, until either side ends the connection.
func (p *Post) serveWatcher(conn net.Conn) {
	c := newClient(conn)
	if !p.subscribe(c) {
		refuse(conn, errOver)
		return
	}
	p.serving.Go(func() { // a watcher sends no more: a byte is nonsense, and an error is its end
		_, _ = io.CopyN(io.Discard, conn, 1)
		c.end(0)
	})
	c.write()
	p.mu.Lock()
	delete(p.clients, c)
	p.mu.Unlock()
}

// subscribe gives a client the snapshot and all later events. False: the job is over.
func (p *Post) subscribe(c *client) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.conns[c.conn] = false
	_ = c.conn.SetReadDeadline(time.Time{})
	var lines bytes.Buffer
	for _, e := range p.census.snapshot() {
		lines.Write(encode(e))
	}
	c.post(lines.Bytes())
	p.clients[c] = true
	return true
}
