package twolevel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Config describes a Series. All members give the same N, Nodes, Parent; those of one node the same
// Tag.
type Config struct {
	N, Me    int               // members of the group, and the rank of this member
	Nodes    [][]int           // ranks by node, ascending; each rank is on one node
	Memory   onenode.Memory    // this member's view of the memory of its node: member i is the i-th rank of the node
	Tag      uint32            // names the communicator in the decision words: see onenode.Memory
	Parent   func(pos int) int // tree of the nodes: see era.Config; nil: binary
	Watchdog mono.Duration     // of the messages between nodes: see era.Config; 0: off
}

// A Series is one member's side of all agreements of one numbered sequence.
type Series struct {
	n, me  int
	node   []int // ranks of this node, ascending
	place  int   // of this member among them
	memory onenode.Memory
	tag    uint32

	upper   *era.Series // the agreement of the nodes; only the leader proposes there
	leads   bool        // this member is the least of its node that has not stopped
	stopped rankset.Set // ranks of this node that are dead or have left, by its list
	dead    rankset.Set // deaths known here, from any source, as this member's contributions report

	entered   uint64      // agreements 1..entered have a line of this member
	decided   uint64      // agreements 1..decided are decided here
	queue     []era.Value // contributions to entered+1, entered+2, ..., held back by the window
	inherited uint64      // agreements 1..inherited may have been proposed by an earlier leader of this node

	out []era.Action // of the Step in progress
}

// NewSeries returns the member's side before the first agreement. The owner reports the present
// list of the node by Listed and Left, before the first Propose.
func NewSeries(cfg Config) *Series {
	must.That(cfg.Me >= 0 && cfg.Me < cfg.N, "rank %d of %d", cfg.Me, cfg.N)
	s := &Series{n: cfg.N, me: cfg.Me, memory: cfg.Memory, tag: cfg.Tag}
	for _, ranks := range cfg.Nodes {
		if i, here := slices.BinarySearch(ranks, cfg.Me); here {
			s.node, s.place = ranks, i
		}
	}
	s.leads = s.place == 0
	s.upper = era.NewSeries(era.Config{N: cfg.N, Me: cfg.Me, Teams: cfg.Nodes, Parent: cfg.Parent, Watchdog: cfg.Watchdog})
	return s
}

// Step applies one event and returns the actions that the owner must execute in order; the messages
// of an agreement come before its Decide. When Step returns, the memory holds the state from which
// the actions follow. The slice is valid until the next Step.
func (s *Series) Step(ev Event) []era.Action {
	s.out = s.out[:0]
	switch ev := ev.(type) {
	case Propose:
		s.propose(ev.Value)
	case Receive:
		s.stepUpper(era.Receive{From: ev.From, Seq: ev.Seq, Msg: ev.Msg})
	case Failed:
		s.learnDeath(ev.Rank)
	case Listed:
		s.learnDeath(ev.Rank)
		s.stop(ev.Rank, era.Failed{Rank: ev.Rank})
	case Left:
		s.stop(ev.Rank, era.Left{Rank: ev.Rank})
	case Look:
	case Tick:
		s.stepUpper(era.Tick{Now: ev.Now})
	}
	s.settle()
	return s.out
}

// Next returns the number that the next Propose gets. The first is 1.
func (s *Series) Next() uint64 { return s.entered + uint64(len(s.queue)) + 1 }

// Open returns how many agreements were proposed here and are not decided here.
func (s *Series) Open() int { return int(s.entered-s.decided) + len(s.queue) }

// Deadline returns when the Series next requires a Tick.
func (s *Series) Deadline() (mono.Time, bool) { return s.upper.Deadline() }

// propose queues this member's contribution to the next agreement.
func (s *Series) propose(v era.Value) {
	must.That(v.Acked.SubsetOf(s.dead), "rank %d acknowledges %v, known dead are %v", s.me, v.Acked, s.dead)
	for _, e := range v.Entries {
		must.That(len(e.Data) <= onenode.EntryMax && e.Rank == s.me, "an entry of %d bytes, of rank %d", len(e.Data), e.Rank)
	}
	v = v.Clone()
	v.From, v.Returned = rankset.Of(s.me), 0
	s.queue = append(s.queue, v)
}

func (s *Series) learnDeath(x int) {
	must.That(x >= 0 && x < s.n, "rank %d of %d died", x, s.n)
	if x != s.me {
		s.dead.Add(x)
	}
}

// stop records that the list of the node has rank x as dead or left. A member that becomes leader
// by that knows the contents of this node's memory, but none of the messages to and from the former
// leader: see lead.
func (s *Series) stop(x int, told era.Event) {
	must.That(x >= 0 && x < s.n, "rank %d of %d has stopped", x, s.n)
	if x == s.me {
		return
	}
	s.stepUpper(told)
	if slices.Contains(s.node, x) {
		s.stopped.Add(x)
	}
	if !s.leads && s.leader() == s.me {
		s.leads, s.inherited = true, s.entered
	}
}

// leader returns the least rank of this node that has not stopped.
func (s *Series) leader() int {
	for _, r := range s.node {
		if !s.stopped.Has(r) {
			return r
		}
	}
	panic("unreachable: this member lives")
}

// settle repeats the possible steps until none is left.
func (s *Series) settle() {
	for s.enter() || s.follow() || s.lead() {
	}
	must.That(s.entered <= s.decided+era.Window, "%d entered, %d decided", s.entered, s.decided)
}

// WaitsFor returns the ranks, ascending, on which this member depends before agreement seq can
// proceed here: those of its node that have not contributed; else its leader; and at the leader
// those that speak for other nodes. The result is nil if seq is decided here or not proposed here;
// for an agreement that the window holds back, or that is decided before an older one, the result
// is that of the oldest open agreement.
func (s *Series) WaitsFor(seq uint64) []int {
	if seq <= s.decided || seq >= s.Next() {
		return nil
	}
	if seq > s.entered {
		seq = s.decided + 1
	}
	if missing := s.missing(min(seq, s.upper.Next())); len(missing) > 0 {
		return missing
	}
	if !s.leads {
		return []int{s.leader()}
	}
	if ranks := s.upper.WaitsFor(seq); ranks != nil || seq == s.decided+1 {
		return ranks
	}
	return s.WaitsFor(s.decided + 1)
}

// Describe prints the state for a reader.
func (s *Series) Describe() string {
	var b strings.Builder
	role := "leader of"
	if !s.leads {
		role = fmt.Sprintf("led by %d in", s.leader())
	}
	fmt.Fprintf(&b, "rank %d of %d, %s %v: next %d, open %d, stopped here %v", s.me, s.n, role, s.node, s.Next(), s.Open(), s.stopped)
	for k := s.decided + 1; k <= s.entered; k++ {
		fmt.Fprintf(&b, "\n  agreement %d: waits for %v", k, s.WaitsFor(k))
	}
	if len(s.queue) > 0 {
		fmt.Fprintf(&b, "\n  held back by the window: %d", len(s.queue))
	}
	fmt.Fprintf(&b, "\n  nodes: %s", strings.ReplaceAll(s.upper.Describe(), "\n", "\n  "))
	return b.String()
}
