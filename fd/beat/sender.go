package beat

import (
	"net/netip"
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Sender sends heartbeats to one monitor of this process, at the period that the monitor requests.
type Sender struct {
	node   *Endpoint
	place  int
	stream uint32
	key    []byte
	link   func(sealed []byte) // nil: there is no connection
	until  adaptive.Time       // without a connection: the end, without further messages
	to     netip.AddrPort      // source of the latest datagram
	ended  bool

	adjusted, probed adaptive.Time // clock of the monitor in its latest Adjust and Probe
}

// Accept begins to serve a monitor: heartbeats are sent from the monitor's first message on.
// stream is the value of its NextStream, and key authenticates the messages. link sends a message
// over the connection between the two processes. The goroutine of the endpoint calls link, which
// must not block, and must not call the methods that wait for the goroutine: see Monitor. nil means
// that there is no connection, as after Detach. The errors are ErrKey, ErrFull and ErrClosed.
func (n *Endpoint) Accept(stream uint32, key []byte, link func(sealed []byte)) (*Sender, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	s := &Sender{node: n, stream: stream, key: slices.Clone(key), link: link, adjusted: -1 << 63, probed: -1 << 63}
	err := ErrClosed
	n.ask(func() {
		if s.place, err = n.senders.put(s); err != nil {
			return
		}
		n.byStream[stream] = append(n.byStream[stream], s)
		if link == nil {
			s.detach()
		}
	})
	return s, err
}

// Receive handles a message that has arrived over the connection.
func (s *Sender) Receive(sealed []byte) {
	s.node.do(func() {
		if stream, ok := adaptive.StreamOf(sealed); ok && stream == s.stream {
			s.receive(sealed, netip.AddrPort{})
		}
	})
}

// Bounds of a sender without a connection.
const (
	// farewell is a period that no monitor may request: an Adjust with it ends the heartbeats.
	farewell = adaptive.Microsecond
	// lapse is the number of periods without an Adjust of the monitor after which a sender ends,
	// and lapseLeast the shortest such time. A monitor sends an Adjust at least every ten periods.
	// The heartbeats pause after 30 periods already (package adaptive). They continue at the next
	// message, so a monitor that was stopped for a while needs no other introduction.
	lapse      = 60
	lapseLeast = 60 * adaptive.Second
	sweepEach  = 5 * adaptive.Second
)

// Detach reports that the monitor has closed the connection in order, because datagrams arrive.
// The sender ends when the monitor requests it, or is silent for 60 periods and at least a minute.
// The heartbeats pause when the monitor is silent for 30 periods.
func (s *Sender) Detach() {
	s.node.do(func() {
		if !s.ended {
			s.link = nil
			s.detach()
		}
	})
}

func (s *Sender) detach() {
	n := s.node
	s.extend(0)
	if len(n.alone) == 0 { // a sweep that is due comes, however often senders are detached
		n.sweep = n.now().Add(sweepEach)
	}
	if !slices.Contains(n.alone, s) {
		n.alone = append(n.alone, s)
	}
}

// extend moves the end of a sender after an Adjust of its monitor, or at Detach.
func (s *Sender) extend(period adaptive.Duration) {
	s.until = max(s.until, s.node.now().Add(max(lapse*period, lapseLeast)))
}

// endLapsed ends each sender without a connection after a silence of its monitor.
func (n *Endpoint) endLapsed(now adaptive.Time) {
	n.sweep = now.Add(sweepEach)
	for _, s := range slices.Clone(n.alone) {
		if now >= s.until {
			s.end()
		}
	}
}

// Senders returns the number of senders of the endpoint, one for each process that monitors this
// process; 0 if the endpoint is closed.
func (n *Endpoint) Senders() (number int) {
	n.ask(func() {
		for _, list := range n.byStream {
			number += len(list)
		}
	})
	return number
}

// Close ends the heartbeats. The monitor suspects this process then.
func (s *Sender) Close() { s.node.do(s.end) }

func (s *Sender) end() {
	if s.ended {
		return
	}
	n := s.node
	s.ended = true
	n.reply(n.emitter.Step(adaptive.Release{Observer: s.place}))
	n.senders.drop(s.place)
	is := func(o *Sender) bool { return o == s }
	n.alone = slices.DeleteFunc(n.alone, is)
	n.byStream[s.stream] = slices.DeleteFunc(n.byStream[s.stream], is)
	if len(n.byStream[s.stream]) == 0 {
		delete(n.byStream, s.stream)
	}
}

// receive handles a sealed message, and reports whether it is an Adjust or a Probe with a valid
// tag. A message with a clock that is not later than the latest one of its kind was overtaken, or
// is a repetition by a stranger, which could prolong or redirect the heartbeats. It changes
// nothing.
func (s *Sender) receive(sealed []byte, from netip.AddrPort) bool {
	body, ok := adaptive.Unseal(s.key, sealed)
	if !ok || s.ended {
		return false
	}
	m, err := adaptive.ParseMessage(body)
	if err != nil {
		return false
	}
	now := s.node.now()
	switch m := m.(type) {
	case adaptive.Adjust:
		if m.Period < adaptive.PeriodLeast {
			// also while the connection lasts: the monitor closes it next, and Detach would go on
			s.end()
			return true
		}
		if s.isNew(m.Clock, &s.adjusted, from) {
			s.extend(m.Period)
			s.node.reply(s.node.emitter.Step(adaptive.Accept{Observer: s.place, At: now, Adjust: m}))
		}
	case adaptive.Probe:
		if s.isNew(m.Clock, &s.probed, from) {
			s.node.reply(s.node.emitter.Step(adaptive.Probed{Observer: s.place, At: now, Probe: m}))
		}
	default:
		return false
	}
	return true
}

// isNew reports whether a message is later than all of its kind before. Heartbeats are sent to
// the source of the latest datagram of either kind.
func (s *Sender) isNew(clock adaptive.Time, latest *adaptive.Time, from netip.AddrPort) bool {
	if clock <= *latest {
		return false
	}
	*latest = clock
	if from.IsValid() && clock >= max(s.adjusted, s.probed) {
		s.to = from
	}
	return true
}

// reply sends the messages of the emitter. A message for a connection that has ended is lost.
func (n *Endpoint) reply(replies []adaptive.Reply) {
	for _, r := range replies {
		s, ok := n.senders.get(r.Observer)
		switch {
		case !ok:
		case r.ByLink && s.link == nil:
		case r.ByLink:
			s.link(adaptive.Seal(nil, s.key, r.Message))
		default:
			n.send(s.key, s.to, r.Message)
		}
	}
}
