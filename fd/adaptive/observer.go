package adaptive

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/must"
)

const (
	// PeersMax is the highest number of processes that one Observer observes: 4096.
	PeersMax = 1 << peerBits
	peerBits = 12

	renewEach   = 10          // periods between two renewals, at most
	renewWithin = 25 * Second // a NAT forgets a datagram's way after 30 s
	renewFirst  = Second      // until the first message, at most
	measureEach = 8           // Adjusts until the way is measured again
	deafAfter   = 3           // unanswered renewals, until beats are sent over the link
	pageLen     = 64          // peers in one page of memory
)

// state is the judgement of an Observer about a peer.
type state uint8

const (
	unwatched state = iota // never observed, forgotten, left or declared
	trusted
	suspected
)

func (s state) String() string {
	switch s {
	case trusted:
		return "trusted"
	case suspected:
		return "suspected"
	}
	return "unwatched"
}

// An Observer observes many processes: it requests a period of each, suspects a process that is
// silent for too long, and declares a suspect that does not answer. See the package comment.
type Observer struct {
	// First is added to the numbers of all observations. Where an emitter has many observers, each
	// draws First at random, so that two seldom have the same number.
	First uint32

	peers  []*[pageLen]peer
	timers timers
	late   bool // this process is late: messages until the next Tick may have waited
	out    []Action
}

// peer is an observed process.
type peer struct {
	Watch
	confirm    Time   // while suspected: when the peer is declared
	renew      Time   // when the next Adjust is sent
	generation uint32 // of the observation
	epoch      uint16 // of the latest Adjust
	state      state
	deaf       uint8 // renewals without a sign of life, at the beginning
	byLink     bool
	looked     bool  // the moment overdue has passed in time, or no message has come yet
	asked      uint8 // Adjusts since the way was to be measured
}

// Stream returns the number of the present observation of a peer: its place, and how many
// observations there were before. A beat with another number is dropped.
func (o *Observer) Stream(peer int) uint32 { return o.number(peer, 0) }

// Next returns the number that the next observation of a peer will have.
func (o *Observer) Next(peer int) uint32 { return o.number(peer, 1) }

func (o *Observer) number(peer int, later uint32) uint32 {
	return (o.First+o.peer(peer).generation+later)<<peerBits | uint32(peer)
}

// PeerOf returns the place of the peer from the number of its observation.
func PeerOf(stream uint32) int { return int(stream % PeersMax) }

// Watch returns the measurements of a peer, for inspection.
func (o *Observer) Watch(peer int) *Watch { return &o.peer(peer).Watch }

// Suspected reports whether a peer is suspected.
func (o *Observer) Suspected(peer int) bool { return o.peer(peer).state == suspected }

func (o *Observer) peer(i int) *peer {
	if i < 0 || i >= PeersMax {
		must.That(false, "peer %d, want 0 to %d", i, PeersMax-1) // here, because its arguments are allocated
	}
	for len(o.peers)*pageLen <= i {
		o.peers = append(o.peers, new([pageLen]peer))
		o.timers.grow(len(o.peers) * pageLen)
	}
	return &o.peers[i/pageLen][i%pageLen]
}

// Deadline returns when the observer next requires a Tick, if ever.
func (o *Observer) Deadline() (Time, bool) {
	_, at, ok := o.timers.earliest()
	return at, ok
}

// Step applies an event. The actions are valid until the next Step.
func (o *Observer) Step(ev Event) []Action {
	o.out = emptied(o.out)
	switch ev := ev.(type) {
	case Observe:
		o.observe(ev)
	case Heard:
		o.heard(ev)
	case Answered:
		o.answered(ev)
	case Broken:
		if o.peer(ev.Peer).state == trusted {
			o.suspect(ev.Peer, ev.At, 0)
			o.schedule(ev.Peer)
		}
	case Refused:
		if o.peer(ev.Peer).state != unwatched {
			o.declare(ev.Peer, ByRefusal)
		}
	case Left:
		o.forget(ev.Peer)
	case Forget:
		o.forget(ev.Peer)
	case Tick:
		o.tick(ev.Now)
	}
	return o.out
}

// emptied makes room for other actions: none of the old ones is kept, nor the room for many.
func emptied[A any](actions []A) []A {
	const usual = 64
	if cap(actions) > usual {
		return nil
	}
	clear(actions)
	return actions[:0]
}

func (o *Observer) act(a Action) { o.out = append(o.out, a) }

func (o *Observer) observe(ev Observe) {
	p := o.peer(ev.Peer)
	*p = peer{state: trusted, generation: p.generation + 1, looked: true}
	p.Start(ev.At, ev.QoS, ev.Limits)
	o.adjust(ev.Peer, ev.At)
	o.schedule(ev.Peer)
}

func (o *Observer) forget(peer int) {
	o.peer(peer).state = unwatched
	o.timers.stop(peer)
}

