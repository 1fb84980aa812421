package hook

import (
	"bytes"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// TrySend implements transport.Link.
func (h *hook) TrySend(to int, hd *transport.Header, payload []byte) bool {
	h.tick()
	l, q := &h.plan.links[to], &h.peers[to]
	ev := Event{Dir: Towards, Peer: to, Class: transport.Data, Header: *hd, Bytes: len(payload)}
	switch delay := l.delay[Towards].Load(); {
	case l.cut[Towards].Load() || q.closed[transport.Data]:
		ev.Fate = Dropped
	case l.stalled.Load():
		ev.Fate = Refused
	case delay > 0 || len(q.held[transport.Data]) > 0:
		ev.Fate = h.hold(q, transport.Data, held{due: h.calls + delay, header: *hd, payload: payload})
	default:
		h.killPoint()
		if !h.Link.TrySend(to, hd, payload) {
			ev.Fate = Refused
		}
	}
	h.plan.note(ev)
	return ev.Fate != Refused
}

// TryControl implements transport.Link. After its first part has passed, a frame is sent to its end
// under every plan except a stall.
func (h *hook) TryControl(to int, frame []byte, sent int) int {
	h.tick()
	l, q := &h.plan.links[to], &h.peers[to]
	ev := Event{Dir: Towards, Peer: to, Class: transport.Control, Bytes: len(frame)}
	switch delay := l.delay[Towards].Load(); {
	case l.cut[Towards].Load() && !q.begun || q.closed[transport.Control]:
		sent, ev.Fate = len(frame), Dropped
	case l.stalled.Load():
		ev.Fate = Refused
	case (delay > 0 || len(q.held[transport.Control]) > 0) && !q.begun:
		if ev.Fate = h.hold(q, transport.Control, held{due: h.calls + delay, payload: frame}); ev.Fate == Held {
			sent = len(frame)
		}
	default:
		h.killPoint()
		if sent = h.Link.TryControl(to, frame, sent); sent < len(frame) {
			ev.Fate = Refused
		}
		q.begun = sent > 0 && sent < len(frame)
	}
	h.plan.note(ev)
	return sent
}

// hold keeps a copy of a frame, if there is room.
func (h *hook) hold(q *peer, c transport.Class, f held) Fate {
	if len(q.held[c]) == heldMax {
		return Refused
	}
	f.payload = bytes.Clone(f.payload)
	q.held[c] = append(q.held[c], f)
	h.keep()
	return Held
}

// flush sends the held frames that are due, each class in its order.
func (h *hook) flush() {
	for to := range h.peers {
		data, control := h.release(to, transport.Data), h.release(to, transport.Control)
		h.ask(to, !data || !control)
	}
}

// release sends the held frames of a class that are due, and reports whether there was room.
func (h *hook) release(to int, c transport.Class) bool {
	q, l := &h.peers[to], &h.plan.links[to]
	for len(q.held[c]) > 0 && q.held[c][0].due <= h.calls && !l.stalled.Load() {
		f := &q.held[c][0]
		ev := Event{Dir: Towards, Peer: to, Class: c, Header: f.header, Bytes: len(f.payload)}
		if l.cut[Towards].Load() && f.sent == 0 {
			ev.Fate = Dropped
		} else if !h.pass(to, c, f) {
			return false
		}
		q.held[c] = q.held[c][1:]
		h.plan.holding.Add(-1)
		h.plan.note(ev)
	}
	return true
}

// pass sends as much of a held frame as there is room for, and reports whether the frame is sent.
func (h *hook) pass(to int, c transport.Class, f *held) bool {
	h.killPoint()
	if c == transport.Data {
		return h.Link.TrySend(to, &f.header, f.payload)
	}
	f.sent = h.Link.TryControl(to, f.payload, f.sent)
	return f.sent == len(f.payload)
}

// ask makes the peer sweep while there is no room for a due frame. The sender believes that the
// frame is sent and does not wait for room.
func (h *hook) ask(to int, stuck bool) {
	if q := &h.peers[to]; stuck != q.asked {
		q.asked = stuck
		h.Link.WantRoom(to, stuck || q.wants)
	}
}
