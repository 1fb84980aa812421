package commstate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// group is the communicator of processes 10, 11, ... as seen by rank me.
func group(n, me int) *Group {
	g := &Group{Index: uint32(me), UID: WorldUID(n), Me: me}
	for r := range n {
		g.Procs = append(g.Procs, 10+r)
		g.Indices = append(g.Indices, uint32(r))
	}
	return g
}

// value is the decision of the members if rank r contributes propose(r); the ranks in
// absent contribute nothing.
func value(n int, absent rankset.Set, propose func(r int) Propose) era.Value {
	var v era.Value
	for r := range n {
		if absent.Has(r) {
			continue
		}
		ev := propose(r)
		claim := era.Claim{Call: ev.Call.code(), Rank: r}
		w := era.Value{From: rankset.Of(r), Lo: claim, Hi: claim, Flag: ev.Flag}
		if ev.Veto {
			w.Vetoes = rankset.Of(r)
		} else if ev.Call.DrawsIndex() {
			w.Entries = []era.Entry{{Rank: r, Data: encodePayload(ev)}}
		}
		v.Merge(w)
	}
	return v
}

func proposal(k Kind) Proposal {
	return Proposal{Call: Call{Kind: k}, Series: k.Series(), Seq: 3}
}

func same(k Kind) func(r int) Propose {
	return func(r int) Propose {
		return Propose{Call: Call{Kind: k}, Flag: ^uint64(0), Index: uint32(100 + r)}
	}
}

// TestR30AgreeFlagWithError: the flag is valid with the error, and the error
// names the deaths that some member had not acknowledged.
func TestR30AgreeFlagWithError(t *testing.T) {
	v := value(5, rankset.Of(1, 4), same(KindAgree))
	v.Flag, v.Dead, v.Acked = 6, rankset.Of(1, 4), rankset.Of(1)
	for me := range 5 {
		out := group(5, me).Outcome(proposal(KindAgree), v)
		var e *ulfm.Error
		if out.Flag != 6 || !errors.As(out.Err, &e) || !errors.Is(e, ulfm.ErrProcFailed) || !slices.Equal(e.Ranks, []int{4}) || !slices.Equal(out.Dead, []int{1, 4}) {
			t.Errorf("rank %d: %+v", me, out)
		}
	}
	v.Acked = rankset.Of(1, 4)
	if out := group(5, 0).Outcome(proposal(KindAgree), v); out.Err != nil {
		t.Error(out.Err)
	}
}

// TestAgreeFailedNeverFails: the dead are its result.
func TestAgreeFailedNeverFails(t *testing.T) {
	v := value(3, rankset.Of(1), same(KindAgreeFailed))
	v.Dead = rankset.Of(1)
	if out := group(3, 2).Outcome(proposal(KindAgreeFailed), v); out.Err != nil || !slices.Equal(out.Dead, []int{1}) {
		t.Errorf("%+v", out)
	}
}

// TestMismatchNamesBothCalls, at all members the same two.
func TestMismatchNamesBothCalls(t *testing.T) {
	v := value(4, rankset.Set{}, func(r int) Propose {
		return Propose{Call: Call{Kind: []Kind{KindAgree, KindAgree, KindShrink, KindAgree}[r]}}
	})
	for me, kind := range []Kind{KindAgree, KindAgree, KindShrink, KindAgree} {
		err := group(4, me).Outcome(proposal(kind), v).Err
		var e *ulfm.Error
		if !errors.Is(err, ErrMismatch) || !errors.As(err, &e) || !slices.Equal(e.Ranks, []int{0, 2}) ||
			!strings.Contains(err.Error(), "rank 0 called agree, rank 2 called shrink") {
			t.Errorf("rank %d: %v", me, err)
		}
	}
	roots := value(2, rankset.Set{}, func(r int) Propose { return Propose{Call: Call{Kind: KindAgree, Root: r}} })
	if err := group(2, 0).Outcome(proposal(KindAgree), roots).Err; !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "agree(root 1)") {
		t.Errorf("different roots: %v", err)
	}
}

