package beat

import (
	"net/netip"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Kind is the kind of an Event.
type Kind uint8

// The kinds of an Event.
const (
	Suspected Kind = iota + 1 // silent, or its connection broke: probe the process if possible
	Trusted                   // the suspicion was wrong, or a new connection ends it
	Dead                      // the process is declared dead; no event follows
	Anomaly                   // an observation for people, such as a network that drops datagrams
	Reached                   // the first heartbeat as a datagram: the connection may be closed
)

// String returns the kind as a word.
func (k Kind) String() string {
	switch k {
	case Suspected:
		return "suspected"
	case Trusted:
		return "trusted"
	case Dead:
		return "dead"
	case Anomaly:
		return "anomaly"
	case Reached:
		return "reached"
	}
	return "unknown"
}

// Event is a result of a Monitor.
type Event struct {
	Kind    Kind
	Monitor *Monitor
	// Unheard is set for Suspected: no heartbeat has arrived since the last suspicion, or since
	// the latest introduction.
	Unheard  bool
	Silent   time.Duration     // Suspected: time since the expected arrival; 0 for a broken connection
	Evidence adaptive.Evidence // Dead
	Text     string            // Anomaly
}

// Connection describes how a monitor reaches its process. The two processes agree on it when they
// are introduced.
type Connection struct {
	Stream uint32              // the value of Monitor.NextStream
	Addr   netip.AddrPort      // that receives datagrams, without a zone; invalid: none do
	Key    []byte              // of the stream: 1 to KeyMax bytes, the same as in Accept
	Link   func(sealed []byte) // sends over the connection, without blocking; nil: none
	RTT    time.Duration       // of the introduction; 0: unknown
}

// Monitor observes one process. A client may have one for each of thousands of servers, so it is
// small: the address and the key are in place, and monitors share the requested quality.
type Monitor struct {
	node   *Endpoint
	notify func(Event)
	qos    *adaptive.QoS
	link   func(sealed []byte) // nil: there is no connection
	place  int32

	stream  uint32 // of the latest connection
	addr    [16]byte
	port    uint16 // 0: no datagrams
	key     [KeyMax]byte
	keyed   bool // there was a connection
	reached bool // a heartbeat has arrived as a datagram
	beaten  bool // a heartbeat has arrived since the last suspicion
	ended   bool
}

// to returns the address for datagrams.
func (m *Monitor) to() netip.AddrPort {
	if m.port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.AddrFrom16(m.addr).Unmap(), m.port)
}

// Monitor begins to observe a process. The time runs from this call: a process without a
// connection is suspected and declared dead like a process that falls silent. The goroutine of
// the endpoint calls notify, perhaps before this method has returned. notify must not block, and
// must not call Monitor, Accept, Senders, NextStream, Stats or Endpoint.Close: these methods wait
// for the goroutine. The errors are those of QoS.Check, ErrFull and ErrClosed.
func (n *Endpoint) Monitor(q adaptive.QoS, notify func(Event)) (*Monitor, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	m := &Monitor{node: n, notify: notify}
	err := ErrClosed
	n.ask(func() {
		var place int
		if place, err = n.monitors.put(m); err == nil {
			m.place, m.qos = int32(place), n.quality(q)
			n.carryOut(n.observer.Step(adaptive.Observe{Peer: place, At: n.now(), QoS: q}))
		}
	})
	return m, err
}

// quality returns the shared copy of a requested quality.
func (n *Endpoint) quality(q adaptive.QoS) *adaptive.QoS {
	for _, known := range n.qualities {
		if *known == q {
			return known
		}
	}
	n.qualities = append(n.qualities, &q)
	return &q
}

// NextStream returns the number that the next connection must have; 0 if the endpoint is closed.
func (m *Monitor) NextStream() (stream uint32) {
	m.node.ask(func() { stream = m.node.observer.Next(int(m.place)) })
	return stream
}

// Connected reports a connection to the process. The process is trusted, and measurements of its
// network begin anew. The monitor drops messages of a former connection. It ignores a Connection
// with a Stream that is not the present value of NextStream, and any Connection after its end. The
// error is ErrKey for an invalid key.
func (m *Monitor) Connected(c Connection) error {
	if err := checkKey(c.Key); err != nil {
		return err
	}
	m.during(func() {
		n, place := m.node, int(m.place)
		if n.observer.Next(place) != c.Stream {
			return // an older connection
		}
		mistaken := n.observer.Suspected(place)
		m.part()
		m.stream, m.link, m.keyed, m.reached, m.beaten = c.Stream, c.Link, true, false, false
		m.addr, m.port = c.Addr.Addr().As16(), c.Addr.Port()
		m.key = [KeyMax]byte{} // a shorter key is padded with zeros, which does not change its tags
		copy(m.key[:], c.Key)
		at := n.now()
		n.carryOut(n.observer.Step(adaptive.Observe{Peer: place, At: at, QoS: *m.qos}))
		n.carryOut(n.observer.Step(adaptive.Answered{Peer: place, At: at, RTT: adaptive.Duration(c.RTT)}))
		if mistaken {
			m.notify(Event{Kind: Trusted, Monitor: m})
		}
	})
	return nil
}

// Detach reports that the connection with this stream was closed in order: the process continues
// to send heartbeats as datagrams. See Sender.Detach.
func (m *Monitor) Detach(stream uint32) {
	m.during(func() {
		if m.stream == stream {
			m.link = nil
		}
	})
}

