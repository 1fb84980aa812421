package log2phases

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Config describes a Series. All members give the same N.
type Config struct {
	N, Me int // members of the group, and the rank of this member
}

// A Series is one member's side of all agreements of one group. Events and actions are those of
// package era: a host of the one algorithm hosts the other.
type Series struct {
	n, me   int
	seq     uint64      // agreements 1..seq were proposed here
	decided uint64      // agreements 1..decided are decided here: seq, or seq-1 while Waiting
	last    era.Value   // decision of agreement decided
	gone    rankset.Set // agreed dead in agreements 1..decided: not in the tree
	dead    rankset.Set // dead, as far as this member knows

	// The attempt in progress at agreement seq.
	own      era.Value   // contribution of this member
	attempt  int         // position of the root
	voters   rankset.Set // senders of votes
	sum      era.Value   // own, and those votes
	promised int         // receiver of this member's vote; nobody while it gathers
	askers   rankset.Set // senders of requests

	// early are messages of agreement seq+1: at most a vote and a request per sender and attempt.
	early []era.Receive
	out   []era.Action
}

// nobody is no rank.
const nobody = -1

// NewSeries returns the member's side before the first agreement.
func NewSeries(cfg Config) *Series {
	must.That(cfg.Me >= 0 && cfg.Me < cfg.N, "rank %d of %d", cfg.Me, cfg.N)
	return &Series{n: cfg.N, me: cfg.Me, promised: nobody}
}

// Step applies one event and returns the actions that the owner must execute in order. The slice is
// valid until the next Step. The events are era.Propose, era.Receive and era.Failed; a Propose must
// follow the decision of the agreement before. Between two members messages must arrive in the
// order they were sent.
func (s *Series) Step(ev era.Event) []era.Action {
	s.out = s.out[:0]
	switch ev := ev.(type) {
	case era.Propose:
		s.propose(ev.Value)
	case era.Receive:
		s.receive(ev)
	case era.Failed:
		s.fail(ev.Rank)
	default:
		must.That(false, "no event of this algorithm: %T", ev)
	}
	return s.out
}

// Waiting reports whether an agreement was proposed here and is not decided here.
func (s *Series) Waiting() bool { return s.seq > s.decided }

// Describe prints the state for a reader, on one line.
func (s *Series) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d of %d: agreement %d", s.me, s.n, s.seq)
	if s.Waiting() {
		fmt.Fprintf(&b, ", attempt %d, votes of %v", s.attempt, s.voters)
		if s.promised == nobody {
			fmt.Fprintf(&b, ", waits for %v", s.missing(nil, s.position(s.me), s.n))
		} else {
			fmt.Fprintf(&b, ", waits for [%d]", s.promised)
		}
	} else if s.seq > 0 {
		fmt.Fprintf(&b, ", decided [%v]", s.last)
	}
	if !s.dead.IsEmpty() {
		fmt.Fprintf(&b, ", dead %v", s.dead)
	}
	if !s.gone.IsEmpty() {
		fmt.Fprintf(&b, ", not in the tree %v", s.gone)
	}
	return b.String()
}

// propose enters the next agreement.
func (s *Series) propose(v era.Value) {
	must.That(!s.Waiting(), "rank %d proposes before agreement %d is decided", s.me, s.seq)
	must.That(v.Acked.SubsetOf(s.dead), "rank %d acknowledges %v, known dead are %v", s.me, v.Acked, s.dead)
	s.seq++
	s.own = v.Clone()
	s.own.From, s.own.Dead, s.own.Returned = rankset.Of(s.me), rankset.Set{}, s.seq
	s.start(s.firstLiving(0))
	early := s.early
	s.early = nil
	s.progress()
	for _, ev := range early {
		s.receive(ev)
	}
}

// start begins an attempt. Behind a dead root some children may have committed and vote only when
// they are asked.
func (s *Series) start(attempt int) {
	s.attempt, s.promised = attempt, nobody
	s.voters, s.askers, s.sum = rankset.Set{}, rankset.Set{}, s.own.Clone()
	if attempt > 0 {
		s.request(s.position(s.me))
	}
}

// request asks the members below position p for their votes.
func (s *Series) request(p int) {
	for _, r := range s.missing(nil, p, s.n) {
		s.send(r, message{kind: request, attempt: s.attempt})
	}
}

// progress ends the first phase when no vote is missing: the root commits, other members vote.
func (s *Series) progress() {
	if !s.Waiting() || s.promised != nobody || len(s.missing(nil, s.position(s.me), 1)) > 0 {
		return
	}
	if s.position(s.me) == s.attempt {
		s.sum.Dead.Union(s.dead)
		s.commit(s.sum)
		return
	}
	s.vote()
}

// vote sends the contributions of this subtree to the parent, and promises to commit only what
// comes from there.
func (s *Series) vote() {
	s.sum.Dead.Union(s.dead)
	s.promised = s.parent()
	s.send(s.promised, message{kind: vote, attempt: s.attempt, value: s.sum})
}