// heard evaluates a beat. An older epoch in the beat shows that an Adjust was lost, or has not
// arrived yet: the latest Adjust is repeated until a beat has its epoch.
func (o *Observer) heard(ev Heard) {
	p := o.peer(ev.Peer)
	if p.state == unwatched || ev.Beat.Stream != o.Stream(ev.Peer) {
		return
	}
	o.noticeLateness(ev.At, p.Period())
	p.deaf = 0
	if p.Heard(ev.At, ev.Beat, o.late) {
		p.epoch++
	}
	if ev.Beat.Epoch != p.epoch {
		o.adjust(ev.Peer, ev.At)
	}
	p.looked = false
	o.trust(ev.Peer, ev.At)
}

func (o *Observer) answered(ev Answered) {
	p := o.peer(ev.Peer)
	if p.state == unwatched {
		return
	}
	o.noticeLateness(ev.At, p.Period())
	p.deaf = 0
	if p.Answered(ev.At, ev.RTT, o.late) {
		p.epoch++
		o.adjust(ev.Peer, ev.At)
	}
	o.trust(ev.Peer, ev.At)
}

// trust ends a suspicion, if the peer is fresh again.
func (o *Observer) trust(peer int, now Time) {
	if p := o.peer(peer); p.state == suspected && p.Freshness() > now {
		p.state = trusted
		o.act(Trust{Peer: peer})
	}
	o.schedule(peer)
}

// noticeLateness is B17. If the requested Tick is late by a quarter of a period, the process has
// been stopped, and all messages that it reads until the next Tick may have waited.
//
//	This process is stopped for a minute. Six beats of 10 s lie in its socket. Taken for
//	delays of 50 s, 40 s, ... they would make it ask for the shortest period there is.
func (o *Observer) noticeLateness(at Time, period Duration) {
	if _, wanted, ok := o.timers.earliest(); ok && at.Sub(wanted) > period/4 {
		o.late = true
	}
}

func (o *Observer) tick(now Time) {
	o.late = false
	for {
		peer, at, ok := o.timers.earliest()
		if !ok || at > now {
			return
		}
		o.wake(peer, now)
	}
}

// wake executes the due actions of one peer, and moves its next deadline behind now.
func (o *Observer) wake(peer int, now Time) {
	p := o.peer(peer)
	if now >= p.renew {
		o.renew(peer, now)
	}
	if now >= p.overdue() {
		p.looked = true
	}
	switch {
	case p.state == trusted && now >= p.Freshness():
		o.suspect(peer, now, now.Sub(p.Expected()))
	case p.state == suspected && p.confirms() && now >= p.confirm:
		o.declare(peer, BySilence)
		return
	}
	o.schedule(peer)
}

// suspect begins a suspicion, after silence or a broken connection.
func (o *Observer) suspect(peer int, now Time, silent Duration) {
	p := o.peer(peer)
	p.state = suspected
	p.confirm = now.Add(p.limits.Confirm)
	o.act(Suspect{Peer: peer, Silent: silent})
	o.act(Send{Peer: peer, Message: Probe{Stream: o.Stream(peer), Clock: now}})
}

func (o *Observer) declare(peer int, e Evidence) {
	o.forget(peer)
	o.act(Declare{Peer: peer, Evidence: e})
}

// renew repeats the latest Adjust, and counts the renewals without an answer at the beginning.
func (o *Observer) renew(peer int, now Time) {
	p := o.peer(peer)
	if !p.beaten && !p.byLink {
		p.deaf++
		if p.deaf >= deafAfter {
			p.byLink = true
			o.act(Anomaly{Peer: peer, Text: fmt.Sprintf("%d datagrams without an answer: its beats go by the connection", deafAfter)})
		}
	}
	o.adjust(peer, now)
}

// adjust sends the latest Adjust, which is also a renewal.
func (o *Observer) adjust(peer int, now Time) {
	p := o.peer(peer)
	wait := min(renewEach*p.Wanted(), renewWithin)
	if !p.beaten {
		wait = min(wait, renewFirst, p.TimeToSuspect()/8)
	}
	p.renew = now.Add(wait)
	p.asked = (p.asked + 1) % measureEach
	o.act(Send{Peer: peer, ByLink: p.byLink, Message: Adjust{
		Stream: o.Stream(peer), Epoch: p.epoch, Clock: now, Period: p.Wanted(), ByLink: p.byLink,
		Echo: p.rtt == 0 || p.asked == 0,
	}})
}

// schedule sets when the peer next needs a Tick.
func (o *Observer) schedule(peer int) {
	p := o.peer(peer)
	next := p.renew
	if !p.looked {
		next = min(next, p.overdue())
	}
	switch {
	case p.state == unwatched:
		o.timers.stop(peer)
		return
	case p.state == trusted:
		next = min(next, p.Freshness())
	case p.confirms():
		next = min(next, p.confirm)
	}
	o.timers.set(peer, next)
}

// overdue returns when a beat is late by a quarter of a period. A Tick in time at that moment shows
// that this process is not the late one.
func (p *peer) overdue() Time { return p.Expected().Add(p.Period() / 4) }

// confirms reports whether silence leads to a declaration at all.
func (p *peer) confirms() bool { return p.limits.Confirm != Unconfirmed }
