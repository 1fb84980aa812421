package treehost

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// FuzzLinks: after any messages of a child, a parent and the oracle the rule of an agent continues,
// and accepts only children with a tier greater than its own.
func FuzzLinks(f *testing.F) {
	me := &pb.Ref{Name: "a", Incarnation: 1, Addr: "x", Tier: 1}
	for _, m := range []proto.Message{
		&pb.Up{Kind: &pb.Up_Join{Join: &pb.Join{Child: me, Generation: 1, Parent: &pb.Ref{Name: "me"}}}},
		&pb.Up{Kind: &pb.Up_Join{Join: &pb.Join{Child: &pb.Ref{Name: "c", Tier: unplaced}, Parent: &pb.Ref{Name: "me", Incarnation: 1}}}},
		&pb.Up{Kind: &pb.Up_Join{Join: &pb.Join{Child: me, Generation: 2, Parent: &pb.Ref{Name: "me", Incarnation: 2}}}},
		&pb.Down{Kind: &pb.Down_Joined{Joined: &pb.Joined{Parent: me, Ancestors: &pb.Ancestors{NearestFirst: []*pb.Ref{me, me}}}}},
		&pb.Down{Kind: &pb.Down_Refused{Refused: &pb.Refused{Redirect: []*pb.Ref{me, {Tier: 1 << 31}}}}},
		&pb.Down{Kind: &pb.Down_Ancestors{Ancestors: &pb.Ancestors{NearestFirst: []*pb.Ref{{Name: "r"}}}}},
	} {
		data, err := proto.Marshal(m)
		assert.NoError(f, err)
		f.Add(data, data)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		rule := tree.NewLinks(tree.Config{Me: tree.Ref{ID: tree.ID{Name: "me", Incarnation: 1}, Tier: tree.Untiered}})
		rule.Step(tree.Start{})
		rule.Step(tree.Oracle{Root: &tree.Ref{ID: tree.ID{Name: "root", Incarnation: 1}}})
		for i, data := range [][]byte{first, second, first} {
			for _, ev := range events(data, mono.Time(i)*mono.Time(mono.Second)) {
				for _, a := range rule.Step(ev) {
					if accept, ok := a.(tree.Accept); ok {
						asked := ev.(tree.JoinAsked).Child
						assert.Equal(t, asked.ID, accept.Child)
						assert.True(t, asked.Tier == tree.Untiered || asked.Tier > rule.Tree().Me().Tier)
					}
				}
			}
			if at, ok := rule.Deadline(); ok {
				rule.Step(tree.Tick{Now: at})
			}
		}
	})
}

// events returns the events of the rule for a frame of a link.
func events(data []byte, now mono.Time) (list []tree.Event) {
	var up pb.Up
	if proto.Unmarshal(data, &up) == nil && up.GetJoin() != nil {
		j := up.GetJoin()
		list = append(list, tree.JoinAsked{Child: refOf(j.Child), Generation: j.Generation, Parent: refOf(j.Parent).ID})
	}
	var down pb.Down
	if proto.Unmarshal(data, &down) != nil {
		return list
	}
	switch {
	case down.GetJoined() != nil:
		m := down.GetJoined()
		list = append(list, tree.Joined{At: now, Parent: refOf(m.Parent), Generation: 1, Ancestors: refsOf(m.GetAncestors().GetNearestFirst()), Term: m.GetAncestors().GetTerm()})
	case down.GetRefused() != nil:
		list = append(list, tree.Declined{At: now, Generation: 1, Redirect: refsOf(down.GetRefused().Redirect)})
	case down.GetAncestors() != nil:
		refs := refsOf(down.GetAncestors().NearestFirst)
		list = append(list, tree.Listed{At: now, Generation: 1, Ancestors: refs, Term: down.GetAncestors().Term})
	}
	return list
}
