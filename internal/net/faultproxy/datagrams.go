package faultproxy

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Datagrams forwards datagrams between a target and the dialer, which is the last process that
// sent to it, through a weather.
type Datagrams struct {
	conn   *net.UDPConn
	target netip.AddrPort
	seen   func(d Direction, packet []byte)
	begin  time.Time
	ended  sync.WaitGroup

	mu     sync.Mutex
	dialer netip.AddrPort
	fate   *fate
	stats  DatagramStats
}

// DatagramStats counts the work of Datagrams.
type DatagramStats struct {
	Passed, Lost int64
	// Late is the maximum delay beyond the drawn one, because this machine was busy.
	Late time.Duration
}

// NewDatagrams returns Datagrams on loopback for a target, "host:port". The draws of the weather
// depend on seed. seen, if it is not nil, receives each datagram whose fate is drawn, lost or
// not; seen must neither block nor keep the datagram. An error is the operating system's.
func NewDatagrams(target string, seed uint64, w Weather, seen func(d Direction, packet []byte)) (*Datagrams, error) {
	conn, to, err := listenFor(target)
	if err != nil {
		return nil, err
	}
	p := &Datagrams{conn: conn, target: to, seen: seen, begin: time.Now(), fate: newFate(seed)}
	p.fate.change(0, w)
	p.ended.Go(func() { takePackets(conn, p.take) })
	return p, nil
}

// Addr returns the listening address, such as "127.0.0.1:port".
func (p *Datagrams) Addr() string { return p.conn.LocalAddr().String() }

// Change sets another weather, for the datagrams from now on.
func (p *Datagrams) Change(w Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fate.change(time.Since(p.begin), w)
}

// Stats returns the counts so far.
func (p *Datagrams) Stats() DatagramStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close stops forwarding. Datagrams on their way are lost.
func (p *Datagrams) Close() {
	p.conn.Close()
	p.ended.Wait()
}

// take draws the fate of a datagram, and forwards it when that is due.
func (p *Datagrams) take(packet []byte, from netip.AddrPort) {
	d := ToTarget
	if from == p.target {
		d = ToDialer
	}
	p.send(d, packet, from)
	if p.seen != nil {
		p.seen(d, packet)
	}
}

func (p *Datagrams) send(d Direction, packet []byte, from netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.target
	if d == ToDialer {
		to = p.dialer
	} else {
		p.dialer = from
	}
	now := time.Since(p.begin)
	late, lost := p.fate.draw(now)
	if lost || !to.IsValid() {
		p.stats.Lost++
		return
	}
	due, kept := now+late, append([]byte(nil), packet...)
	if late == 0 {
		p.pass(kept, to, due)
		return
	}
	time.AfterFunc(late, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pass(kept, to, due)
	})
}

// pass forwards a datagram. The caller holds mu.
func (p *Datagrams) pass(packet []byte, to netip.AddrPort, due time.Duration) {
	p.stats.Passed++
	p.stats.Late = max(p.stats.Late, time.Since(p.begin)-due)
	_, _ = p.conn.WriteToUDPAddrPort(packet, to) // a datagram may be lost
}