// commit decides v, in the second phase, and passes it on to all members that have voted to this
// one. Members that vote later get an answer. An asker without this member's vote needs the
// decision as well: it gathers still.
func (s *Series) commit(v era.Value) {
	to := s.voters.Clone()
	to.Union(s.askers)
	for r := range to.All() {
		if !s.dead.Has(r) && r != s.promised {
			s.send(r, message{kind: commit, attempt: s.attempt, value: v})
		}
	}
	s.decided, s.last = s.seq, v.Clone()
	s.sum, s.own, s.voters, s.askers = era.Value{}, era.Value{}, rankset.Set{}, rankset.Set{}
	s.gone.Union(v.Dead)
	s.dead.Union(v.Dead)
	s.out = append(s.out, era.Decide{Seq: s.seq, Value: v.Clone()})
}

// receive handles one message.
func (s *Series) receive(ev era.Receive) {
	if s.dead.Has(ev.From) {
		return // a dead member is silent: its messages in flight are dropped, too
	}
	m, err := decode(ev.Msg, s.n)
	if err != nil {
		s.out = append(s.out, era.Anomaly{From: ev.From, Text: fmt.Sprintf("agreement %d: %v", ev.Seq, err)})
		return
	}
	switch {
	case ev.Seq == s.seq+1:
		s.early = append(s.early, era.Receive{From: ev.From, Seq: ev.Seq, Msg: bytes.Clone(ev.Msg)})
	case ev.Seq > s.seq:
		s.out = append(s.out, era.Anomaly{From: ev.From, Text: fmt.Sprintf("agreement %d, but %d is the last one here", ev.Seq, s.seq)})
	case s.Waiting() && ev.Seq == s.seq:
		s.handle(ev.From, m)
	case ev.Seq == s.decided && m.kind != commit:
		answer := encode(message{kind: commit, attempt: m.attempt, value: s.last})
		s.out = append(s.out, era.Send{To: ev.From, Seq: ev.Seq, Msg: answer})
	}
}

// handle handles a message of the agreement in progress. Messages of earlier attempts are ignored:
// this member has promised to do so, and their senders will enter this attempt.
//
// The two conditions for a commit keep the promise in any tree. In the binomial tree they never
// refuse a harmful one: from one attempt to the next a parent changes only by its death, and
// messages of the dead are dropped.
func (s *Series) handle(from int, m message) {
	if m.attempt < s.attempt {
		return
	}
	if m.kind == commit {
		if s.promised == nobody || s.promised == from || m.attempt > s.attempt {
			s.attempt = m.attempt
			s.commit(m.value)
		}
		return
	}
	if m.attempt > s.position(s.me) {
		s.out = append(s.out, era.Anomaly{From: from, Text: fmt.Sprintf("attempt %d counts rank %d as dead", m.attempt, s.me)})
		return
	}
	s.follow(m.attempt)
	if m.attempt != s.attempt {
		return
	}
	if m.kind == vote {
		s.voters.Add(from)
		s.sum.Merge(m.value)
		s.progress()
		return
	}
	s.askers.Add(from)
	s.adopt(from)
}

// follow enters the attempt of a message, which proves that all roots before are dead.
func (s *Series) follow(attempt int) {
	for s.attempt < attempt {
		s.fail(s.rank(s.attempt))
	}
}

// adopt reacts to a request of an ancestor, which proves that all members between are dead.
func (s *Series) adopt(from int) {
	var between []int
	for p := s.position(s.me); p != s.attempt; {
		p = s.above(p)
		r := s.rank(p)
		if r == from {
			for _, x := range between {
				s.fail(x)
			}
			return
		}
		between = append(between, r)
	}
}

// fail records a death and reacts to it: a new attempt for the root, a new parent for a member that
// has voted, new children for one that gathers.
func (s *Series) fail(x int) {
	if x == s.me || !s.dead.Add(x) || !s.Waiting() || s.gone.Has(x) {
		return
	}
	switch {
	case s.rank(s.attempt) == x:
		s.start(s.firstLiving(s.attempt))
	case s.promised == x:
		s.vote()
	case s.promised == nobody && s.inherits(x):
		s.request(s.position(x))
	}
	s.progress()
}

// inherits reports whether the children of the dead member x belong to this member now, and x has
// not voted.
func (s *Series) inherits(x int) bool {
	if s.voters.Has(x) || s.position(x) < s.attempt {
		return false
	}
	p := s.above(s.position(x))
	for s.dead.Has(s.rank(p)) {
		p = s.above(p)
	}
	return s.rank(p) == s.me
}

func (s *Series) send(to int, m message) {
	s.out = append(s.out, era.Send{To: to, Seq: s.seq, Msg: encode(m)})
}
