package socket

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Bounds for connections that have not proved membership, for each listener. A member sends its
// preamble at once. So of the silent connections, the oldest is the least likely to be a member's.
// A stranger can replay a recorded preamble, which starts a handshake and no more.
const (
	guestsMax     = 64                    // connections in all; beyond that the oldest silent one is closed
	silentFor     = 2 * time.Second       // until the preamble has arrived
	handshakesMax = 16                    // at the same time
	perAddressMax = 4                     // handshakes from one address at the same time
	admitFor      = 5 * time.Second       // from the preamble to the end of the handshake
	failuresMax   = 50                    // failures within a second that cause a pause
	pauseFor      = 20 * time.Millisecond // length of that pause, in which Serve accepts no connection
)

// Serve accepts connections on l, the listener of a member born as birth, until l is closed. It
// calls admit, in a goroutine of its own, with each connection whose other end has proved its
// membership. It closes all others, including the connections that are in a handshake when l is
// closed. Strangers cost a bounded number of descriptors and bounded time.
func (t *Trust) Serve(l *net.TCPListener, birth uint64, admit func(*Conn)) {
	d := &door{trust: t, birth: birth, admit: admit, handshakes: map[netip.Addr]int{}, left: make(chan struct{})}
	for {
		d.rest()
		c, err := l.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			d.close()
			return
		case err != nil: // no descriptor is free, or the dialer has closed the connection
			time.Sleep(pauseFor)
		default:
			d.enter(c)
		}
	}
}

// A door holds the connections whose other ends have yet to prove that they are members.
type door struct {
	trust *Trust
	birth uint64
	admit func(*Conn)

	mu         sync.Mutex
	guests     []*guest // in the order of arrival
	handshakes map[netip.Addr]int
	shaking    int
	left       chan struct{} // closed and replaced when a handshake has ended
	failures   int           // since the time in since
	since      time.Time
}

type guest struct {
	conn   *net.TCPConn
	silent bool // it has not sent a valid preamble yet
}

// rest pauses after many failures.
func (d *door) rest() {
	d.mu.Lock()
	many := d.failures >= failuresMax
	if many || time.Since(d.since) > time.Second {
		many = many && time.Since(d.since) < time.Second
		d.failures, d.since = 0, time.Now()
	}
	d.mu.Unlock()
	if many {
		time.Sleep(pauseFor)
	}
}

// enter starts the handshake of a new connection, if necessary in the place of a silent one.
func (d *door) enter(c *net.TCPConn) {
	g := &guest{conn: c, silent: true}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.guests) >= guestsMax {
		i := slices.IndexFunc(d.guests, func(g *guest) bool { return g.silent })
		if i < 0 {
			_ = c.Close()
			d.failures++
			return
		}
		_ = d.guests[i].conn.Close() // the guest's goroutine receives an error
		d.guests = slices.Delete(d.guests, i, i+1)
	}
	d.guests = append(d.guests, g)
	go d.try(g)
}

// close closes the connections of all guests.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.guests {
		_ = g.conn.Close()
	}
}

// try runs the handshake of a guest, and then calls admit or closes the connection.
func (d *door) try(g *guest) {
	c, err := d.prove(g)
	d.mu.Lock()
	d.guests = slices.DeleteFunc(d.guests, func(other *guest) bool { return other == g })
	if err != nil {
		d.failures++
	}
	d.mu.Unlock()
	if err != nil {
		_ = g.conn.Close()
		return
	}
	d.admit(c)
}

func (d *door) prove(g *guest) (*Conn, error) {
	_ = g.conn.SetDeadline(time.Now().Add(silentFor))
	preamble, err := d.trust.readPreamble(g.conn, d.birth)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	g.silent = false
	d.mu.Unlock()
	over := time.Now().Add(admitFor)
	_ = g.conn.SetDeadline(over)
	from := g.conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
	if !d.begin(from, over) {
		return nil, errors.New("too many handshakes at a time")
	}
	defer d.end(from)
	c, err := d.trust.admit(g.conn, preamble)
	if err != nil {
		return nil, err
	}
	return c, g.conn.SetDeadline(time.Time{})
}

// begin waits until a handshake with an address may begin; false: the deadline has passed.
func (d *door) begin(from netip.Addr, over time.Time) bool {
	timeout := time.NewTimer(time.Until(over))
	defer timeout.Stop()
	for {
		d.mu.Lock()
		if d.shaking < handshakesMax && d.handshakes[from] < perAddressMax {
			d.shaking++
			d.handshakes[from]++
			d.mu.Unlock()
			return true
		}
		left := d.left
		d.mu.Unlock()
		select {
		case <-left:
		case <-timeout.C:
			return false
		}
	}
}

func (d *door) end(from netip.Addr) {
	d.mu.Lock()
	d.shaking--
	if d.handshakes[from]--; d.handshakes[from] == 0 {
		delete(d.handshakes, from)
	}
	close(d.left)
	d.left = make(chan struct{})
	d.mu.Unlock()
}
