package commstate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/ulfm"
)

// member is the contribution of one member to a call that makes a
// communicator.
type member struct {
	rank       int // in the old communicator
	index      uint32
	color, key int // zero in a dup
	digest     uint64
	spawned    Spawned // the processes that the root of a spawn or a replace has started
}

// Spawned are the processes started for the root of a spawn. Their numbers are
// consecutive.
type Spawned struct {
	First, Count int
}

// SpawnedIndex is the context index that a spawned process has for the communicator that it shares
// with the processes that started it. The index is fixed, so the spawned process draws none and
// the others know it.
const SpawnedIndex = 1

// created returns the communicator of a dup, split or the like. The result is agreed, so all
// members get the communicator or none does (R56). The call fails if any member is agreed to be
// dead, acknowledged or not (R23), has left, or voted no.
func (g *Group) created(p Proposal, v era.Value) (*NewComm, error) {
	if !v.Dead.IsEmpty() {
		return nil, failed(p.Call, v.Dead)
	}
	if !v.Vetoes.IsEmpty() {
		return nil, vetoed(p, v.Vetoes)
	}
	if absent := g.absent(v); !absent.IsEmpty() {
		return nil, &ulfm.Error{Op: p.Call.Kind.String(), Ranks: absent.Slice(), Err: ulfm.ErrRevoked}
	}
	all := make([]member, g.Size())
	for rank := range all {
		m, err := contribution(p.Call, v, rank)
		if err != nil {
			return nil, err
		}
		all[rank] = m
	}
	if err := differing(p.Call, all); err != nil {
		return nil, err
	}
	color := all[g.Me].color
	if color == Undefined {
		return nil, nil
	}
	mine := slices.DeleteFunc(all, func(m member) bool { return m.color != color })
	slices.SortFunc(mine, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank))
	})
	nc := g.child(p, color, len(mine))
	for _, m := range mine {
		nc.join(g, m)
	}
	if p.Call.Kind == KindSpawn {
		nc.extend(all[p.Call.Root].spawned)
	}
	return nc, nil
}

// extend appends the started processes as the last ranks.
func (g *NewComm) extend(s Spawned) {
	for i := range s.Count {
		g.Procs = append(g.Procs, s.First+i)
		g.Indices = append(g.Indices, SpawnedIndex)
	}
}

// absent returns the members that did not contribute. Those that are not agreed to be dead have
// left: they have finalized, or they never joined g, because a revocation of the parent of g ended
// their call before g was decided there. In the second case the other members revoke g.
func (g *Group) absent(v era.Value) rankset.Set {
	absent := rankset.Range(0, g.Size())
	absent.Subtract(v.From)
	return absent
}

// child returns a new communicator that has no members yet and room for size of them.
func (g *Group) child(p Proposal, color, size int) *NewComm {
	return &NewComm{UID: ChildUID(g.UID, p.Call.Kind, p.Seq, color), Me: -1,
		Procs: make([]int, 0, size), Indices: make([]uint32, 0, size)}
}

// join makes a member of the parent the next rank.
func (g *NewComm) join(parent *Group, m member) {
	if m.rank == parent.Me {
		g.Me, g.Index = len(g.Procs), m.index
	}
	g.Procs = append(g.Procs, parent.Procs[m.rank])
	g.Indices = append(g.Indices, m.index)
}

// contribution decodes the contribution of a member. A missing or malformed contribution cannot
// come from a correct member. All members decode the same bytes and get the same error.
func contribution(call Call, v era.Value, rank int) (member, error) {
	m := member{rank: rank}
	i, ok := slices.BinarySearchFunc(v.Entries, rank, func(e era.Entry, r int) int { return cmp.Compare(e.Rank, r) })
	if !ok {
		return m, malformed(call, rank)
	}
	r := wire.NewReader(v.Entries[i].Data)
	m.index = uint32(r.Below(1 << 32))
	if call.Kind.digested() {
		m.digest = r.Uint64()
	}
	if call.Kind.placed() {
		m.color, m.key = r.Int(), r.Int()
	}
	if call.Kind.Starts() {
		m.spawned = Spawned{First: r.Below(rankset.RankMax), Count: r.Below(rankset.RankMax)}
	}
	if r.Done() != nil {
		return m, malformed(call, rank)
	}
	return m, nil
}

func malformed(call Call, rank int) error {
	err := fmt.Errorf("%w: rank %d contributed nothing that can be read", ErrMismatch, rank)
	return &ulfm.Error{Op: call.Kind.String(), Ranks: []int{rank}, Err: err}
}
