package link

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of connections without a proven identity, for each listener. A process of the platform
// begins its handshake at once. So a connection that has sent nothing is closed before one that has
// sent a byte.
const (
	proveWithin   = 5 * time.Second  // for the handshake
	enrollWithin  = 10 * time.Second // for a process without a certificate, which has a token to redeem
	perAddressMax = 256              // connections of one address that have sent nothing
	guestsMax     = 1024             // connections in all
)

// door is a listener that closes connections of strangers.
type door struct {
	net.Listener

	mu     sync.Mutex
	guests []*guest // in the order of their arrival
}

// guest is a connection of a door.
type guest struct {
	net.Conn
	door  *door
	from  netip.Addr
	spoke atomic.Bool // a byte has arrived
	timer *time.Timer
}

// Door returns a listener that bounds the number of unproven connections of l, and their time. The
// handshakes of an Identity prove a connection.
func Door(l net.Listener) net.Listener { return &door{Listener: l} }

// Accept returns the next connection.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: c, door: d}
		if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
			g.from = at.Addr()
		}
		if d.enter(g) {
			return g, nil
		}
		HangUp(c)
	}
}

// enter adds a guest, if necessary in place of another one, and reports whether there is room.
func (d *door) enter(g *guest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	silent, oldest := 0, (*guest)(nil)
	for _, other := range d.guests {
		if other.from == g.from && !other.spoke.Load() {
			silent++
			if oldest == nil {
				oldest = other
			}
		}
	}
	if silent >= perAddressMax || oldest != nil && len(d.guests) >= guestsMax {
		d.remove(oldest)
		HangUp(oldest.Conn)
	}
	if len(d.guests) >= guestsMax {
		return false
	}
	d.guests = append(d.guests, g)
	g.timer = time.AfterFunc(proveWithin, func() { HangUp(g) })
	return true
}

// remove removes a guest from the list. The caller holds mu.
func (d *door) remove(g *guest) {
	if i := slices.Index(d.guests, g); i >= 0 {
		d.guests = slices.Delete(d.guests, i, i+1)
	}
	g.timer.Stop()
}

// Read records that a byte has arrived.
func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 && !g.spoke.Load() {
		g.spoke.Store(true)
	}
	return n, err
}

// Close ends the connection.
func (g *guest) Close() error {
	g.prove()
	return g.Conn.Close()
}

// prove ends the bounds of a connection.
func (g *guest) prove() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.door.remove(g)
}

// proven ends the bounds of a connection of a door if the other end has shown a certificate. A
// connection without a certificate gets enrollWithin.
func proven(conn net.Conn, certified bool) {
	g, ok := conn.(*guest)
	switch {
	case !ok:
	case certified:
		g.prove()
	default:
		g.timer.Reset(enrollWithin)
	}
}

// ListenTLS returns a listener of connections that have completed the handshake of config.
func ListenTLS(addr string, config *tls.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &hall{Listener: Door(l), config: config, ready: make(chan net.Conn), ctx: ctx, cancel: cancel}
	go h.run()
	return h, nil
}

// hall is a listener that completes the handshakes before it returns connections.
type hall struct {
	net.Listener
	config *tls.Config
	ready  chan net.Conn
	ctx    context.Context
	cancel context.CancelFunc
}

func (h *hall) run() {
	defer h.cancel()
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			return
		}
		go h.shake(c)
	}
}

func (h *hall) shake(raw net.Conn) {
	c := tls.Server(raw, h.config)
	if c.HandshakeContext(h.ctx) != nil {
		HangUp(raw)
		return
	}
	proven(raw, true)
	select {
	case h.ready <- c:
	case <-h.ctx.Done():
		HangUp(c)
	}
}

// Accept returns the next connection that is proven.
func (h *hall) Accept() (net.Conn, error) {
	select {
	case c := <-h.ready:
		return c, nil
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (h *hall) Close() error {
	h.cancel()
	return h.Listener.Close()
}
