package repair

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// Report is what a process tells all others in Protect.
type Report struct {
	Node      int     // where it is
	Home      int     // whose memory it goes on with
	Epoch     uint64  // as Gather said
	Committed Label   // as Gather said, if that is Known; else what its memory had to Keep
	Known     bool    // as Gather said
	Members   uint64  // digest of what the program protects: names, types, options
	Held      []Held  // versions in memory that it can read
	Own       []Own   // what is never rolled back
	Files     []Label // versions that it knows to be in files
	Bad       []Label // versions in files that no process may restore: see Archive.Spoiled
}

// Held is what a process has of one version. Parity is of one placement of the ranks; who
// has parity of two (the second one was made in a Protect that failed) says so in two.
type Held struct {
	Label  Label
	Nodes  []int       // where the ranks were of the world that made it, or restored it since
	Data   rankset.Set // the ranks, of that world, whose parts are there
	Parity rankset.Set // the ranks whose share of the parity of this placement is there
}

// Own is a part that its home has saved for the Count-th time.
type Own struct {
	Home  int
	Count uint64
}

// Plan says what a Protect restores, and how.
type Plan struct {
	Source  Source
	Label   Label
	Epoch   uint64            // of this attempt
	Behind  bool              // Label is older than a committed version; with Verify only FromFiles
	Size    int               // FromMemory: of the world that made the version
	Nodes   []int             // FromMemory: where its ranks are, in the placement that the steps are of
	Servers []int             // FromMemory: Servers[o] is who gets old rank o's part
	Steps   []redundancy.Step // to bring the parts there
	Own     []redundancy.Send // to bring the own parts to who goes on with their homes; Owner is a home
	Saved   []uint64          // Saved[r]: how often the home of rank r has saved
	Copies  []redundancy.Step // afterwards, to make the layout whole again
	Layout  redundancy.Layout // of the present world
}

// Source is where a version comes from.
type Source int

// The sources, and the reasons to restore nothing.
const (
	FromMemory  Source = iota
	FromFiles          // published by a former job or attempt
	FromNowhere        // nothing was ever committed: initial values stand
	NoneWhole          // something was committed, and no version is whole
	Different          // processes protect different things
)

// choose makes the plan. The plan is a function of the configuration and the reports: the same at
// all processes that have the reports.
func (c *Config) choose(reports []Report) Plan {
	p := Plan{Epoch: nextEpoch(reports)}
	nodes := make([]int, len(reports))
	for q, r := range reports {
		nodes[q] = r.Node
		if r.Members != reports[0].Members {
			p.Source = Different
		}
	}
	p.Layout = c.layout(nodes)
	if p.Source == Different {
		return p
	}
	p.Own, p.Saved = ownMoves(reports), ownCounts(reports)
	p.pick(c, reports, nodes)
	return p
}

// nextEpoch returns an epoch above all that were seen.
func nextEpoch(reports []Report) uint64 {
	e := uint64(0)
	for _, r := range reports {
		e = max(e, r.Epoch)
		for _, h := range r.Held {
			e = max(e, h.Label.Epoch)
		}
		for _, l := range r.Files {
			e = max(e, l.Epoch)
		}
	}
	return e + 1
}

// pick takes the newest version that is whole in memory or published; with Verify the
// one right before it in memory, if that is whole, so that the replay can be compared.
func (p *Plan) pick(c *Config, reports []Report, nodes []int) {
	labels := labelsOf(reports)
	var spared *Plan // Verify: the newest version, in case that there is none before it
	for i := len(labels) - 1; i >= 0; i-- {
		try := *p
		switch {
		case spared != nil && !Replays(labels[i], spared.Label):
			continue // of another epoch, or what was left long ago on a node that ranks have come back to
		case try.fromMemory(c, reports, nodes, labels[i]):
			if !c.Verify || spared != nil {
				*p = try
				return
			}
			spared = &try
		case spared == nil && published(reports, labels[i]):
			p.Source, p.Label = FromFiles, labels[i]
			p.Behind = p.Label.Less(committed(reports))
			return
		}
	}
	switch {
	case spared != nil:
		*p = *spared
	case !committed(reports).IsZero():
		p.Source = NoneWhole
	default:
		p.Source = FromNowhere
	}
}

// committed returns the newest version that is known to be committed. Parts in memory alone
// say nothing: whoever dies in the very first Commit leaves some ranks with parts, and
// the initial values still stand.
//
// Where a Protect was agreed before, its members or their replacements know. Memory may say
// something else, if those who got a decision all died before the others came to another
// one. After a restart of all processes memory is all there is; there a second version
// also tells of a first.
func committed(reports []Report) Label {
	var newest Label
	for _, r := range reports {
		if r.Known {
			return r.Committed
		}
		if newest.Less(r.Committed) {
			newest = r.Committed
		}
		for _, h := range r.Held {
			before := Label{h.Label.Epoch, h.Label.Number - 1}
			if newest.IsZero() && h.Label.Number > 1 {
				newest = before
			}
		}
	}
	return newest
}