// part requests the end of the heartbeats by a datagram, if datagrams arrive. The connection may be
// closed already then, so that its end does not end the heartbeats. A sender that still has its
// connection ignores the request.
func (m *Monitor) part() {
	if m.keyed && m.reached {
		m.node.send(m.key[:], m.to(), adaptive.Adjust{Stream: m.stream, Clock: m.node.now(), Period: farewell})
	}
}

// Receive handles a message that has arrived over the connection with this stream.
func (m *Monitor) Receive(stream uint32, sealed []byte) {
	m.during(func() {
		if m.stream == stream {
			m.receive(sealed, false)
		}
	})
}

// Broken reports that the connection broke, which is a suspicion of a trusted process.
func (m *Monitor) Broken() {
	m.during(func() { m.step(adaptive.Broken{Peer: int(m.place), At: m.node.now()}) })
}

// Refused reports that the machine of the process has refused a connection, because no process
// listens at its address any more: the process is declared dead.
func (m *Monitor) Refused() {
	m.during(func() { m.step(adaptive.Refused{Peer: int(m.place), At: m.node.now()}) })
}

// Answered reports that the process has answered a probe, after a round-trip time; 0 is unknown.
// An accepted connection is no answer: the machine of a stopped process accepts connections, too.
func (m *Monitor) Answered(rtt time.Duration) {
	m.during(func() {
		m.step(adaptive.Answered{Peer: int(m.place), At: m.node.now(), RTT: adaptive.Duration(rtt)})
	})
}

// Close ends the observation. Close does not wait for the goroutine of the endpoint: the caller has
// to ignore events that arrive during the call, or shortly after it.
func (m *Monitor) Close() {
	m.during(func() {
		m.part()
		m.step(adaptive.Forget{Peer: int(m.place)})
		m.release()
	})
}

// Stats has the measurements of a Monitor, and the quality that they allow.
type Stats struct {
	Network   adaptive.Network
	Period    time.Duration // from heartbeat to heartbeat
	Quality   adaptive.Quality
	Suspected bool
}

// Stats returns the present measurements; zero after Close, after the event Dead, or if the
// endpoint is closed.
func (m *Monitor) Stats() (s Stats) {
	m.node.ask(func() {
		if !m.ended {
			w := m.node.observer.Watch(int(m.place))
			s = Stats{Network: w.Network(), Period: time.Duration(w.Period()), Quality: w.Quality(), Suspected: m.node.observer.Suspected(int(m.place))}
		}
	})
	return s
}

// during runs f in the goroutine of the endpoint, unless the observation has ended.
func (m *Monitor) during(f func()) {
	m.node.do(func() {
		if !m.ended {
			f()
		}
	})
}

func (m *Monitor) step(ev adaptive.Event) { m.node.carryOut(m.node.observer.Step(ev)) }

func (m *Monitor) release() {
	if !m.ended {
		m.ended = true
		m.node.monitors.drop(int(m.place))
	}
}

// receive handles a sealed message, and reports whether it is a heartbeat or an answer with a valid
// tag.
func (m *Monitor) receive(sealed []byte, datagram bool) bool {
	body, ok := adaptive.Unseal(m.key[:], sealed)
	if !ok || !m.keyed {
		return false
	}
	now := m.node.now()
	if b, ok := adaptive.ParseBeat(body); ok {
		m.beaten = true
		if datagram && !m.reached {
			m.reached = true
			m.notify(Event{Kind: Reached, Monitor: m})
		}
		m.step(adaptive.Heard{Peer: int(m.place), At: now, Beat: b})
		return true
	}
	parsed, err := adaptive.ParseMessage(body)
	echo, ok := parsed.(adaptive.Echo)
	if err == nil && ok && echo.Clock <= now {
		m.step(adaptive.Answered{Peer: int(m.place), At: now, RTT: now.Sub(echo.Clock)})
	}
	return err == nil && ok
}

// carryOut performs the actions of the observer.
func (n *Endpoint) carryOut(actions []adaptive.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case adaptive.Send:
			n.deliver(a)
		case adaptive.Suspect:
			n.report(a.Peer, Event{Kind: Suspected, Silent: time.Duration(a.Silent)})
		case adaptive.Trust:
			n.report(a.Peer, Event{Kind: Trusted})
		case adaptive.Anomaly:
			n.report(a.Peer, Event{Kind: Anomaly, Text: a.Text})
		case adaptive.Declare:
			n.report(a.Peer, Event{Kind: Dead, Evidence: a.Evidence})
			if m, ok := n.monitors.get(a.Peer); ok {
				m.release()
			}
		}
	}
}

func (n *Endpoint) report(peer int, ev Event) {
	m, ok := n.monitors.get(peer)
	if !ok || ev.Kind == Anomaly && !m.keyed { // before the introduction no message could arrive
		return
	}
	ev.Monitor = m
	if ev.Kind == Suspected {
		ev.Unheard, m.beaten = !m.beaten, false
	}
	m.notify(ev)
}

// deliver sends a message. Before the introduction the message is lost. Where there is no
// connection, a message for it is sent as a datagram, and requests datagrams.
func (n *Endpoint) deliver(a adaptive.Send) {
	m, ok := n.monitors.get(a.Peer)
	switch {
	case !ok || !m.keyed:
		return
	case a.ByLink && m.link != nil:
		m.link(adaptive.Seal(nil, m.key[:], a.Message))
		return
	case a.ByLink:
		if adjust, ok := a.Message.(adaptive.Adjust); ok {
			adjust.ByLink = false
			a.Message = adjust
		}
	}
	n.send(m.key[:], m.to(), a.Message)
}
