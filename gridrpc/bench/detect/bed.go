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
	// lookEach is the interval between two checks of a target.
	lookEach = 20 * time.Millisecond
	// stuckAfter is the time after which a silent target is given up.
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

// machineLate returns the largest delays of the observer and of the network.
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

// told is an event, and the time at which the observer got it.
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

// observe begins a new observation, without knowledge of the network.
func (t *target) observe() error {
	o, err := t.bed.node.Monitor(t.bed.qos, func(n beat.Event) { t.news <- told{time.Now(), n} })
	if err != nil {
		return err
	}
	t.seen = o
	return t.connect()
}

// connect makes the introduction that a call between two processes would make.
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

// sight returns the beats that the emitter has sent for the present connection.
func (t *target) sight() (s Sight, err error) {
	err = t.bed.network.call("Look", t.way.ID, &s)
	if s.Stream != t.stream {
		s = Sight{}
	}
	return s, err
}

// settle waits until a number of beats were sent. If beats would use the connection, because the
// first datagrams were lost, it makes a new one. An emitter that is wrongly declared dead is
// observed again, and counted.
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

// again restarts an ended observation, and returns 1 if a wrong declaration had ended it.
func (t *target) again(n told) (mistaken int, err error) {
	switch n.Kind {
	case beat.Anomaly:
		return 0, t.connect()
	case beat.Dead:
		return 1, t.observe()
	}
	return 0, nil
}

// end ends the emitter and its observation.
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
