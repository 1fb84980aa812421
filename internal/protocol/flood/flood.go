package flood

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// A Config fixes one member's place in a group.
type Config struct {
	N     int // members of the group, at least 1
	Me    int // this member, in [0, N)
	Items int // items are ints in [0, Items)
	// Silent keeps the set and sends nothing: every member learns every item by other means, and
	// the caller would only drop the messages.
	Silent bool
}

// A Flood is one member of one group.
type Flood struct {
	cfg     Config
	have    rankset.Set // the set; only grows, except by Vacated
	closed  rankset.Set // members reported as Failed; only grows, except by Vacated and Came
	targets []int       // receivers of a set that grew: Neighbors(N, Me) ∪ nearest live neighbours, minus closed; ascending; nil while the set is empty
	out     []Action
}

// New returns a member that has no item yet.
func New(cfg Config) *Flood {
	must.That(0 <= cfg.Me && cfg.Me < cfg.N, "member %d of %d", cfg.Me, cfg.N)
	must.That(0 <= cfg.Items && cfg.Items <= rankset.RankMax+1, "%d items", cfg.Items)
	return &Flood{cfg: cfg}
}

// Step applies one event and returns, in order, the actions for the caller. The slice is valid
// until the next Step.
func (f *Flood) Step(ev Event) []Action {
	f.out = f.out[:0]
	switch ev := ev.(type) {
	case Publish:
		f.publish(ev.Items)
	case Note:
		f.merge(ev.Items)
	case Receive:
		f.receive(ev.From, ev.Msg)
	case Failed:
		f.failed(ev.Rank)
	case Compare:
		f.compare(ev.With, ev.Digest)
	case Came:
		f.came(ev.Rank)
	case Vacated:
		must.That(f.cfg.Silent, "member %d is vacated, and a message about it may be on its way", ev.Rank)
		f.closed.Remove(ev.Rank)
		f.have.Subtract(ev.Items)
	}
	return f.out
}

// Items returns a copy of the set.
func (f *Flood) Items() rankset.Set { return f.have.Clone() }

// Digest returns the digest of the set, which travels on other messages: see
// Compare.
func (f *Flood) Digest() uint64 { return f.have.Hash() }

func (f *Flood) publish(items rankset.Set) {
	if f.merge(items) {
		f.spread(f.cfg.Me)
	}
}

// spread sends the set to all targets but the member it came from.
func (f *Flood) spread(from int) {
	for _, to := range Order(f.cfg.N, f.cfg.Me, from, f.targets) {
		if to != from {
			f.send(to)
		}
	}
}

// receive merges the sender's set, forwards this member's set if it grew, and answers the sender if
// its message lacked an item (B2).
//
// An answer cannot start an endless exchange. Let m1 be a message from a to b, m2 be b's answer and
// m3 be a's answer to m2. Then m2 contains m1, and a answers m2 only if a has an item that m2
// lacks, hence has grown since it sent m1. So a chain of answers is at most as long as the number
// of growths at its two ends, plus one.
func (f *Flood) receive(from int, msg []byte) {
	f.checkPeer(from)
	if f.closed.Has(from) {
		return
	}
	r := wire.NewReader(msg)
	theirs := r.Set(f.cfg.Items)
	if err := r.Done(); err != nil {
		f.out = append(f.out, Anomaly{From: from, Text: "flood: " + err.Error()})
		return
	}
	grew, lacking := f.merge(theirs), !f.have.SubsetOf(theirs)
	if grew {
		f.spread(from)
	}
	if lacking {
		f.send(from)
	}
}

// failed closes a member and mends the ring round that member.
//
// Schedule without the mend, n = 6: the neighbours of 0 are 1, 2, 4 and 5. 0 publishes, and they
// die before they read the set. 3 never learns of it. With the mend, 0 finds that 3 has become its
// nearest live neighbour, and sends the set to 3.
func (f *Flood) failed(rank int) {
	f.checkPeer(rank)
	if !f.closed.Add(rank) || f.cfg.Silent {
		return
	}
	if f.have.IsEmpty() {
		return // most floods never carry an item
	}
	before := f.targets
	f.targets = f.findTargets()
	for _, to := range f.targets {
		// An old target has had every set since it became one.
		if _, old := slices.BinarySearch(before, to); !old {
			f.send(to)
		}
	}
}

// came opens a member, and sends the set that the member may have missed, if that member is a
// target now.
func (f *Flood) came(rank int) {
	f.checkPeer(rank)
	if !f.closed.Remove(rank) || f.cfg.Silent || f.have.IsEmpty() {
		return
	}
	f.targets = f.findTargets()
	if slices.Contains(f.targets, rank) {
		f.send(rank)
	}
}

func (f *Flood) compare(with int, digest uint64) {
	f.checkPeer(with)
	if !f.closed.Has(with) && digest != f.Digest() {
		f.send(with)
	}
}

// merge adds items to the set, delivers the new ones and reports whether there are any.
func (f *Flood) merge(items rankset.Set) bool {
	must.That(items.Next(f.cfg.Items) < 0, "items %v, want below %d", items, f.cfg.Items)
	fresh := items.Clone()
	fresh.Subtract(f.have)
	if !f.have.Union(fresh) {
		return false
	}
	if f.targets == nil && !f.cfg.Silent {
		f.targets = f.findTargets()
	}
	f.out = append(f.out, Deliver{Items: fresh})
	return true
}

func (f *Flood) send(to int) {
	must.That(!f.closed.Has(to) && to != f.cfg.Me, "send to %d, closed are %v", to, f.closed)
	if !f.cfg.Silent {
		f.out = append(f.out, Send{To: to, Msg: wire.AppendSet(nil, f.have)})
	}
}

func (f *Flood) findTargets() []int {
	targets := Neighbors(f.cfg.N, f.cfg.Me)
	for _, step := range []int{1, -1} {
		if near := f.nearest(step); near != f.cfg.Me {
			targets = append(targets, near)
		}
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	return slices.DeleteFunc(targets, f.closed.Has)
}

// nearest returns the first live member on the ring in the direction of step, which is this member
// itself when it is alone.
func (f *Flood) nearest(step int) int {
	n := f.cfg.N
	r := (f.cfg.Me + step + n) % n
	for r != f.cfg.Me && f.closed.Has(r) {
		r = (r + step + n) % n
	}
	return r
}

func (f *Flood) checkPeer(rank int) {
	must.That(0 <= rank && rank < f.cfg.N && rank != f.cfg.Me, "member %d of %d named peer %d", f.cfg.Me, f.cfg.N, rank)
}
