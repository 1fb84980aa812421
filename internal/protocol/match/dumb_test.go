package match

import "slices"

// dumb implements the matching rules as the standard words them: one slice of posted receives in
// post order, one of unexpected messages by arrival, linear search.
type dumb struct {
	spaces   map[uint32]dumbSpace
	posted   []dumbRecv
	messages []dumbMessage
	ever     map[int]bool // receives posted
	events   []event
}

type dumbSpace struct {
	state   State
	members int
	all     bool
}

type dumbRecv struct {
	id, src, tag int
	ctx          uint32
}

type dumbMessage struct {
	id, src, tag, bytes int
	ctx                 uint32
	announced           bool
}

func newDumb() *dumb {
	return &dumb{spaces: map[uint32]dumbSpace{}, ever: map[int]bool{}}
}

func (d *dumb) emit(k what, id int) { d.events = append(d.events, event{k, id}) }

func fits(r dumbRecv, m dumbMessage) bool {
	return r.ctx == m.ctx && (r.src == m.src || r.src == Any) && (r.tag == m.tag || r.tag == Any)
}

func (d *dumb) do(o op) []event {
	d.events = d.events[:0]
	s := d.spaces[o.ctx]
	switch o.verb {
	case reserve:
		d.set(o, s.state == Absent, dumbSpace{state: Pending})
	case open:
		d.open(o, s)
	case free, revoke:
		d.finish(o, s)
	case fail:
		d.fail(o, s)
	case post:
		d.post(o, s)
	case withdraw:
		d.withdraw(o)
	case arrive:
		d.arrive(o, s)
	case probe, mprobe:
		d.probe(o, s)
	case recall:
		d.recall(o)
	}
	return d.events
}

func (d *dumb) set(o op, possible bool, s dumbSpace) {
	if !possible {
		d.emit(notPossible, 0)
		return
	}
	d.spaces[o.ctx] = s
}

func (d *dumb) open(o op, s dumbSpace) {
	if s.state == Revoked {
		return
	}
	d.set(o, s.state == Absent || s.state == Pending, dumbSpace{Live, o.members, o.all})
	if s.state == Pending {
		d.messages = slices.DeleteFunc(d.messages, func(m dumbMessage) bool {
			return m.ctx == o.ctx && (m.src < 0 || m.src >= o.members)
		})
	}
}

func (d *dumb) finish(o op, s dumbSpace) {
	if o.verb == revoke && s.state != Pending && s.state != Live {
		return
	}
	d.endIf(func(r dumbRecv) bool { return r.ctx == o.ctx })
	d.dropIf(func(m dumbMessage) bool { return m.ctx == o.ctx })
	s.state = Revoked
	if o.verb == free {
		s.state = Freed
	}
	d.spaces[o.ctx] = s
}

// endIf ends the receives chosen: by source, Any last, each in post order.
func (d *dumb) endIf(chosen func(dumbRecv) bool) {
	var gone []dumbRecv
	d.posted = slices.DeleteFunc(d.posted, func(r dumbRecv) bool {
		if chosen(r) {
			gone = append(gone, r)
		}
		return chosen(r)
	})
	slices.SortStableFunc(gone, func(a, b dumbRecv) int {
		return int(uint32(a.src)) - int(uint32(b.src)) // Any is the largest uint32
	})
	for _, r := range gone {
		d.emit(ended, r.id)
	}
}

func (d *dumb) dropIf(chosen func(dumbMessage) bool) {
	d.messages = slices.DeleteFunc(d.messages, func(m dumbMessage) bool {
		if chosen(m) {
			d.emit(droppedMsg, m.id)
		}
		return chosen(m)
	})
}

func (d *dumb) fail(o op, s dumbSpace) {
	d.dropIf(func(m dumbMessage) bool { return s.all && m.ctx == o.ctx && m.src == o.src && m.announced })
	d.endIf(func(r dumbRecv) bool { return r.ctx == o.ctx && (s.all || r.src == o.src) })
	for _, r := range d.posted {
		if r.ctx == o.ctx && r.src == Any {
			d.emit(isPending, r.id)
		}
	}
	if o.blocking {
		d.posted = slices.DeleteFunc(d.posted, func(r dumbRecv) bool { return r.ctx == o.ctx && r.src == Any })
	}
}

func (d *dumb) post(o op, s dumbSpace) {
	if s.state != Live {
		d.emit(notPossible, 0)
		return
	}
	r := dumbRecv{o.id, o.src, o.tag, o.ctx}
	d.ever[o.id] = true
	for i, m := range d.messages {
		if fits(r, m) {
			d.messages = slices.Delete(d.messages, i, i+1)
			d.emit(gotMessage, m.id)
			return
		}
	}
	d.posted = append(d.posted, r)
	d.emit(queuedRecv, o.id)
}

func (d *dumb) withdraw(o op) {
	i := slices.IndexFunc(d.posted, func(r dumbRecv) bool { return r.id == o.id })
	switch {
	case i >= 0:
		d.posted = slices.Delete(d.posted, i, i+1)
		d.emit(withdrawn, o.id)
	case d.ever[o.id]:
		d.emit(tooLate, o.id)
	default:
		d.emit(notPossible, o.id)
	}
}

func (d *dumb) arrive(o op, s dumbSpace) {
	m := dumbMessage{o.id, o.src, o.tag, o.size, o.ctx, o.announced}
	if m.announced {
		m.bytes = 0
	}
	for i, r := range d.posted {
		if fits(r, m) && m.src < s.members {
			d.posted = slices.Delete(d.posted, i, i+1)
			d.emit(gotRecv, r.id)
			return
		}
	}
	if s.state == Pending || s.state == Live && m.src < s.members {
		d.messages = append(d.messages, m)
		d.emit(kept, m.id)
		return
	}
	d.emit(refused, m.id)
}

func (d *dumb) probe(o op, s dumbSpace) {
	if s.state != Live {
		d.emit(notPossible, 0)
		return
	}
	for i, m := range d.messages {
		if fits(dumbRecv{src: o.src, tag: o.tag, ctx: o.ctx}, m) {
			d.emit(found, m.id)
			if o.verb == mprobe {
				d.messages = slices.Delete(d.messages, i, i+1)
			}
			return
		}
	}
	d.emit(nothing, 0)
}

func (d *dumb) recall(o op) {
	i := slices.IndexFunc(d.messages, func(m dumbMessage) bool { return m.announced && m.src == o.src && m.id == o.id })
	if i < 0 {
		d.emit(nothing, 0)
		return
	}
	d.messages = slices.Delete(d.messages, i, i+1)
	d.emit(found, o.id)
}

// buffered is Matcher.Buffered.
func (d *dumb) buffered() (messages, bytes int) {
	for _, m := range d.messages {
		bytes += m.bytes
	}
	return len(d.messages), bytes
}
