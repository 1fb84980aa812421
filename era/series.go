package era

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Window is W: at most W agreements of a series are open here at once. Agreement k starts when all
// up to k-Window are decided here (A12, A16). Then every member that has entered k has all
// decisions up to k-Window, so the tree for k can depend on these decisions; and no member is more
// than Window agreements ahead of a living member, which bounds the memory for early messages (A3).
const Window = 16

// Config describes a Series. All members give the same N, Teams and Parent.
type Config struct {
	N, Me    int               // members of the group, and the rank of this member
	Teams    [][]int           // ranks by participant, ascending, each rank in one; nil: each rank is a participant
	Dead     rankset.Set       // deaths already known
	Parent   func(pos int) int // tree of the participants, over positions 0, 1, ...: the parent, less than pos; -1 for 0. nil: binary
	Watchdog mono.Duration     // rule 9: an agreement that stands still for one to two of these sends again; 0: off
}

// A Series is one member's side of all agreements of one numbered sequence. The agreements of a
// communicator form three sequences: repair, create and close (package commstate).
type Series struct {
	member
	ranks    int // members of the group: N of Config
	rank     int // rank of this member: Me of Config
	shape    *shape
	watchdog mono.Duration
	wake     mono.Time // when the watchdog checks next

	entered uint64    // agreements 1..entered are entered here
	queue   []Propose // contributions to entered+1, entered+2, ..., held back by the window
	decided uint64    // agreements 1..decided are decided here
	open    int       // proposed here and not decided here

	// records[i] is agreement low+i, nil if nothing is known of that agreement. All below low were
	// forgotten: every living member has their decision.
	records []*agreement
	low     uint64

	// agreedDead[k%Window] is the dead set decided in agreement k. The set is read when agreement
	// k+Window is entered, and overwritten by the decision of that agreement.
	agreedDead [Window]rankset.Set
	gone       rankset.Set // ranks agreed dead in 1..entered-Window: not in the tree
	tree       *tree       // for agreement entered
}

// NewSeries returns the member's side before the first agreement.
func NewSeries(cfg Config) *Series {
	must.That(cfg.Me >= 0 && cfg.Me < cfg.N, "rank %d of %d", cfg.Me, cfg.N)
	t := newTeams(cfg.Teams, cfg.N)
	n := t.participants(cfg.N)
	s := &Series{
		member:   member{n: n, me: t.participant(cfg.Me), teams: t},
		ranks:    cfg.N,
		rank:     cfg.Me,
		shape:    newShape(cfg.Parent, n),
		watchdog: cfg.Watchdog,
		low:      1,
	}
	s.tree = newTree(s.shape, s.n, s.gone)
	for r := range cfg.Dead.All() {
		s.failed(r)
	}
	return s
}

// Step applies one event and returns the actions that the owner must execute in order. The slice is
// valid until the next Step.
func (s *Series) Step(ev Event) []Action {
	s.out = s.out[:0]
	switch ev := ev.(type) {
	case Propose:
		s.propose(ev)
	case Receive:
		s.receive(ev)
	case Failed:
		s.failed(ev.Rank)
	case Left:
		s.close(ev.Rank)
	case Learned:
		s.learned(ev)
	case Tick:
		s.tick(ev.Now)
	}
	s.settle()
	return s.out
}

// Next returns the number that the next Propose gets. The first is 1.
func (s *Series) Next() uint64 { return s.entered + uint64(len(s.queue)) + 1 }

// Open returns how many agreements were proposed here and are not decided here.
func (s *Series) Open() int { return s.open }

// Decision returns the result of agreement seq, if that is decided here and not yet forgotten.
func (s *Series) Decision(seq uint64) (Value, bool) {
	a := s.record(seq)
	if a == nil || a.state != decided {
		return Value{}, false
	}
	return a.value.Clone(), true
}

// propose queues this member's contribution to the next agreement.
func (s *Series) propose(ev Propose) {
	v := ev.Value.Clone()
	if s.teams == nil {
		must.That(v.Acked.SubsetOf(s.dead), "rank %d acknowledges %v, known dead are %v", s.me, v.Acked, s.dead)
		v.From, v.Dead = rankset.Of(s.me), rankset.Set{}
	}
	must.That(v.From.Has(s.rank), "rank %d contributes for %v", s.rank, v.From)
	s.queue = append(s.queue, Propose{Value: v, Again: ev.Again})
	s.open++
}

// learned enters agreement entered+1 as a decided agreement.
func (s *Series) learned(ev Learned) {
	must.That(ev.Seq == s.Next() && len(s.queue) == 0, "rank %d learns agreement %d, next is %d", s.rank, ev.Seq, s.Next())
	s.entered++
	s.open++
	s.regrow()
	s.touch(s.entered).learn(ev.Value.Clone(), s.tree)
}

