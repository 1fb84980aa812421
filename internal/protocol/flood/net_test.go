package flood

import (
	"fmt"
	"math/rand/v2"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A letter is a message in flight.
type letter struct {
	from, to int
	msg      []byte
}

// A net is a group with a network that delivers in any order.
type net struct {
	members   []*Flood
	alive     rankset.Set
	flight    []letter
	delivered []rankset.Set // delivered[m]: the items of the Deliver actions of m
	delivers  int           // Deliver actions: a bound of the number of growths
	pushes    int           // sends that answer nothing: publish, forward, mend, compare
	answers   int           // sends to the member whose message was received
	problem   error         // the first violation
}

func newNet(n, items int) *net {
	w := &net{alive: rankset.Range(0, n), delivered: make([]rankset.Set, n)}
	for me := range n {
		w.members = append(w.members, New(Config{N: n, Me: me, Items: items}))
	}
	return w
}

// step applies ev at a member. Only its first sendsMax sends get out.
func (w *net) step(me int, ev Event, sendsMax int) {
	sends := 0
	for _, a := range w.members[me].Step(ev) {
		switch a := a.(type) {
		case Deliver:
			w.delivers++
			for item := range a.Items.All() {
				if !w.delivered[me].Add(item) {
					w.fail("%d delivered %d twice", me, item)
				}
			}
		case Send:
			if sends++; sends <= sendsMax {
				w.flight = append(w.flight, letter{me, a.To, a.Msg})
				w.count(ev, a.To)
			}
		case Anomaly:
			w.fail("%d: anomaly %s", me, a.Text)
		}
	}
	if !w.delivered[me].Equal(w.members[me].Items()) {
		w.fail("%d delivered %v, has %v", me, w.delivered[me], w.members[me].Items())
	}
}

func (w *net) count(ev Event, to int) {
	if r, ok := ev.(Receive); ok && r.From == to {
		w.answers++
	} else {
		w.pushes++
	}
}

// deliverOne delivers the i-th message in flight, out of the order of sending.
func (w *net) deliverOne(i, sendsMax int) {
	l := w.flight[i]
	w.flight[i] = w.flight[len(w.flight)-1]
	w.flight = w.flight[:len(w.flight)-1]
	if w.alive.Has(l.to) {
		w.step(l.to, Receive{From: l.from, Msg: l.msg}, sendsMax)
	}
}

func (w *net) drain(rng *rand.Rand) {
	for len(w.flight) > 0 {
		w.deliverOne(rng.IntN(len(w.flight)), 1<<30)
	}
}

// disagreement returns an error unless all live members have equal sets.
func (w *net) disagreement() error {
	if w.problem != nil {
		return w.problem
	}
	first := w.alive.Next(0)
	for m := range w.alive.All() {
		if a, b := w.members[first].Items(), w.members[m].Items(); !a.Equal(b) {
			return fmt.Errorf("%d has %v, %d has %v; live are %v", first, a, m, b, w.alive)
		}
	}
	return nil
}

func (w *net) fail(format string, args ...any) {
	if w.problem == nil {
		w.problem = fmt.Errorf(format, args...)
	}
}