// TestR39ShrinkOrder: the result has the old order. Agreed dead members are out, also if they
// contributed; so are members that never joined the communicator.
func TestR39ShrinkOrder(t *testing.T) {
	v := value(6, rankset.Of(2, 3), same(KindShrink))
	v.Dead = rankset.Of(2, 5)
	for _, me := range []int{0, 1, 4} {
		p := proposal(KindShrink)
		p.Index = uint32(100 + me)
		nc := group(6, me).Outcome(p, v).New
		if nc == nil || !slices.Equal(nc.Procs, []int{10, 11, 14}) || !slices.Equal(nc.Indices, []uint32{100, 101, 104}) ||
			nc.Procs[nc.Me] != 10+me || nc.Index != uint32(100+me) {
			t.Errorf("rank %d: %+v", me, nc)
		}
	}
}

// TestSplitIsASort compares the result with a sort by key, then old rank, within each color.
func TestSplitIsASort(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(9)
		color, key := make([]int, n), make([]int, n)
		for r := range n {
			color[r], key[r] = rng.IntN(4)-1, rng.IntN(3)-1
			if color[r] < 0 {
				color[r] = Undefined
			}
		}
		v := value(n, rankset.Set{}, func(r int) Propose {
			return Propose{Call: Call{Kind: KindSplit}, Index: uint32(r), Color: color[r], Key: key[r]}
		})
		uids := map[UID]int{}
		for me := range n {
			out := group(n, me).Outcome(proposal(KindSplit), v)
			if color[me] == Undefined {
				if out.New != nil || out.Err != nil {
					t.Fatalf("undefined: %+v", out)
				}
				continue
			}
			var want []int
			for k := -1; k <= 1; k++ {
				for r := range n {
					if color[r] == color[me] && key[r] == k {
						want = append(want, 10+r)
					}
				}
			}
			if !slices.Equal(out.New.Procs, want) || out.New.Procs[out.New.Me] != 10+me {
				t.Fatalf("seed %d: %v, want %v", seed, out.New.Procs, want)
			}
			if other, ok := uids[out.New.UID]; ok && other != color[me] {
				t.Fatalf("colors %d and %d share a uid", other, color[me])
			}
			uids[out.New.UID] = color[me]
		}
	}
}

// TestCreateFailsAtAll: a creation fails at all members because of a death, acknowledged or not;
// a veto; a member that never joined the communicator; a contribution that cannot be decoded.
func TestCreateFailsAtAll(t *testing.T) {
	dead := value(3, rankset.Of(1), same(KindDup))
	dead.Dead, dead.Acked = rankset.Of(1), rankset.Of(1)
	veto := value(3, rankset.Set{}, func(r int) Propose { return Propose{Call: Call{Kind: KindDup}, Veto: r == 1} })
	absent := value(3, rankset.Of(1), same(KindDup))
	broken := value(3, rankset.Set{}, same(KindDup))
	broken.Entries[1].Data = []byte{0xff}
	for _, c := range []struct {
		name  string
		v     era.Value
		class error
	}{{"dead", dead, ulfm.ErrProcFailed}, {"veto", veto, ErrPeerArgument}, {"absent", absent, ulfm.ErrRevoked}, {"broken", broken, ErrMismatch}} {
		for me := range 3 {
			out := group(3, me).Outcome(proposal(KindDup), c.v)
			var e *ulfm.Error
			if !errors.Is(out.Err, c.class) || !errors.As(out.Err, &e) || !slices.Equal(e.Ranks, []int{1}) || out.New != nil {
				t.Errorf("%s, rank %d: %+v", c.name, me, out)
			}
		}
	}
}

