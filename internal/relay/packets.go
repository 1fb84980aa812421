package relay

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// Packets forwards datagrams in one direction, and can have them vanish, as a network does.
type Packets struct {
	conn    *net.UDPConn
	target  *net.UDPAddr
	dropped atomic.Bool
	lost    atomic.Int64
	ended   sync.WaitGroup
}

// NewPackets returns one on 127.0.0.1 for a target, "host:port". An error is the operating system's.
func NewPackets(target string) (*Packets, error) {
	to, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &Packets{conn: conn, target: to}
	p.ended.Go(p.forward)
	return p, nil
}

// Addr returns where it listens, "127.0.0.1:port".
func (p *Packets) Addr() string { return p.conn.LocalAddr().String() }

// Drop has all that comes from now on vanish, or not.
func (p *Packets) Drop(on bool) { p.dropped.Store(on) }

// Lost returns how many have vanished.
func (p *Packets) Lost() int64 { return p.lost.Load() }

// Close ends it.
func (p *Packets) Close() {
	p.conn.Close()
	p.ended.Wait()
}

func (p *Packets) forward() {
	buf := make([]byte, 64<<10)
	for {
		n, _, err := p.conn.ReadFromUDP(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // of an earlier one: nobody listens at the target
		case p.dropped.Load():
			p.lost.Add(1)
		default:
			_, _ = p.conn.WriteToUDP(buf[:n], p.target) // it may be lost
		}
	}
}
