package hook

import "github.com/goulfm/goulfm/internal/net/transport"

// Peek implements transport.Link.
func (h *hook) Peek(from int) (transport.Frame, bool) {
	h.tick()
	l, q := &h.plan.links[from], &h.peers[from]
	s := &q.hidden[transport.Data]
	for {
		f, ok := h.Link.Peek(from)
		if !ok {
			h.clear(s) // the transport has closed the peer
			return transport.Frame{}, false
		}
		ev := Event{Dir: From, Peer: from, Class: transport.Data, Header: f.Header, Bytes: len(f.Payload)}
		if l.cut[From].Load() {
			h.drop(s, ev)
			h.Link.Advance(from)
			continue
		}
		if !h.show(s, ev) {
			return transport.Frame{}, false
		}
		q.peeked, q.shown = ev, true
		return f, true
	}
}

// Advance implements transport.Link.
func (h *hook) Advance(from int) {
	q := &h.peers[from]
	if q.shown && !q.closed[transport.Data] {
		h.killPoint()
		h.plan.note(q.peeked)
	}
	q.shown = false
	h.clear(&q.hidden[transport.Data])
	h.Link.Advance(from)
}

// NextControl implements transport.Link. A hidden frame stays in the memory of the inner transport.
// Meanwhile the hook does not request the next frame.
func (h *hook) NextControl(from int) ([]byte, bool) {
	h.tick()
	l, s := &h.plan.links[from], &h.peers[from].hidden[transport.Control]
	for {
		frame := s.frame
		if !s.found {
			var ok bool
			if frame, ok = h.Link.NextControl(from); !ok {
				return nil, false
			}
		}
		ev := Event{Dir: From, Peer: from, Class: transport.Control, Bytes: len(frame)}
		if l.cut[From].Load() {
			h.drop(s, ev)
			continue
		}
		if !h.show(s, ev) {
			s.frame = frame
			return nil, false
		}
		h.clear(s)
		h.killPoint()
		h.plan.note(ev)
		return frame, true
	}
}

// show reports whether the reader may see the next frame from a peer. If the plan delays the frame,
// show hides it first.
func (h *hook) show(s *hidden, ev Event) bool {
	delay := h.plan.links[ev.Peer].delay[From].Load()
	switch {
	case !s.found && delay == 0:
		return true
	case !s.found:
		s.found, s.due = true, h.calls+delay
		h.keep()
		ev.Fate = Held
		h.plan.note(ev)
	case h.calls >= s.due:
		h.reveal(s)
	}
	return s.shown
}

// reveal ends the hiding of a frame, if it is hidden.
func (h *hook) reveal(s *hidden) {
	if s.found && !s.shown {
		s.shown = true
		h.plan.holding.Add(-1)
	}
}

// clear prepares s for the next frame.
func (h *hook) clear(s *hidden) {
	h.reveal(s)
	*s = hidden{}
}

func (h *hook) drop(s *hidden, ev Event) {
	h.clear(s)
	ev.Fate = Dropped
	h.plan.note(ev)
}
