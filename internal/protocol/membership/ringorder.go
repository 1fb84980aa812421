package membership

import (
	"cmp"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// ringOrder returns the members in the order of the ring, from racks, the rack of each member
// (Config.Racks). Neighbours on the ring are in different racks unless one rack holds more than
// half of the members (B26). Then the members of that rack stand in runs of similar length: of k
// members with o outside, at most ⌈k/o⌉ are neighbours. Without racks the order is that of the
// members' numbers.
//
// A rack fails as a whole, with its switch or its power. Members of a failed rack that are
// neighbours on the ring are found one after the other, because only the last of them has a living
// observer (RDAEMON#, section 5.6; RR-9024, slide 32):
//
//	racks a a a a b b b b, b is lost (testdata/rack.txt)
//	ring 0 1 2 3 4 5 6 7    0 observes 7: 7 after one round, 6 after two, then 5 and 4 (B9)
//	ring 0 4 1 5 2 6 3 7    1 observes 4, 2 observes 5, 3 observes 6, 0 observes 7: one round
//
// Each member of the largest rack opens a block. The members of the other racks, rack by rack, are
// dealt to the blocks in turn. No other rack has more members than there are blocks, so each block
// has at most one member of each rack, and neighbours within a block differ in rack. The first
// member of a block follows a member of another rack if the block before has a second member; all
// blocks have one if the largest rack holds at most half of the members. Members that come late
// have the highest numbers and no known rack, so they are dealt last, and B26 holds without them.
func ringOrder(racks []int) []int {
	groups := groupByRack(racks)
	blocks := make([][]int, len(groups[0]))
	for b, member := range groups[0] {
		blocks[b] = []int{member}
	}
	others := slices.Concat(groups[1:]...)
	for i, member := range others {
		b := i % len(blocks)
		if len(others) < len(blocks) { // too few for all blocks: at equal distances
			b = i * len(blocks) / len(others)
		}
		blocks[b] = append(blocks[b], member)
	}
	order := slices.Concat(blocks...)
	first := slices.Index(order, Launcher)
	return slices.Concat(order[first:], order[:first])
}

// groupByRack returns the members of each rack, the largest rack first, and of racks of one size
// the rack with the lowest member. A member without a known rack is a rack of its own.
func groupByRack(racks []int) [][]int {
	var groups [][]int
	place := map[int]int{} // of a rack in groups; never iterated
	for member, rack := range racks {
		at, known := place[rack]
		if !known || rack == 0 {
			at = len(groups)
			groups = append(groups, nil)
			place[rack] = at
		}
		groups[at] = append(groups[at], member)
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}

// A ring is the failure detector of the ring, in terms of members. The detector numbers processes
// by their positions on the ring; a ring translates events, actions and sets.
type ring struct {
	detector *fd.Detector
	members  []int // by position; nil: positions are members
	position []int // by member
}

func newRing(cfg Config) ring {
	at := cfg.ring()
	var g ring
	if cfg.Racks != nil {
		g.members = ringOrder(cfg.Racks)
		g.position = make([]int, len(g.members))
		for position, member := range g.members {
			g.position[member] = position
		}
		at.Me = g.position[cfg.Me]
	}
	g.detector = fd.New(at)
	return g
}

// Step gives the detector an event about members, and returns its actions about members.
func (g *ring) Step(ev fd.Event) []fd.Action {
	if g.members == nil {
		return g.detector.Step(ev)
	}
	actions := g.detector.Step(g.toPositions(ev))
	for i, a := range actions {
		actions[i] = g.toMembers(a)
	}
	return actions
}

func (g *ring) toPositions(ev fd.Event) fd.Event {
	switch ev := ev.(type) {
	case fd.Receive:
		ev.From = g.position[ev.From]
		return ev
	case fd.Broken:
		return fd.Broken{Rank: g.position[ev.Rank]}
	case fd.Agreed:
		return fd.Agreed{Dead: renumber(ev.Dead, g.position)}
	case fd.Absent:
		return fd.Absent{Ranks: renumber(ev.Ranks, g.position)}
	case fd.Came:
		return fd.Came{Rank: g.position[ev.Rank]}
	}
	_, time := ev.(fd.Tick)
	must.That(time, "event %T is not of the ring between nodes", ev)
	return ev
}

func (g *ring) toMembers(a fd.Action) fd.Action {
	switch a := a.(type) {
	case fd.Send:
		a.To = g.members[a.To]
		return a
	case fd.Suspect:
		a.Rank = g.members[a.Rank]
		return a
	case fd.Declare:
		a.Rank = g.members[a.Rank]
		return a
	case fd.Anomaly:
		a.From = g.members[a.From]
		return a
	case fd.Fenced:
		if a.By >= 0 {
			a.By = g.members[a.By]
		}
		return a
	}
	must.That(false, "action %T is not of the ring between nodes", a)
	return nil
}

// Dead returns a copy of the set of members declared dead.
func (g *ring) Dead() rankset.Set {
	dead := g.detector.Dead()
	if g.members == nil {
		return dead
	}
	return renumber(dead, g.members)
}

// Emitter returns the member that is observed here, -1 if none.
func (g *ring) Emitter() int {
	emitter := g.detector.Emitter()
	if emitter < 0 || g.members == nil {
		return emitter
	}
	return g.members[emitter]
}

// Deadline returns when the detector next needs a Tick, if ever.
func (g *ring) Deadline() (mono.Time, bool) { return g.detector.Deadline() }

// renumber returns the set of the new numbers of all elements.
func renumber(set rankset.Set, to []int) rankset.Set {
	var all rankset.Set
	for element := range set.All() {
		all.Add(to[element])
	}
	return all
}