// settle books decided agreements and enters the queued ones that the window admits, until neither
// is left: in a group of one member, entering decides at once.
func (s *Series) settle() {
	for {
		for _, a := range s.settled {
			s.book(a)
		}
		s.settled = s.settled[:0]
		if len(s.queue) == 0 || s.entered+1 > s.decided+Window {
			break
		}
		s.enter()
	}
	if must.Costly {
		s.check()
	}
}

// enter starts agreement entered+1 with the oldest queued contribution.
func (s *Series) enter() {
	own := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	s.entered++
	s.regrow()
	own.Value.Returned = s.decided + 1
	s.touch(s.entered).enter(own.Value, s.tree, own.Again)
}

// regrow makes the tree for agreement entered: without the dead agreed up to
// entered-Window (A12; "tree rebalancing" of ERA, section 3).
//
// Why not all that this member knows to be agreed? Schedule: agreements 1 and 2 are
// open; 1 is decided with 0 dead. Some members enter 3 before they get that
// decision and some after: in two different trees each may wait for the other.
func (s *Series) regrow() {
	leaving := s.agreedDead[s.entered%Window] // of agreement entered-Window; empty if there is none
	if s.gone.Union(leaving) {
		s.gone.Remove(s.rank) // agreed dead and still running: about to be fenced, needs any tree at all
		s.tree = newTree(s.shape, s.n, s.teams.within(s.gone))
	}
}

// book records that a was decided and forgets decisions that no member can request any more.
func (s *Series) book(a *agreement) {
	s.open--
	s.agreedDead[a.seq%Window] = a.value.Dead
	for r := s.record(s.decided + 1); r != nil && r.state == decided; r = s.record(s.decided + 1) {
		s.decided++
	}
	s.forget(a.value.Returned)
}

// forget drops the decisions below returned (rule 8, A14): each living member took part in the
// agreement that returned this bound (participation), with its own "all below are decided here".
// The decision just taken is never among them.
func (s *Series) forget(returned uint64) {
	returned = min(returned, s.decided+1) // only a member agreed dead can be behind
	if returned <= s.low {
		return
	}
	s.records = slices.Delete(s.records, 0, int(returned-s.low))
	s.low = returned
}

// receive handles one message.
func (s *Series) receive(ev Receive) {
	if !s.isPeer(ev.From) {
		s.anomaly(ev.From, "message from rank %d, which is no peer of %d among %d", ev.From, s.rank, s.ranks)
		return
	}
	if s.isClosed(ev.From) {
		return // A6: messages of a closed member are dropped, those in flight included
	}
	m, err := DecodeMessage(ev.Msg, s.ranks)
	if err != nil {
		s.anomaly(ev.From, "agreement %d: %v", ev.Seq, err)
		return
	}
	if !s.admit(ev, m) {
		return
	}
	p, moved := s.teams.hear(ev.From)
	s.deliver(s.touch(ev.Seq), p, m)
	if moved {
		s.succeeded(p)
	}
}

// admit reports whether m can be of use, and adds an Anomaly for a message that should not exist.
func (s *Series) admit(ev Receive, m Message) bool {
	switch {
	case ev.Seq == 0:
		s.anomaly(ev.From, "there is no agreement 0")
	case ev.Seq < s.low:
		// Collected. No answer is made up (A14), and nobody alive needs one: by rule
		// 8 the sender has decided since. The message was just slow. Schedule: 3 dies,
		// 7 sends its contribution to 5 again, to 1, on a slow channel, and decides by
		// a DOWN that 3 had sent; agreements from 5+Window on have a tree without 3 in
		// which 7 is no child of 1, and collect 5 before that contribution arrives.
	case ev.Seq > s.entered+Window:
		s.anomaly(ev.From, "agreement %d is beyond the window, %d are entered here", ev.Seq, s.entered)
	case !valid(ev, m):
		s.anomaly(ev.From, "agreement %d: impossible message %v", ev.Seq, m)
	default:
		return true
	}
	return false
}

// valid reports whether a member can have sent m.
func valid(ev Receive, m Message) bool {
	switch m := m.(type) {
	case Up:
		return m.Value.From.Has(ev.From) && returnedInWindow(m.Value.Returned, ev.Seq)
	case Down:
		return returnedInWindow(m.Value.Returned, ev.Seq)
	}
	return true
}

// returnedInWindow reports whether members can have entered agreement seq with returned as the
// oldest decision that any of them still lacked: each has entered seq, so each had all decisions up
// to seq-Window. A value from further back would keep every decision for ever: a Series forgets
// what is below the lowest Returned of a decision.
func returnedInWindow(returned, seq uint64) bool {
	return returned >= 1 && returned <= seq && seq-returned < Window
}

// deliver hands m to its agreement.
func (s *Series) deliver(a *agreement, from int, m Message) {
	switch m := m.(type) {
	case Up:
		a.up(from, m.Value)
	case Down:
		a.down(from, m.Value)
	case ResultRequest:
		a.request(from)
	}
}

