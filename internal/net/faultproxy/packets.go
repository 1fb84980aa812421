package faultproxy

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Packets forwards datagrams in one direction, and can drop them, like a network.
type Packets struct {
	conn    *net.UDPConn
	target  netip.AddrPort
	dropped atomic.Bool
	lost    atomic.Int64
	ended   sync.WaitGroup
}

// NewPackets returns Packets on loopback for a target, "host:port". An error is the operating
// system's.
func NewPackets(target string) (*Packets, error) {
	conn, to, err := listenFor(target)
	if err != nil {
		return nil, err
	}
	p := &Packets{conn: conn, target: to}
	p.ended.Go(func() { takePackets(conn, p.forward) })
	return p, nil
}

// Addr returns the listening address, such as "127.0.0.1:port".
func (p *Packets) Addr() string { return p.conn.LocalAddr().String() }

// Drop makes all datagrams from now on vanish, or not.
func (p *Packets) Drop(on bool) { p.dropped.Store(on) }

// Lost returns the number of dropped datagrams.
func (p *Packets) Lost() int64 { return p.lost.Load() }

// Close stops forwarding.
func (p *Packets) Close() {
	p.conn.Close()
	p.ended.Wait()
}

func (p *Packets) forward(packet []byte, _ netip.AddrPort) {
	if p.dropped.Load() {
		p.lost.Add(1)
		return
	}
	_, _ = p.conn.WriteToUDPAddrPort(packet, p.target) // a datagram may be lost
}

// listenFor returns a socket on loopback, of the family of a target, for the datagrams to that
// target, and the target's address.
func listenFor(target string) (*net.UDPConn, netip.AddrPort, error) {
	to, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: loopbackFor(target)})
	return conn, unmapped(to.AddrPort()), err
}

// takePackets passes each datagram and its sender to take, until the socket is closed.
func takePackets(conn *net.UDPConn, take func(packet []byte, from netip.AddrPort)) {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil: // another error is of an earlier datagram, which had no receiver
			take(buf[:n], unmapped(from))
		}
	}
}

// unmapped returns an address in a form that can be compared.
func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
