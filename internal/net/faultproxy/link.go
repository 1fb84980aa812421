package faultproxy

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// A link is one connection through a relay: the connection of the dialer and that to the target.
type link struct {
	relay    *Relay
	ends     [2]*net.TCPConn // ends[d] is read for Direction d, and ends[1-d] written
	stalled  [2]bool         // under the relay's lock
	swallows [2]atomic.Bool  // further input is discarded, and the other end does not learn of its end
	flowing  atomic.Int32    // directions
}

// flow forwards one direction until it ends.
func (l *link) flow(d Direction, faults []Fault, delay time.Duration) {
	defer l.relay.running.Done()
	err := l.copy(d, faults, late(l.ends[d], delay))
	l.awaitFlow(d) // the end of a direction neither overtakes a stall nor crosses a cut
	switch {
	case l.swallows[d].Load():
	case errors.Is(err, io.EOF):
		_ = l.ends[1-d].CloseWrite()
	default:
		l.kill()
	}
	if l.flowing.Add(-1) == 0 {
		l.ends[0].Close()
		l.ends[1].Close()
		l.relay.leave(l)
	}
}

// copy reads one direction, forwards it, and performs the faults at their places. It returns the
// error that ended the direction, never nil.
func (l *link) copy(d Direction, faults []Fault, next func() ([]byte, error)) error {
	for at := int64(0); ; {
		piece, ended := next()
		for len(piece) > 0 {
			k := len(piece)
			if len(faults) > 0 {
				k = int(min(int64(k), faults[0].At-at))
			}
			l.forward(d, piece[:k])
			piece, at = piece[k:], at+int64(k)
			for len(faults) > 0 && faults[0].At <= at && (faults[0].Act != Garble || len(piece) > 0) {
				if faults[0].Act == Garble {
					piece[0] ^= 0x55
				}
				l.do(faults[0].Act, d)
				faults = faults[1:]
			}
		}
		if ended != nil {
			return ended
		}
	}
}

// forward writes a piece, once this direction is not stalled. If the write fails, the link is
// over, and further input is discarded.
func (l *link) forward(d Direction, b []byte) {
	if len(b) == 0 {
		return
	}
	l.awaitFlow(d)
	if l.swallows[d].Load() {
		return
	}
	if _, err := l.ends[1-d].Write(b); err != nil {
		if !l.swallows[d].Load() {
			l.kill()
		}
		return
	}
	l.relay.count(func(s *Stats) { s.Bytes[d] += int64(len(b)) })
}

// awaitFlow waits until a direction is not stalled, or is swallowed.
func (l *link) awaitFlow(d Direction) {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	stands := func() bool { return (r.stalled[d] || l.stalled[d]) && !l.swallows[d].Load() }
	if !stands() {
		return
	}
	r.stats.Waiting[d]++
	r.changed.Broadcast()
	for stands() {
		r.changed.Wait()
	}
	r.stats.Waiting[d]--
	r.changed.Broadcast()
}

// do performs an act at a place in a direction.
func (l *link) do(a Act, d Direction) {
	l.relay.count(func(s *Stats) { s.Done[a]++ }) // first: an observer of the effect finds it counted
	switch a {
	case Cut:
		l.kill()
	case End: // further input is read: a close with unread input would be a reset
		l.swallow(0, 1)
		_ = l.ends[0].CloseWrite()
		_ = l.ends[1].CloseWrite()
	case Stall:
		l.relay.mu.Lock()
		l.stalled[d] = true
		l.relay.mu.Unlock()
	case HalfOpen:
		l.swallow(0, 1)
		resetConn(l.ends[1-d])
	case Swallow:
		l.swallow(d)
	}
}

// kill resets both ends.
func (l *link) kill() {
	l.swallow(0, 1)
	resetConn(l.ends[0])
	resetConn(l.ends[1])
}

// swallow makes directions vanish, also a stalled one.
func (l *link) swallow(directions ...Direction) {
	l.relay.mu.Lock()
	for _, d := range directions {
		l.swallows[d].Store(true)
	}
	l.relay.changed.Broadcast()
	l.relay.mu.Unlock()
}
