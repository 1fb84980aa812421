package udpheartbeat

import (
	"net/netip"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Kind is what News is.
type Kind uint8

// The kinds of News.
const (
	Suspected Kind = iota + 1 // it is silent, or its connection broke: the owner is to look
	Trusted                   // that was a mistake
	Dead                      // it is; nothing follows
	Odd                       // something that a person should know
	Reached                   // its beats arrive as datagrams: the connection is not needed any more
)

// News is what an observation has found.
type News struct {
	Kind     Kind
	Of       *Observation
	Deaf     bool              // Suspected: no beat has come since the last suspicion, or since it was connected
	Silent   time.Duration     // Suspected: since when it should have been heard; 0 for a broken connection
	Evidence adaptive.Evidence // Dead
	Text     string            // Odd
}

// Connection is how an observed process is reached.
type Connection struct {
	Stream uint32              // what Observation.Next had said
	Addr   netip.AddrPort      // where it takes datagrams; invalid: they do not arrive
	Key    []byte              // of the stream, KeyMax bytes at most
	Link   func(sealed []byte) // hands over a message by the connection; must not block
	RTT    time.Duration       // of the call that opened it; 0 is not known
}

// KeyMax is the length of the longest key of a stream.
const KeyMax = 16

// Observation is one process that this one observes. A client has one for each server that runs a
// call of it, so it is small: the address and the key are in place, and the quality that was asked
// for is shared.
type Observation struct {
	node  *Node
	told  func(News)
	qos   *adaptive.QoS
	link  func(sealed []byte) // nil: there is no connection
	place int32

	stream  uint32 // of the latest connection
	addr    [16]byte
	port    uint16 // 0: no datagrams
	key     [KeyMax]byte
	keyed   bool // there was a connection
	reached bool // a beat has come as a datagram
	beaten  bool // a beat has come since the last suspicion
	ended   bool
}

// to returns where datagrams go.
func (o *Observation) to() netip.AddrPort {
	if o.port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.AddrFrom16(o.addr).Unmap(), o.port)
}

// Observe observes a process from now on. A process to which no connection is made in time is
// suspected, and declared dead, as one that falls silent. told is called by the node's
// goroutine: it must not block, nor call what waits for that (Observe, Next, Figures).
func (n *Node) Observe(q adaptive.QoS, told func(News)) (*Observation, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	o := &Observation{node: n, told: told}
	err := ErrClosed
	n.ask(func() {
		var place int
		if place, err = n.observed.put(o); err == nil {
			o.place, o.qos = int32(place), n.quality(q)
			n.carryOut(n.observer.Step(adaptive.Observe{Peer: place, At: n.now(), QoS: q}))
		}
	})
	return o, err
}

// quality returns the one copy of what several observations ask for.
func (n *Node) quality(q adaptive.QoS) *adaptive.QoS {
	for _, known := range n.qualities {
		if *known == q {
			return known
		}
	}
	n.qualities = append(n.qualities, &q)
	return &q
}

// Next returns the number that the next connection has to have.
func (o *Observation) Next() (number uint32) {
	o.node.ask(func() { number = o.node.observer.Next(int(o.place)) })
	return number
}

// Connected says that the process can be reached: it is trusted, and its network is not
// known any more. What comes by a former connection is not heard.
func (o *Observation) Connected(c Connection) {
	o.during(func() {
		n, place := o.node, int(o.place)
		if n.observer.Next(place) != c.Stream || len(c.Key) > KeyMax {
			return // it is an older connection
		}
		mistaken := n.observer.Suspected(place)
		o.part()
		o.stream, o.link, o.keyed, o.reached, o.beaten = c.Stream, c.Link, true, false, false
		o.addr, o.port = c.Addr.Addr().As16(), c.Addr.Port()
		o.key = [KeyMax]byte{} // a shorter key means the same with zeros behind it
		copy(o.key[:], c.Key)
		at := n.now()
		n.carryOut(n.observer.Step(adaptive.Observe{Peer: place, At: at, QoS: *o.qos}))
		n.carryOut(n.observer.Step(adaptive.Answered{Peer: place, At: at, RTT: adaptive.Duration(c.RTT)}))
		if mistaken {
			o.told(News{Kind: Trusted, Of: o})
		}
	})
}

// Alone says that the connection was closed in order: the process goes on to send its beats, as
// datagrams. See Emission.Alone.
func (o *Observation) Alone(stream uint32) {
	o.during(func() {
		if o.stream == stream {
			o.link = nil
		}
	})
}

// part asks for no more beats, if no connection does so by its end.
func (o *Observation) part() {
	if o.keyed && o.reached {
		o.node.send(o.key[:], o.to(), adaptive.Adjust{Stream: o.stream, Clock: o.node.now(), Period: farewell})
	}
}

