package session

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
)

// Config configures a call. Zero fields mean defaults.
type Config struct {
	Tries      int           // attempts that were not refused; default 16
	Losses     int           // servers lost until the call is poison; default 3
	Patience   mono.Duration // default 30 s
	Stall      mono.Duration // 0: a body may be silent without a limit
	AtMostOnce bool
}

// WithDefaults returns c with every field that is 0 replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Tries == 0 {
		c.Tries = 16
	}
	if c.Losses == 0 {
		c.Losses = 3
	}
	if c.Patience == 0 {
		c.Patience = 30 * mono.Second
	}
	return c
}

// Pauses between two questions, or two dials: from the first to the last, doubled.
const (
	pauseFirst = 10 * mono.Millisecond
	pauseLast  = mono.Second
)

// ForgetAfter is the least time for which a server keeps a call without a client.
const ForgetAfter = 60 * mono.Second

// phase is the state of a call.
type phase uint8

const (
	scheduling phase = iota // waits for servers, or for the next request
	submitting              // the call was sent to a server
	running                 // the server has accepted the call
	broken                  // the stream to the server must be made again
	ended
)

// Session is one call at its client.
type Session struct {
	cfg        Config
	phase      phase
	attempt    uint32 // the latest
	found      bool   // the call of another client, without its argument (S9)
	before     uint32 // attempts of that client
	tries      int
	lost       int
	servers    []Server // of each attempt of this client
	over       []bool   // of each attempt of this client: refused, or abandoned
	accepted   bool     // the latest attempt, by its server
	brokenAt   mono.Time
	candidates []Server // not tried yet
	dead       []Server
	manifest   Manifest
	fresh      bool // the next request reaches all servers
	held       bool // the candidates are not from a master

	pause    mono.Duration // the next one
	wake     mono.Time     // when to ask or dial; if waiting
	waiting  bool
	deaf     mono.Time // start of the time without an answer of a master; if unheard
	unheard  bool
	lastSign mono.Time // of the body
	out      []Action
}

// New returns a call that has not begun.
func New(c Config) *Session { return &Session{cfg: c.WithDefaults(), pause: pauseFirst} }

// Attempt returns the number of the latest attempt; 0 before the first.
func (s *Session) Attempt() uint32 { return s.attempt }

// Deadline returns the time of the next required Tick, if any.
func (s *Session) Deadline() (mono.Time, bool) {
	switch {
	case s.phase == ended:
		return 0, false
	case s.waiting:
		return s.wake, true
	case s.stalls():
		return s.lastSign.Add(s.cfg.Stall), true
	}
	return 0, false
}

func (s *Session) stalls() bool { return s.phase == running && s.cfg.Stall > 0 }

// Step applies an event. The actions are valid until the next Step. Nothing follows an End.
func (s *Session) Step(ev Event) []Action {
	s.out = s.out[:0]
	if s.phase == ended {
		return nil
	}
	switch ev := ev.(type) {
	case Begin:
		s.ask()
	case Found:
		s.adopt(ev)
	case Candidates:
		s.choose(ev)
	case Unreachable:
		s.notHeard(ev.At)
	case Accepted:
		if ev.Attempt == s.attempt && s.phase != scheduling {
			s.phase, s.waiting, s.pause, s.lastSign = running, false, pauseFirst, ev.At
			s.accepted = true
		}
	case Refused:
		s.refuse(ev)
	case Progressed:
		s.sign(ev.Attempt, ev.At)
	case Checkpointed:
		s.sign(ev.Manifest.Attempt, ev.At)
		if ev.Manifest.newer(s.manifest) {
			s.manifest = ev.Manifest
		}
	case Result:
		s.end(Succeeded, ev.Attempt)
	case Failed:
		s.end(BodyFailed, ev.Attempt)
	case Broken:
		if ev.Attempt == s.attempt && (s.phase == submitting || s.phase == running || s.phase == broken) {
			if s.phase != broken {
				s.phase, s.brokenAt = broken, ev.At
			}
			s.sleep(ev.At)
		}
	case Declared:
		s.declare(ev.Server, ev.At)
	case Cancelled:
		s.end(GivenUp, s.attempt)
	case Left:
		s.phase, s.waiting = ended, false
		s.act(End{Outcome: LeftBehind, Attempt: s.attempt})
	case Tick:
		s.tick(ev.Now)
	}
	return s.out
}

func (s *Session) act(a Action) { s.out = append(s.out, a) }

// adopt attaches to a call that another client has begun (S9).
func (s *Session) adopt(ev Found) {
	s.found, s.before, s.attempt = true, ev.Attempt-1, ev.Attempt
	s.servers, s.over = []Server{ev.Server}, []bool{false}
	s.phase, s.accepted, s.brokenAt, s.lastSign = broken, true, ev.At, ev.At
	s.act(Attach{Attempt: ev.Attempt, Server: ev.Server, Accepted: true})
}

// latest returns the server of the latest attempt.
func (s *Session) latest() Server { return s.servers[len(s.servers)-1] }

func (s *Session) sign(attempt uint32, at mono.Time) {
	if attempt == s.attempt {
		s.lastSign = at
	}
}

