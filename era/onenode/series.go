package onenode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// membersMax bounds a group: a decision word has 16 bits for a member.
const membersMax = 1<<16 - 2

// Config describes a Series. All members give the same N and Tag.
type Config struct {
	N, Me  int         // members of the group, and the rank of this member
	Memory Memory      // this member's view
	Tag    uint32      // names the communicator in the decision words: see Memory.Word
	Dead   rankset.Set // deaths already known
	Window int         // 0: era.Window; smaller ones are for tests
}

// A Series is one member's side of all agreements of one numbered sequence.
type Series struct {
	n, me  int
	memory Memory
	tag    uint64 // the upper half of each decision word
	window uint64
	slots  uint64

	closed rankset.Set // not waited for: the dead and the left
	dead   rankset.Set // the dead alone, as reported by a contribution

	entered uint64      // agreements 1..entered are published here
	decided uint64      // agreements 1..decided are decided here
	queue   []era.Value // contributions to entered+1, entered+2, ..., held back by the window

	// Of agreement decided+1: the seen lines, merged.
	value era.Value
	seen  rankset.Set

	plain plain // the agreement that was entered plainly and not adopted
	out   []Action
}

// NewSeries returns the member's side before the first agreement.
func NewSeries(cfg Config) *Series {
	must.That(cfg.Me >= 0 && cfg.Me < cfg.N && cfg.N <= membersMax, "rank %d of %d", cfg.Me, cfg.N)
	s := &Series{n: cfg.N, me: cfg.Me, memory: cfg.Memory, tag: uint64(cfg.Tag) << 32, window: uint64(cfg.Window)}
	if s.window == 0 {
		s.window = era.Window
	}
	s.slots = 2 * s.window
	s.dead.Union(cfg.Dead)
	s.dead.Remove(cfg.Me)
	s.closed = s.dead.Clone()
	return s
}

// Step applies one event and returns the actions that the owner must execute in order. The slice is
// valid until the next Step.
func (s *Series) Step(ev Event) []Action {
	s.out = s.out[:0]
	switch ev := ev.(type) {
	case Propose:
		s.propose(ev.Value)
	case Failed:
		if ev.Rank != s.me {
			s.dead.Add(ev.Rank)
		}
		s.close(ev.Rank)
	case Left:
		s.close(ev.Rank)
	case Look:
	}
	s.settle()
	return s.out
}

// Next returns the number that the next Propose or EnterPlain gets. The first is 1.
func (s *Series) Next() uint64 { return s.entered + uint64(len(s.queue)) + 1 }

// Open returns how many agreements were proposed here and are not decided here.
func (s *Series) Open() int { return int(s.entered-s.decided) + len(s.queue) }

// Deadline returns when the Series next requires the time: never.
func (s *Series) Deadline() (mono.Time, bool) { return 0, false }

// propose queues this member's contribution to the next agreement.
func (s *Series) propose(v era.Value) {
	must.That(!s.plain.open, "rank %d proposes beside a plain agreement", s.me)
	must.That(v.Acked.SubsetOf(s.dead), "rank %d acknowledges %v, known dead are %v", s.me, v.Acked, s.dead)
	for _, e := range v.Entries {
		must.That(len(e.Data) <= EntryMax && e.Rank == s.me, "an entry of %d bytes, of rank %d", len(e.Data), e.Rank)
	}
	v = v.Clone()
	v.From, v.Returned = rankset.Of(s.me), 0
	s.queue = append(s.queue, v)
}

// close records that no member need wait for rank x.
func (s *Series) close(x int) {
	must.That(x >= 0 && x < s.n, "rank %d of %d has stopped", x, s.n)
	if x == s.me {
		return
	}
	s.closed.Add(x)
	s.plain.mixed = true
}

// settle enters the contributions that the window admits and decides the decidable agreements,
// until neither is left.
func (s *Series) settle() {
	for {
		for len(s.queue) > 0 && s.entered < s.decided+s.window {
			s.enter()
		}
		if s.plain.open || s.entered == s.decided || !s.scan() {
			break
		}
	}
	must.That(s.entered <= s.decided+s.window, "%d entered, %d decided", s.entered, s.decided)
}

// enter publishes the oldest queued contribution, with every death known by now (R38), as the
// contribution to agreement entered+1.
func (s *Series) enter() {
	v := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	v.Dead = s.dead.Clone()
	s.entered++
	PublishLine(s.memory, s.slot(s.entered), s.entered, v)
}

func (s *Series) slot(seq uint64) int { return int(seq % s.slots) }

// WaitsFor returns the ranks, ascending, from which this member needs a contribution before
// agreement seq can proceed here: nil if seq is decided here or not proposed here. For an agreement
// behind another one, the result is that of the oldest open one.
func (s *Series) WaitsFor(seq uint64) []int {
	if seq <= s.decided || seq >= s.Next() {
		return nil
	}
	var ranks []int
	for m := range s.n {
		_, there := s.memory.Read(m, s.slot(s.decided+1), s.decided+1)
		if !there && !s.closed.Has(m) {
			ranks = append(ranks, m)
		}
	}
	return ranks
}

// Describe prints the state for a reader.
func (s *Series) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d of %d: next %d, open %d, closed %v", s.me, s.n, s.Next(), s.Open(), s.closed)
	if s.entered > s.decided {
		fmt.Fprintf(&b, "\n  agreement %d: waits for %v", s.decided+1, s.WaitsFor(s.decided+1))
	}
	if s.plain.open {
		b.WriteString(", entered plainly")
	}
	if len(s.queue) > 0 {
		fmt.Fprintf(&b, "\n  held back by the window: %d", len(s.queue))
	}
	return b.String()
}
