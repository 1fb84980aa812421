package rendezvous

import (
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
)

// A Peer counts the announcements between this process and another one, and keeps the
// withdrawals that have come before what they are about. The zero Peer has heard of none.
//
// Invariant: early has handles of announcements that have not come.
type Peer struct {
	announced uint64   // by this process
	heard     uint64   // by the other one
	early     []uint64 // sends whose announcement is asked back and has not come
}

// Count returns the number of an announcement that has just been sent to the peer.
func (p *Peer) Count() uint64 {
	p.announced++
	return p.announced
}

// Hear takes note of an announcement of the peer, before anything else is done about it. Is it
// withdrawn, the owner drops it and answers Withdrawn.
func (p *Peer) Hear(send uint64) (withdrawn bool) {
	p.heard++
	i := slices.Index(p.early, send)
	if i < 0 {
		return false
	}
	p.early = slices.Delete(p.early, i, i+1)
	return true
}

// TakeBack carries out a withdrawal of the peer, which is from for the matcher. The owner answers
// Withdrawn if it says true: the message was there, nothing had matched it, and it is gone. False
// means that the answer comes later, by Hear, or was given before.
func (p *Peer) TakeBack(m *match.Matcher, from int, w Withdraw) bool {
	if w.Number > p.heard {
		p.early = append(p.early, w.Send)
		return false
	}
	return Drop(m, from, w.Send)
}

// Drop takes a message that a process has announced out of the unexpected ones, and says
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