// Hear takes a message that came by a connection of that number.
func (o *Observation) Hear(stream uint32, sealed []byte) {
	o.during(func() {
		if o.stream == stream {
			o.hear(sealed, false)
		}
	})
}

// Broken says that the connection broke: a suspicion.
func (o *Observation) Broken() {
	o.during(func() { o.step(adaptive.Broken{Peer: int(o.place), At: o.node.now()}) })
}

// Refused says that nobody listens where the process did: it is dead.
func (o *Observation) Refused() {
	o.during(func() { o.step(adaptive.Refused{Peer: int(o.place), At: o.node.now()}) })
}

// Answered says that the process has answered a question. That its machine accepts a
// connection is no answer: a stopped process has a machine, too.
func (o *Observation) Answered(rtt time.Duration) {
	o.during(func() {
		o.step(adaptive.Answered{Peer: int(o.place), At: o.node.now(), RTT: adaptive.Duration(rtt)})
	})
}

// End ends the observation. What is told meanwhile is its owner's to ignore.
func (o *Observation) End() {
	o.during(func() {
		o.part()
		o.step(adaptive.Forget{Peer: int(o.place)})
		o.release()
	})
}

// Figures is what an observation has measured, and what it promises.
type Figures struct {
	Network   adaptive.Network
	Period    time.Duration
	Quality   adaptive.Quality
	Suspected bool
}

// Figures returns what is known now.
func (o *Observation) Figures() (f Figures) {
	o.node.ask(func() {
		if !o.ended {
			w := o.node.observer.Watch(int(o.place))
			f = Figures{Network: w.Network(), Period: time.Duration(w.Period()), Quality: w.Quality(), Suspected: o.node.observer.Suspected(int(o.place))}
		}
	})
	return f
}

// during has the node's goroutine call f, unless the observation has ended.
func (o *Observation) during(f func()) {
	o.node.do(func() {
		if !o.ended {
			f()
		}
	})
}

func (o *Observation) step(ev adaptive.Event) { o.node.carryOut(o.node.observer.Step(ev)) }

func (o *Observation) release() {
	if !o.ended {
		o.ended = true
		o.node.observed.drop(int(o.place))
	}
}

// hear takes a sealed message, and says whether it is genuine.
func (o *Observation) hear(sealed []byte, datagram bool) bool {
	body, ok := adaptive.Unseal(o.key[:], sealed)
	if !ok || !o.keyed {
		return false
	}
	now := o.node.now()
	if beat, ok := adaptive.ParseBeat(body); ok {
		o.beaten = true
		if datagram && !o.reached {
			o.reached = true
			o.told(News{Kind: Reached, Of: o})
		}
		o.step(adaptive.Heard{Peer: int(o.place), At: now, Beat: beat})
		return true
	}
	m, err := adaptive.ParseMessage(body)
	echo, ok := m.(adaptive.Echo)
	if err == nil && ok && echo.Clock <= now {
		o.step(adaptive.Answered{Peer: int(o.place), At: now, RTT: now.Sub(echo.Clock)})
	}
	return err == nil && ok
}

// carryOut does what the observer wants.
func (n *Node) carryOut(actions []adaptive.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case adaptive.Send:
			n.deliver(a)
		case adaptive.Suspect:
			n.tell(a.Peer, News{Kind: Suspected, Silent: time.Duration(a.Silent)})
		case adaptive.Trust:
			n.tell(a.Peer, News{Kind: Trusted})
		case adaptive.Anomaly:
			n.tell(a.Peer, News{Kind: Odd, Text: a.Text})
		case adaptive.Declare:
			n.tell(a.Peer, News{Kind: Dead, Evidence: a.Evidence})
			if o, ok := n.observed.get(a.Peer); ok {
				o.release()
			}
		}
	}
}

func (n *Node) tell(peer int, news News) {
	o, ok := n.observed.get(peer)
	if !ok || news.Kind == Odd && !o.keyed { // without a connection nothing could arrive
		return
	}
	news.Of = o
	if news.Kind == Suspected {
		news.Deaf, o.beaten = !o.beaten, false
	}
	o.told(news)
}

// deliver hands a message over. Before there is a connection it is lost.
func (n *Node) deliver(a adaptive.Send) {
	o, ok := n.observed.get(a.Peer)
	switch {
	case !ok || !o.keyed:
	case a.ByLink && o.link == nil:
	case a.ByLink:
		o.link(adaptive.Seal(nil, o.key[:], a.Message))
	default:
		n.send(o.key[:], o.to(), a.Message)
	}
}