// failed adds rank x to the dead that this member reports, and closes x.
func (s *Series) failed(x int) {
	if x != s.rank {
		s.dead.Add(x)
	}
	s.close(x)
}

// close drops later messages of rank x, skips its participant if x was the last rank of that, and
// makes every agreement react. Closing comes first: an UP sent as a reaction must not cross a late
// DOWN of x (A6).
func (s *Series) close(x int) {
	must.That(x >= 0 && x < s.ranks, "rank %d of %d died", x, s.ranks)
	if x == s.rank || s.isClosed(x) {
		return
	}
	x, gone, moved := s.teams.stop(x)
	if moved {
		s.succeeded(x)
	}
	if !gone {
		return
	}
	s.closed.Add(x)
	for _, a := range s.records {
		if a != nil {
			a.failed(x)
		}
	}
}

// succeeded makes every agreement react to a new speaker of participant p.
func (s *Series) succeeded(p int) {
	for _, a := range s.records {
		if a != nil {
			a.succeeded(p)
		}
	}
}

// isClosed reports whether a rank is dead or has left, as far as this member knows.
func (s *Series) isClosed(rank int) bool {
	if s.teams == nil {
		return s.closed.Has(rank)
	}
	return s.teams.stopped.Has(rank)
}

// Deadline returns when the Series next requires a Tick: never with the watchdog off or nothing
// open.
func (s *Series) Deadline() (mono.Time, bool) { return s.wake, s.watchdog > 0 && s.open > 0 }

// tick runs the watchdog (rule 9). The first check marks an agreement. The second check, if nothing
// has happened in between, makes the agreement send again: so no event needs to carry the time.
func (s *Series) tick(now mono.Time) {
	if s.watchdog == 0 || now < s.wake {
		return
	}
	s.wake = now.Add(s.watchdog)
	for _, a := range s.records {
		if a == nil || a.state == decided {
			continue
		}
		if a.idle {
			a.remind()
		}
		a.idle = true
	}
}

// WaitsFor returns the ranks, ascending, from which this member needs a message before agreement
// seq can proceed here: nil if seq is decided here or not proposed here. For an agreement that the
// window holds back, the result is that of the oldest open agreement.
func (s *Series) WaitsFor(seq uint64) []int {
	if seq > s.entered && seq < s.Next() {
		seq = s.decided + 1
	}
	a := s.record(seq)
	if a == nil {
		return nil
	}
	return a.waitsFor()
}

// Describe prints the state for a reader: one line for the member, one for each stored agreement.
func (s *Series) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d of %d: next %d, open %d, closed %v", s.rank, s.ranks, s.Next(), s.open, s.closedRanks())
	if !s.gone.IsEmpty() {
		fmt.Fprintf(&b, ", not in the tree %v", s.gone)
	}
	for _, a := range s.records {
		if a != nil {
			fmt.Fprintf(&b, "\n  %v", a)
		}
	}
	if len(s.queue) > 0 {
		fmt.Fprintf(&b, "\n  held back by the window: %d", len(s.queue))
	}
	return b.String()
}

// closedRanks returns the ranks for which isClosed.
func (s *Series) closedRanks() rankset.Set {
	if s.teams == nil {
		return s.closed
	}
	return s.teams.stopped
}

// isPeer reports whether a rank belongs to another participant.
func (s *Series) isPeer(rank int) bool {
	return rank >= 0 && rank < s.ranks && s.teams.participant(rank) != s.me
}

// record returns the record of agreement seq, or nil.
func (s *Series) record(seq uint64) *agreement {
	if seq < s.low || seq-s.low >= uint64(len(s.records)) {
		return nil
	}
	return s.records[seq-s.low]
}

// touch returns the record of agreement seq, which is not below low, and creates the record at the
// first message or contribution (A3).
func (s *Series) touch(seq uint64) *agreement {
	for s.low+uint64(len(s.records)) <= seq {
		s.records = append(s.records, nil)
	}
	at := &s.records[seq-s.low]
	if *at == nil {
		*at = &agreement{member: &s.member, seq: seq, parent: -1}
	}
	return *at
}

// check asserts the invariants between Steps.
func (s *Series) check() {
	must.That(s.entered <= s.decided+Window, "%d entered, %d decided", s.entered, s.decided)
	must.That(len(s.records) <= 3*Window, "%d records", len(s.records))
	for _, a := range s.records {
		if a == nil {
			continue
		}
		must.That(a.state != gathering || !a.complete(), "agreement %d is ready and was left: %v", a.seq, a)
		must.That((a.state == waiting) == (a.parent >= 0), "agreement %d: %v", a.seq, a)
		must.That(a.parent < 0 || !s.closed.Has(a.parent), "agreement %d waits for a closed member: %v", a.seq, a)
	}
}
