package udpheartbeat

import (
	"net/netip"
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Emission is one observer of this process.
type Emission struct {
	node   *Node
	place  int
	stream uint32
	key    []byte
	link   func(sealed []byte) // nil: there is no connection
	until  adaptive.Time       // without one: when it ends, unless its observer is heard
	to     netip.AddrPort      // where its latest datagram came from
	ended  bool

	adjusted, probed adaptive.Time // its clock in its latest messages
}

// Emit gets ready to send beats to an observer, when it asks for them: stream is its number,
// key seals the messages, link hands one over by its connection and must not block.
func (n *Node) Emit(stream uint32, key []byte, link func(sealed []byte)) (*Emission, error) {
	e := &Emission{node: n, stream: stream, key: key, link: link, adjusted: -1 << 63, probed: -1 << 63}
	err := ErrClosed
	n.ask(func() {
		if e.place, err = n.observers.put(e); err == nil {
			n.byStream[stream] = append(n.byStream[stream], e)
		}
	})
	return e, err
}

// Hear takes a message that came by the connection.
func (e *Emission) Hear(sealed []byte) {
	e.node.do(func() {
		if s, ok := adaptive.StreamOf(sealed); ok && s == e.stream {
			e.hear(sealed, netip.AddrPort{})
		}
	})
}

// Without a connection, an emission ends by one of these.
const (
	// farewell is a period that no observer may ask for: an Adjust with it asks for no more beats.
	farewell = adaptive.Microsecond
	// lapse is the number of periods without a message of the observer, which sends one every ten
	// periods, and lapseLeast the time: an observer that is stopped for a while finds its beats
	// again.
	lapse      = 60
	lapseLeast = 60 * adaptive.Second
	sweepEach  = 5 * adaptive.Second
)

// Alone says that the observer has closed the connection in order, because datagrams arrive. Beats
// go on until it asks for no more, or is silent for long.
func (e *Emission) Alone() {
	e.node.do(func() {
		if n := e.node; !e.ended {
			e.link = nil
			e.extend(0)
			n.alone = append(n.alone, e)
			n.sweep = n.now().Add(sweepEach)
		}
	})
}

// extend moves the end of an emission, whose observer was heard.
func (e *Emission) extend(period adaptive.Duration) {
	e.until = max(e.until, e.node.now().Add(max(lapse*period, lapseLeast)))
}

// endLapsed ends what has no connection and no observer.
func (n *Node) endLapsed(now adaptive.Time) {
	n.sweep = now.Add(sweepEach)
	for _, e := range slices.Clone(n.alone) {
		if now >= e.until {
			e.end()
		}
	}
}

// Emissions returns the number of processes that observe this one.
func (n *Node) Emissions() (number int) {
	n.ask(func() {
		for _, list := range n.byStream {
			number += len(list)
		}
	})
	return number
}

// End sends no more beats.
func (e *Emission) End() { e.node.do(e.end) }

func (e *Emission) end() {
	if e.ended {
		return
	}
	n := e.node
	e.ended = true
	n.reply(n.emitter.Step(adaptive.Release{Observer: e.place}))
	n.observers.drop(e.place)
	is := func(o *Emission) bool { return o == e }
	n.alone = slices.DeleteFunc(n.alone, is)
	n.byStream[e.stream] = slices.DeleteFunc(n.byStream[e.stream], is)
	if len(n.byStream[e.stream]) == 0 {
		delete(n.byStream, e.stream)
	}
}

// hear takes a sealed message, and says whether it is genuine. One that is no later than the
// latest is a repetition by a stranger: it could keep beats coming, or send them elsewhere.
func (e *Emission) hear(sealed []byte, from netip.AddrPort) bool {
	body, ok := adaptive.Unseal(e.key, sealed)
	if !ok || e.ended {
		return false
	}
	m, err := adaptive.ParseMessage(body)
	if err != nil {
		return false
	}
	now := e.node.now()
	switch m := m.(type) {
	case adaptive.Adjust:
		if m.Period < adaptive.PeriodLeast {
			if e.link == nil { // else the end of the connection says so
				e.end()
			}
			return true
		}
		if e.isNew(m.Clock, &e.adjusted, from) {
			e.extend(m.Period)
			e.node.reply(e.node.emitter.Step(adaptive.Accept{Observer: e.place, At: now, Adjust: m}))
		}
	case adaptive.Probe:
		if e.isNew(m.Clock, &e.probed, from) {
			e.node.reply(e.node.emitter.Step(adaptive.Probed{Observer: e.place, At: now, Probe: m}))
		}
	default:
		return false
	}
	return true
}

// isNew says whether a message is later than those of its kind before. The address of the
// latest of all is where beats go to.
func (e *Emission) isNew(clock adaptive.Time, latest *adaptive.Time, from netip.AddrPort) bool {
	if clock <= *latest {
		return false
	}
	*latest = clock
	if from.IsValid() && clock >= max(e.adjusted, e.probed) {
		e.to = from
	}
	return true
}

// reply does what the emitter wants.
func (n *Node) reply(replies []adaptive.Reply) {
	for _, r := range replies {
		e, ok := n.observers.get(r.Observer)
		switch {
		case !ok:
		case r.ByLink && e.link == nil:
		case r.ByLink:
			e.link(adaptive.Seal(nil, e.key, r.Message))
		default:
			n.send(e.key, e.to, r.Message)
		}
	}
}