// TestCreateIsForTheGroup: the result has the members of the group in its order, whichever other
// members take part.
func TestCreateIsForTheGroup(t *testing.T) {
	chosen := []int{3, 0, 2}
	v := value(5, rankset.Set{}, func(r int) Propose {
		key := slices.Index(chosen, r)
		color := 0
		if key < 0 {
			color = Undefined
		}
		return Propose{Call: Call{Kind: KindCreate}, Index: uint32(r), Color: color, Key: key, Digest: Digest(chosen...)}
	})
	for me := range 5 {
		out := group(5, me).Outcome(proposal(KindCreate), v)
		if member := slices.Contains(chosen, me); out.Err != nil || (out.New != nil) != member || member && !slices.Equal(out.New.Procs, []int{13, 10, 12}) {
			t.Errorf("rank %d: %v", me, out)
		}
	}
}

// TestDifferentArgumentsFailAtAll: the error is the same at all members, and names rank 0 and the
// first rank that differs from it.
func TestDifferentArgumentsFailAtAll(t *testing.T) {
	for _, kind := range []Kind{KindCreate, KindCart, KindGraph, KindCreateGroup} {
		for odd := 1; odd < 4; odd++ {
			v := value(4, rankset.Set{}, func(r int) Propose {
				return Propose{Call: Call{Kind: kind}, Digest: Digest(1, 2, bit(r >= odd))}
			})
			for me := range 4 {
				out := group(4, me).Outcome(proposal(kind), v)
				var e *ulfm.Error
				if !errors.Is(out.Err, ErrMismatch) || !errors.As(out.Err, &e) || !slices.Equal(e.Ranks, []int{0, odd}) || out.New != nil {
					t.Errorf("%v, rank %d: %v", kind, me, out)
				}
			}
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestMergeIsOfTwoGroups: the members of each group must contribute the same order.
func TestMergeIsOfTwoGroups(t *testing.T) {
	for _, c := range []struct {
		name  string
		high  []bool // ranks 0 and 2 are the first group
		wrong []int
	}{
		{"both low", []bool{false, false, false, false}, nil},
		{"both high", []bool{true, true, true, true}, nil},
		{"one high", []bool{true, false, true, false}, nil},
		{"the first divided", []bool{true, false, false, false}, []int{0, 2}},
		{"the second divided", []bool{false, true, false, false}, []int{1, 3}},
	} {
		v := value(4, rankset.Set{}, func(r int) Propose {
			return Propose{Call: Call{Kind: KindMerge}, Index: uint32(r), Digest: Side(r%2 == 1, c.high[r])}
		})
		for me := range 4 {
			out := group(4, me).Outcome(proposal(KindMerge), v)
			var e *ulfm.Error
			if c.wrong == nil && out.New == nil || c.wrong != nil && !(errors.As(out.Err, &e) && errors.Is(e, ErrMismatch) && slices.Equal(e.Ranks, c.wrong)) {
				t.Errorf("%s, rank %d: %v", c.name, me, out)
			}
		}
	}
}

// TestEdgesHaveTwoEnds: a graph in which each member gives its own edges is right iff
// each edge is given equally often at both ends.
func TestEdgesHaveTwoEnds(t *testing.T) {
	type ends struct{ in, out []int }
	for _, c := range []struct {
		name  string
		ends  []ends
		right bool
	}{
		{"none", make([]ends, 3), true},
		{"a ring", []ends{{[]int{2}, []int{1}}, {[]int{0}, []int{2}}, {[]int{1}, []int{0}}}, true},
		{"to oneself", []ends{{}, {[]int{1}, []int{1}}, {}}, true},
		{"twice", []ends{{nil, []int{1, 1}}, {[]int{0, 0}, nil}, {}}, true},
		{"twice, once", []ends{{nil, []int{1, 1}}, {[]int{0}, nil}, {}}, false},
		{"no source", []ends{{nil, []int{1}}, {}, {}}, false},
		{"no destination", []ends{{}, {[]int{0}, nil}, {}}, false},
		{"the wrong way", []ends{{nil, []int{1}}, {nil, []int{0}}, {}}, false},
		{"crossed", []ends{{nil, []int{1}}, {[]int{2}, nil}, {nil, []int{1}}}, false},
	} {
		v := value(3, rankset.Set{}, func(r int) Propose {
			return Propose{Call: Call{Kind: KindDistGraph}, Index: uint32(r), Digest: Edges(r, c.ends[r].in, c.ends[r].out)}
		})
		for me := range 3 {
			out := group(3, me).Outcome(proposal(KindDistGraph), v)
			if (out.Err == nil) != c.right || (out.New != nil) != c.right || !c.right && !errors.Is(out.Err, ErrMismatch) {
				t.Errorf("%s: rank %d: %v", c.name, me, out)
			}
		}
	}
}

// TestCloseAbsorbs: deaths, and members that made the other call, are no errors (R58, R62).
func TestCloseAbsorbs(t *testing.T) {
	v := value(3, rankset.Of(1), func(r int) Propose {
		return Propose{Call: Call{Kind: []Kind{KindClose, KindClose, KindFinalize}[r]}}
	})
	v.Dead = rankset.Of(1)
	if out := group(3, 0).Outcome(proposal(KindClose), v); out.Err != nil {
		t.Error(out.Err)
	}
}

// TestUIDsDiffer: two UIDs differ if any of their inputs differs.
func TestUIDsDiffer(t *testing.T) {
	seen := map[UID]bool{}
	for _, u := range []UID{
		WorldUID(2), WorldUID(3),
		ChildUID(WorldUID(2), KindDup, 1, 0), ChildUID(WorldUID(3), KindDup, 1, 0), ChildUID(WorldUID(2), KindShrink, 1, 0),
		ChildUID(WorldUID(2), KindDup, 2, 0), ChildUID(WorldUID(2), KindSplit, 1, 0), ChildUID(WorldUID(2), KindSplit, 1, 1),
		ChildUID(WorldUID(2), KindSplit, 1, -1),
		GatheringUID(WorldUID(2), []int{0}, 0, 0), GatheringUID(WorldUID(3), []int{0}, 0, 0), GatheringUID(WorldUID(2), []int{0, 1}, 0, 0),
		GatheringUID(WorldUID(2), []int{0}, 1, 0), GatheringUID(WorldUID(2), []int{0}, 0, 1), GatheringUID(WorldUID(2), []int{1}, 0, 0),
	} {
		if seen[u] {
			t.Errorf("%v twice", u)
		}
		seen[u] = true
	}
	if again := WorldUID(2); again != WorldUID(len([]int{0, 0})) {
		t.Error("not a function")
	}
}

// FuzzOutcome decides a creation on arbitrary payloads.
func FuzzOutcome(f *testing.F) {
	f.Add([]byte{1}, []byte{2, 2, 0}, uint8(5), true)
	f.Add([]byte{}, []byte{0xff, 0xff}, uint8(3), false)
	f.Fuzz(func(t *testing.T, a, b []byte, kind uint8, both bool) {
		call := Call{Kind: Kind(kind) % (KindMerge + 1)}
		v := value(2, rankset.Set{}, func(int) Propose { return Propose{Call: call, Veto: true} })
		v.Vetoes = rankset.Set{}
		v.Entries = []era.Entry{{Rank: 0, Data: a}}
		if both {
			v.Entries = append(v.Entries, era.Entry{Rank: 1, Data: b})
		}
		p := Proposal{Call: call, Series: call.Kind.Series()}
		x, y := group(2, 0).Outcome(p, v), group(2, 1).Outcome(p, v)
		if (x.Err == nil) != (y.Err == nil) {
			t.Errorf("not uniform: %v, %v", x.Err, y.Err)
		}
		for _, o := range Orphans(v) {
			if o.Rank < 0 || o.Rank > 1 {
				t.Errorf("orphan of rank %d", o.Rank)
			}
		}
	})
}