// Missing describes the loss if the reports lead to a plan with Source NoneWhole: the committed
// version, the number of its ranks, and the ranks whose data no process has. Without any data of
// that version size is 0.
func Missing(reports []Report) (label Label, size int, ranks []int) {
	label = committed(reports)
	var have rankset.Set
	for _, r := range reports {
		for _, h := range r.Held {
			if h.Label == label {
				size = max(size, len(h.Nodes))
				have.Union(h.Data)
			}
		}
	}
	for rank := range size {
		if !have.Has(rank) {
			ranks = append(ranks, rank)
		}
	}
	return label, size, ranks
}

// labelsOf returns the labels that anybody has anything of, the oldest first.
func labelsOf(reports []Report) []Label {
	var all []Label
	for _, r := range reports {
		for _, h := range r.Held {
			all = append(all, h.Label)
		}
		all = append(all, r.Files...)
	}
	slices.SortFunc(all, Label.compare)
	return slices.Compact(all)
}

// published says whether a version is in files, as far as is known, and nobody has failed to read
// it.
func published(reports []Report, l Label) bool {
	return slices.ContainsFunc(reports, func(r Report) bool { return slices.Contains(r.Files, l) }) &&
		!slices.ContainsFunc(reports, func(r Report) bool { return slices.Contains(r.Bad, l) })
}

// fromMemory plans to restore a version from what processes have of it. It returns false
// if it is not whole.
func (p *Plan) fromMemory(c *Config, reports []Report, nodes []int, label Label) bool {
	for _, old := range placements(reports, label) {
		have := holdings(reports, label, old)
		servers := redundancy.Servers(have, len(old))
		steps, whole := redundancy.Restore(c.layout(old), have, servers)
		if !whole {
			continue
		}
		p.Behind = label.Less(committed(reports)) && !c.Verify
		p.Source, p.Label, p.Size, p.Nodes, p.Servers, p.Steps = FromMemory, label, len(old), old, servers, steps
		have = holdings(reports, label, nodes)
		redundancy.Apply(have, steps)
		if len(old) == len(nodes) {
			p.Copies = redundancy.Complete(p.Layout, have)
			return true
		}
		// The program deals the elements out anew and commits at its next point. Until then
		// the old parts are what there is, and copies of them go where the partners of their
		// new holders are.
		p.Copies = redundancy.Cover(redundancy.Partners(nodes, p.Layout.Strength()), have, servers)
		return true
	}
	return false
}

// placements returns the different placements of which anybody has something of a version.
func placements(reports []Report, label Label) [][]int {
	var all [][]int
	for _, r := range reports {
		for _, h := range r.Held {
			known := slices.ContainsFunc(all, func(nodes []int) bool { return slices.Equal(nodes, h.Nodes) })
			if h.Label == label && !known {
				all = append(all, h.Nodes)
			}
		}
	}
	return all
}

// holdings returns who has what of a version. A part is the same in every placement; parity
// of one means nothing in another, where the groups have other members.
func holdings(reports []Report, label Label, nodes []int) redundancy.Holdings {
	have := redundancy.NewHoldings(len(reports))
	for q, r := range reports {
		for _, h := range r.Held {
			if h.Label != label {
				continue
			}
			have.Data[q].Union(h.Data)
			if slices.Equal(h.Nodes, nodes) {
				have.Parity[q].Union(h.Parity)
			}
		}
	}
	return have
}

// ownCounts returns of each rank how often its home has saved, as far as anybody knows.
func ownCounts(reports []Report) []uint64 {
	counts := make([]uint64, len(reports))
	for q, r := range reports {
		for _, other := range reports {
			for _, o := range other.Own {
				if o.Home == r.Home {
					counts[q] = max(counts[q], o.Count)
				}
			}
		}
	}
	return counts
}

// ownMoves brings the newest own part of each home to who goes on with that home. Where
// nobody does, From and To are the lowest rank that has it: its program takes it over.
func ownMoves(reports []Report) []redundancy.Send {
	var homes rankset.Set
	for _, r := range reports {
		for _, o := range r.Own {
			homes.Add(o.Home)
		}
	}
	var moves []redundancy.Send
	for home := range homes.All() {
		from, to, newest := -1, -1, uint64(0)
		for q, r := range reports {
			if r.Home == home {
				to = q
			}
			for _, o := range r.Own {
				better := from < 0 || o.Count > newest || o.Count == newest && r.Home == home
				if o.Home == home && better {
					from, newest = q, o.Count
				}
			}
		}
		switch {
		case to < 0:
			moves = append(moves, redundancy.Send{Owner: home, From: from, To: from})
		case to != from:
			moves = append(moves, redundancy.Send{Owner: home, From: from, To: to})
		}
	}
	return moves
}
