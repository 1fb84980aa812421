package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

const (
	// lookEach is how often a target is looked at.
	lookEach = 20 * time.Millisecond
	// stuckAfter is when a target that should send is given up.
	stuckAfter = 2 * time.Minute
)

// A bed is one observer and the network to its targets.
type bed struct {
	node    *beat.Endpoint
	network *child
	late    *lateness
	qos     adaptive.QoS
	seeds   *rand.Rand
	mu      sync.Mutex // of seeds
}

func newBed(q adaptive.QoS, seed uint64) (*bed, error) {
	node, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	network, err := startChild(asNetwork)
	if err != nil {
		node.Close()
		return nil, err
	}
	return &bed{node: node, network: network, late: startLateness(), qos: q, seeds: rand.New(rand.NewPCG(seed, 1))}, nil
}

func (b *bed) close() {
	b.late.stop()
	b.node.Close()
	b.network.end()
}

func (b *bed) seed() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seeds.Uint64()
}

// machineLate returns by how much the observer, and the network, were late at most.
func (b *bed) machineLate(from, to time.Time) (observer, network time.Duration, err error) {
	err = b.network.call("Late", Span{from, to}, &network)
	return b.late.worst(from, to), network, err
}

// target is an emitter that is observed.
type target struct {
	*child
	bed    *bed
	way    Way
	news   chan told
	seen   *beat.Monitor
	stream uint32
}

// told is news, and when the observer heard it.
type told struct {
	at time.Time
	beat.Event
}

// newTarget starts an emitter, and observes it.
func (b *bed) newTarget(w faultproxy.Weather) (*target, error) {
	c, err := startChild(asEmitter)
	if err != nil {
		return nil, err
	}
	t := &target{child: c, bed: b, news: make(chan told, 1000)}
	var addr string
	if err = c.call("Addr", None{}, &addr); err == nil {
		err = b.network.call("Carry", Route{addr, b.seed(), w}, &t.way)
		if err == nil {
			err = t.observe()
		}
	}
	if err != nil {
		c.end()
		return nil, err
	}
	return t, nil
}

// observe begins a new observation: the network is not known any more.
func (t *target) observe() error {
	o, err := t.bed.node.Monitor(t.bed.qos, func(n beat.Event) { t.news <- told{time.Now(), n} })
	if err != nil {
		return err
	}
	t.seen = o
	return t.connect()
}

// connect does what a call between two processes would.
func (t *target) connect() error {
	to, err := netip.ParseAddrPort(t.way.Addr)
	if err != nil {
		return err
	}
	key := []byte(fmt.Sprintf("%016x", t.bed.seed()))
	t.stream = t.seen.NextStream()
	if err := t.call("Emit", Ask{t.stream, key}, &None{}); err != nil {
		return err
	}
	return t.seen.Connected(beat.Connection{Stream: t.stream, Addr: to, Key: key, Link: func([]byte) {}})
}

// sight returns what the emitter has sent for the present connection.
func (t *target) sight() (s Sight, err error) {
	err = t.bed.network.call("Look", t.way.ID, &s)
	if s.Stream != t.stream {
		s = Sight{}
	}
	return s, err
}

// settle waits until so many beats were sent. Where beats would go by the connection, because the
// first datagrams were lost, there is a new one; an emitter that is wrongly held for dead is
// observed anew, and counted.
func (t *target) settle(beats int) (mistaken int, err error) {
	giveUp := time.After(stuckAfter)
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for {
		s, err := t.sight()
		if err != nil || s.Beats >= beats {
			return mistaken, err
		}
		select {
		case n := <-t.news:
			again, err := t.again(n)
			if err != nil {
				return mistaken, err
			}
			mistaken += again
		case <-tick.C:
		case <-giveUp:
			return mistaken, fmt.Errorf("an emitter has sent %d of %d beats", s.Beats, beats)
		}
	}
}

// again makes what ended go on, and returns 1 if that was a wrong declaration.
func (t *target) again(n told) (mistaken int, err error) {
	switch n.Kind {
	case beat.Anomaly:
		return 0, t.connect()
	case beat.Dead:
		return 1, t.observe()
	}
	return 0, nil
}

// end ends the emitter, and what observes it.
func (t *target) end() {
	t.seen.Close()
	t.child.end()
	_ = t.bed.network.call("End", t.way.ID, &None{})
}

// newTargets starts several, and waits until the network of each is known.
func (b *bed) newTargets(n, beats int, w faultproxy.Weather) (list []*target, mistaken int, err error) {
	for range n {
		t, err := b.newTarget(w)
		if err != nil {
			return list, mistaken, err
		}
		list = append(list, t)
	}
	for _, t := range list {
		m, err := t.settle(beats)
		mistaken += m
		if err != nil {
			return list, mistaken, err
		}
	}
	return list, mistaken, nil
}

func endAll(list []*target) {
	for _, t := range list {
		t.end()
	}
}
