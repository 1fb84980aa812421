package nodemem

import (
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// A Team is the memory of one series of a communicator on several nodes, for its members on this
// node. It implements onenode.Memory: member i is the i-th of these members. The leader waits for
// lines, and the other members wait for the decision word that the leader writes.
type Team struct{ *Series }

// TeamOf returns the group of the members of g with these ranks, which ascend and include the own
// rank.
func TeamOf(g *commstate.Group, ranks []int) commstate.Group {
	t := commstate.Group{UID: g.UID, Index: g.Index}
	for i, r := range ranks {
		t.Procs, t.Indices = append(t.Procs, g.Procs[r]), append(t.Indices, g.Indices[r])
		if r == g.Me {
			t.Me = i
		}
	}
	return t
}

// TeamTag returns the tag of the decision words of a team. It is 0 if the first member came later
// than the job, because its new memory was not prepared.
func TeamTag(t *commstate.Group, cameLater func(proc int) bool) uint32 {
	if t.Indices[0] == commstate.SpawnedIndex && cameLater(t.Procs[0]) {
		return 0
	}
	return t.Indices[0]
}

// Publish implements onenode.Memory.
func (t Team) Publish(slot int, seq uint64, l onenode.Line, long []byte) {
	t.Series.Publish(slot, seq, l, long)
	t.touch()
}

// Word implements onenode.Memory. This member waits on the word, unless it reads a line afterwards.
func (t Team) Word(slot int) uint64 {
	t.Awaits = t.words.Word(8 * t.place(slot))
	t.Stale = t.Series.Word(slot)
	return t.Stale
}

// Swap implements onenode.Memory.
func (t Team) Swap(slot int, old, new uint64) bool {
	swapped := t.Series.Swap(slot, old, new)
	if swapped {
		t.touch()
	}
	return swapped
}

func (t Team) touch() { t.n.Touched = append(t.n.Touched, t.g) }

// Teams returns the ranks of a communicator on several nodes by node, the nodes by least rank: it
// agrees in two levels. nodes are those of the processes. Nil where each node has one member: there
// is nothing to gain.
func Teams(g *commstate.Group, nodes []int) (teams [][]int) {
	at := map[int]int{}
	for r, q := range g.Procs {
		i, met := at[nodes[q]]
		if !met {
			i = len(teams)
			at[nodes[q]], teams = i, append(teams, nil)
		}
		teams[i] = append(teams[i], r)
	}
	if len(teams) == len(g.Procs) {
		return nil
	}
	return teams
}
