package membership

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A ballot is a job without time: voters may promise at any moment, a coordinator may declare any
// victim as soon as its last version counts, and each message arrives at any time, once or never.
// The search visits all reachable states. The property rests on no lease, clock or delay: versions
// that count are a chain.
type ballot struct {
	members      int
	epochs       uint32  // up to this one voters may promise
	victims      [][]int // by epoch: the members that its coordinator may declare
	coordinators int     // how many declarations there are at most

	states int
	seen   map[string]bool
}

// A move is one step of a ballot: a promise, a declaration, or the arrival of a message.
type move struct {
	kind   byte // 'p', 'd', 'm', or 'k': a member comes to know a version that counts
	member int  // the acting member
	what   int  // the epoch, the victim, the number of the message or of the version
}

// A scene is the state after some moves.
type scene struct {
	all      []*Roster
	mail     []letter
	counted  []rankset.Set // versions that have come to count
	declared int
}

type letter struct {
	from, to int
	msg      string
	read     bool
}

func (b *ballot) begin() *scene {
	s := &scene{}
	for me := range b.members {
		r := New(Config{Members: b.members, Me: me, Survive: true})
		r.voter.quiet = mono.Time(-mono.Second) // nobody has a coordinator
		s.all = append(s.all, r)
	}
	return s
}

// play applies moves to a new scene. There is no copying a Roster, so a state is the way to it.
func (b *ballot) play(moves []move) *scene {
	s := b.begin()
	for _, m := range moves {
		s.do(m)
	}
	return s
}

func (s *scene) do(m move) {
	r := s.all[m.member]
	r.out = r.out[:0]
	switch m.kind {
	case 'p':
		r.promise(uint32(m.what))
	case 'd':
		s.declared++
		r.adopt(r.coordinator.record.next(rankset.Of(m.what)))
	case 'm':
		l := &s.mail[m.what]
		l.read = true
		r.Step(Receive{From: l.from, Msg: []byte(l.msg)})
	case 'k':
		r.agreed(s.counted[m.what])
	}
	s.post(m.member)
	s.count(m.member)
}

// post keeps the messages of a member about votes, each once. The ring's are left out: learning of
// a version that counts is a move of its own.
func (s *scene) post(me int) {
	for _, a := range s.all[me].out {
		send, ok := a.(Send)
		if !ok {
			continue
		}
		if kind := send.Msg[0]; kind != kindPropose && kind != kindWritten && kind != kindSupport {
			continue
		}
		same := func(l letter) bool { return l.from == me && l.to == send.To && l.msg == string(send.Msg) }
		if !slices.ContainsFunc(s.mail, same) {
			s.mail = append(s.mail, letter{from: me, to: send.To, msg: string(send.Msg)})
		}
	}
}

// matters reports whether a message can still change anything.
func (s *scene) matters(l letter) bool {
	r := s.all[l.to]
	if l.read || r.ended || r.isDead(l.from) {
		return false
	}
	m, _ := parseMessage([]byte(l.msg), len(s.all))
	switch m := m.(type) {
	case propose:
		return true
	case written:
		return r.coordinator != nil && m.epoch == r.coordinator.record.Epoch && m.version == r.coordinator.record.version() && !r.coordinator.committed
	case support:
		return m.epoch >= r.voter.promised && (r.coordinator == nil || r.coordinator.record.Epoch < m.epoch)
	}
	return false
}

// count notes a version that has come to count, and announces it at once: all leases are over.
func (s *scene) count(me int) {
	r := s.all[me]
	if r.coordinator == nil || !r.coordinator.committed || r.ended {
		return
	}
	if !slices.ContainsFunc(s.counted, r.coordinator.record.Dead.Equal) {
		s.counted = append(s.counted, r.coordinator.record.Dead.Clone())
	}
	if fresh := r.coordinator.record.Dead.Clone(); !fresh.SubsetOf(r.ring.Dead()) {
		fresh.Subtract(r.ring.Dead())
		r.agreed(fresh)
	}
}

// moves returns the possible next moves.
func (b *ballot) moves(s *scene) []move {
	var all []move
	for me, r := range s.all {
		if r.ended {
			continue
		}
		for i, counted := range s.counted {
			if !counted.SubsetOf(r.ring.Dead()) {
				all = append(all, move{kind: 'k', member: me, what: i})
			}
		}
		for e := r.voter.promised + 1; e <= b.epochs; e++ {
			all = append(all, move{kind: 'p', member: me, what: int(e)})
		}
		if r.coordinator == nil || !r.coordinator.committed || s.declared == b.coordinators {
			continue
		}
		for _, v := range b.victims[r.coordinator.record.Epoch] {
			if v != me && !r.coordinator.record.Dead.Has(v) {
				all = append(all, move{kind: 'd', member: me, what: v})
			}
		}
	}
	for i, l := range s.mail {
		if s.matters(l) {
			all = append(all, move{kind: 'm', member: l.to, what: i})
		}
	}
	return all
}

// key returns all that the future depends on.
func (s *scene) key() string {
	var b strings.Builder
	for _, r := range s.all {
		v := &r.voter
		fmt.Fprint(&b, r.ended, v.promised, v.record, v.candidate, r.ring.Dead())
		for m := range s.all {
			if record, ok := v.coordinators[m]; ok {
				fmt.Fprint(&b, m, record, record.Last)
			}
		}
		if h := r.coordinator; h != nil {
			fmt.Fprint(&b, h.record, h.record.Last, h.committed, h.wrote)
		}
		b.WriteByte('\n')
	}
	var mail []string
	for _, l := range s.mail {
		if s.matters(l) {
			mail = append(mail, fmt.Sprint(l.from, l.to, l.msg))
		}
	}
	slices.Sort(mail)
	fmt.Fprint(&b, mail, s.counted, s.declared)
	return b.String()
}

func (b *ballot) explore(t *testing.T, moves []move) {
	s := b.play(moves)
	key := s.key()
	if b.seen[key] {
		return
	}
	b.seen[key] = true
	b.states++
	for i, one := range s.counted {
		for _, other := range s.counted[:i] {
			require.True(t, one.SubsetOf(other) || other.SubsetOf(one), "dead %v counts, and dead %v, after %c", one, other, moves)
		}
	}
	for _, m := range b.moves(s) {
		b.explore(t, append(slices.Clip(moves), m))
	}
}

// TestF12VersionsAreAChain visits all that can come of two and of three coordinators among three
// voters, and of two among four, when each may declare and messages arrive in any order or
// never. With -seeds above the default four voters may lose more, which takes a minute.
func TestF12VersionsAreAChain(t *testing.T) {
	four := &ballot{members: 4, epochs: 1, victims: [][]int{{2}, {3}}, coordinators: 2}
	if *seeds > 60 {
		four.victims = [][]int{{2, 3}, {2, 3}}
	}
	for i, b := range []*ballot{
		{members: 3, epochs: 1, victims: [][]int{{1, 2}, {0, 2}}, coordinators: 2},
		{members: 3, epochs: 2, victims: [][]int{{2}, {0}, {0}}, coordinators: 2},
		four,
	} {
		if !longtest.Row(i, 3) {
			continue
		}
		b.seen = map[string]bool{}
		b.explore(t, nil)
		t.Logf("%d voters, epochs to %d, victims %v: %d states", b.members, b.epochs, b.victims, b.states)
	}
}