func (s *Session) ask() {
	s.phase, s.waiting = scheduling, false
	s.act(Ask{Exclude: slices.Clone(s.dead), Fresh: s.fresh, Manifest: s.manifest})
}

// sleep sets the time of the next request or dial, after a longer pause than the last one.
func (s *Session) sleep(now mono.Time) {
	s.wake, s.waiting = now.Add(s.pause), true
	s.pause = min(2*s.pause, pauseLast)
}

// choose handles the answer of a master.
func (s *Session) choose(ev Candidates) {
	if s.phase != scheduling || s.waiting {
		return
	}
	s.unheard, s.held = s.unheard && ev.Held, ev.Held
	if ev.Unknown && ev.Quiet >= s.cfg.Patience {
		s.end(NoService, s.attempt)
		return
	}
	s.candidates = s.candidates[:0]
	for _, c := range ev.Servers {
		if !slices.Contains(s.dead, c) { // an agent may not know of the death yet
			s.candidates = append(s.candidates, c)
		}
	}
	s.next(ev.At)
}

// next submits to the next candidate, or asks again after a pause.
func (s *Session) next(now mono.Time) {
	s.phase = scheduling
	if len(s.candidates) == 0 && s.held {
		s.held = false
		s.ask()
		return
	}
	if len(s.candidates) == 0 {
		s.fresh = true
		s.sleep(now)
		return
	}
	to := s.candidates[0]
	s.candidates = s.candidates[1:]
	s.attempt++
	s.tries++
	s.servers = append(s.servers, to)
	s.over = append(s.over, false)
	s.phase, s.waiting, s.lastSign, s.accepted = submitting, false, now, false
	s.act(Submit{Attempt: s.attempt, Server: to, Manifest: s.manifest})
}

func (s *Session) notHeard(now mono.Time) {
	if s.phase != scheduling || s.waiting {
		return
	}
	if !s.unheard {
		s.unheard, s.deaf = true, now
	}
	if now.Sub(s.deaf) >= s.cfg.Patience {
		s.end(NoMaster, s.attempt)
		return
	}
	s.sleep(now)
}

// refuse continues with the next candidate: a refusal is no try (S4). A server that refuses an
// accepted attempt has forgotten it, and with it whether the body ran (S2).
func (s *Session) refuse(ev Refused) {
	if ev.Attempt <= s.before || ev.Attempt > s.attempt {
		must.That(false, "attempt %d was refused, of %d", ev.Attempt, s.attempt)
	}
	s.over[ev.Attempt-s.before-1] = true
	if ev.Attempt != s.attempt || s.phase == scheduling {
		return
	}
	if s.found {
		s.end(Gone, s.attempt)
		return
	}
	if s.accepted && s.cfg.AtMostOnce {
		s.end(ServerLost, s.attempt)
		return
	}
	s.tries--
	s.next(ev.At)
}

// declare is S3: if the server runs the call now, the attempt is lost. A server of an earlier
// attempt is only excluded.
func (s *Session) declare(dead Server, now mono.Time) {
	if slices.Contains(s.dead, dead) {
		return
	}
	s.dead = append(s.dead, dead)
	s.candidates = slices.DeleteFunc(s.candidates, func(c Server) bool { return c == dead })
	if s.phase != scheduling && s.latest() == dead {
		s.lose(now)
	}
}

// lose gives the call to another server.
func (s *Session) lose(now mono.Time) {
	s.lost++
	switch {
	case s.found:
		s.over[len(s.over)-1] = true // if the declaration was wrong, the call continues for its next client
		s.end(ServerLost, s.attempt)
	case s.cfg.AtMostOnce:
		s.end(ServerLost, s.attempt)
	case s.lost >= s.cfg.Losses:
		s.end(Poisoned, s.attempt)
	case s.tries >= s.cfg.Tries:
		s.end(TriesOver, s.attempt)
	default:
		s.pause, s.candidates = pauseFirst, s.candidates[:0]
		s.ask()
	}
}

func (s *Session) tick(now mono.Time) {
	switch {
	case s.waiting && now >= s.wake && s.phase == broken && s.cfg.AtMostOnce && !s.accepted && now.Sub(s.brokenAt) >= ForgetAfter/2:
		s.end(ServerLost, s.attempt) // the server may have run the call and forgotten it (S2)
	case s.waiting && now >= s.wake && s.phase == broken:
		s.waiting = false
		s.act(Attach{Attempt: s.attempt, Server: s.latest(), Accepted: s.accepted})
	case s.waiting && now >= s.wake:
		s.ask()
	case s.stalls() && now >= s.lastSign.Add(s.cfg.Stall):
		stuck := s.latest()
		s.act(Abandon{Attempt: s.attempt})
		s.over[len(s.over)-1] = true
		s.dead = append(s.dead, stuck) // the server is alive, but lost for this call
		s.lose(now)
	}
}

// end cancels all attempts except the one with the result, and those that are over.
func (s *Session) end(o Outcome, attempt uint32) {
	s.phase, s.waiting = ended, false
	for i := range s.servers {
		n := s.before + uint32(i+1)
		won := n == attempt && (o == Succeeded || o == BodyFailed)
		if !won && !s.over[i] {
			s.act(Abandon{Attempt: n, Over: true})
		}
	}
	s.act(End{Outcome: o, Attempt: attempt})
}
