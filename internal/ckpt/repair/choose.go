package repair

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// Report is the contribution of a process to the exchange in Protect.
type Report struct {
	Node      int     // of the process
	Home      int     // the home that the process uses
	Epoch     uint64  // from Gather
	Committed Label   // from Gather if that is Known; else from the Keep in its memory
	Known     bool    // from Gather
	Members   uint64  // digest of the description of the protected data: names, types, options
	Held      []Held  // versions in memory that the process can read
	Own       []Own   // parts that are never rolled back
	Files     []Label // versions that the process knows to be in files
	Bad       []Label // versions in files that no process may restore: see Archive.Spoiled
}

// Held lists the data of one version that a process has. Parity belongs to one placement of the
// ranks. A process with parity of two placements (the second was made in a Protect that failed) has
// two entries.
type Held struct {
	Label  Label
	Nodes  []int       // of the ranks of the world that made the version, or restored it since
	Data   rankset.Set // the ranks, of that world, whose parts are there
	Parity rankset.Set // the ranks whose share of the parity of this placement is there
}

// Own is a part that its home has saved for the Count-th time.
type Own struct {
	Home  int
	Count uint64
}

// Plan describes the data that a Protect restores, and the steps to do so.
type Plan struct {
	Source  Source
	Label   Label
	Epoch   uint64            // of this attempt
	Behind  bool              // Label is older than a committed version; with Verify only FromFiles
	Size    int               // FromMemory: of the world that made the version
	Nodes   []int             // FromMemory: nodes of its ranks, in the placement that the steps use
	Servers []int             // FromMemory: Servers[o] is the process that gets old rank o's part
	Steps   []redundancy.Step // bring the parts there
	Own     []redundancy.Send // bring own parts to the processes that use their homes; Owner is a home
	Saved   []uint64          // Saved[r]: number of saves of the home of rank r
	Copies  []redundancy.Step // afterwards: make the layout whole again
	Layout  redundancy.Layout // of the present world
}

// Source is the source of a version.
type Source int

// The sources, and the reasons to restore nothing.
const (
	FromMemory  Source = iota
	FromFiles          // published by a former job or attempt
	FromNowhere        // nothing was ever committed: the initial values are valid
	NoneWhole          // a version was committed, and no version is whole
	Different          // processes protect different data
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

// nextEpoch returns an epoch above all epochs in the reports.
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

// pick takes the newest version that is whole in memory or published. With Verify it takes the
// version right before that one in memory, if it is whole, so that the replay can be compared.
func (p *Plan) pick(c *Config, reports []Report, nodes []int) {
	labels := labelsOf(reports)
	var spared *Plan // Verify: the newest version, used if none right before it is whole
	for i := len(labels) - 1; i >= 0; i-- {
		try := *p
		switch {
		case spared != nil && !Replays(labels[i], spared.Label):
			continue // not right before it: left long ago on a node to which ranks have returned
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
// prove nothing: a death in the very first Commit leaves some ranks with parts, and the
// initial values are still valid.
//
// If a Protect was agreed before, its members or their replacements know the version. The memory
// may name another one, if all processes with a decision died before the others came to another
// decision. After a restart of all processes only the memory is left. There a second version also
// proves a first.
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

// labelsOf returns the labels of which any process has any data, the oldest first.
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

// published reports whether a version is known to be in files, and no process has failed to read
// it.
func published(reports []Report, l Label) bool {
	return slices.ContainsFunc(reports, func(r Report) bool { return slices.Contains(r.Files, l) }) &&
		!slices.ContainsFunc(reports, func(r Report) bool { return slices.Contains(r.Bad, l) })
}

// fromMemory plans to restore a version from the data in the memory of processes. It returns false
// if the version is not whole.
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
		// The program redistributes the elements and commits at its next point. Until then only
		// the old parts exist, and their copies are kept by the partners of their new holders.
		p.Copies = redundancy.Cover(redundancy.Partners(nodes, p.Layout.Strength()), have, servers)
		return true
	}
	return false
}

// placements returns the different placements in which any process has data of a version.
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

// holdings returns the data of a version at each process. A part is the same in every placement.
// Parity of one placement is useless in another, where the groups have other members.
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

// ownCounts returns for each rank the greatest known number of saves of its home.
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

// ownMoves brings the newest own part of each home to the process that uses this home. If no
// process does, From and To are the lowest rank that has the part: its program takes the part over.
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
