package rendezvous

import (
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
)

// A Peer counts the announcements between this process and another one, and keeps the withdrawals
// that arrive before their announcements. The zero Peer has received none.
//
// Invariant: early has handles of announcements that have not arrived.
type Peer struct {
	announced uint64   // by this process
	heard     uint64   // by the other process
	early     []uint64 // sends whose announcement is requested back and has not arrived
}

// Count returns the number of an announcement that has just been sent to the peer.
func (p *Peer) Count() uint64 {
	p.announced++
	return p.announced
}

// Hear records an announcement of the peer, before any other action on the announcement. On true
// the owner drops the announcement and answers Withdrawn.
func (p *Peer) Hear(send uint64) (withdrawn bool) {
	p.heard++
	i := slices.Index(p.early, send)
	if i < 0 {
		return false
	}
	p.early = slices.Delete(p.early, i, i+1)
	return true
}

// TakeBack carries out a withdrawal of the peer, which is process from in the matcher. True means
// that the message was there, no receive had matched it, and it is dropped: the owner answers
// Withdrawn. False means that the answer follows later, by Hear, or was given before.
func (p *Peer) TakeBack(m *match.Matcher, from int, w Withdraw) bool {
	if w.Number > p.heard {
		p.early = append(p.early, w.Send)
		return false
	}
	return Drop(m, from, w.Send)
}

// Drop removes a message that a process has announced from the unexpected messages, and reports
// whether it was there.
func Drop(m *match.Matcher, from int, send uint64) bool {
	msg := m.Announced(from, send)
	if msg == nil {
		return false
	}
	m.Take(msg)
	m.Recycle(msg)
	return true
}
