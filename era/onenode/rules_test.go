package onenode

import (
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// group is n Series that share a Heap. Members poll only on command.
type group struct {
	t       *testing.T
	members []*Series
	got     [][]Decide
}

func newGroup(t *testing.T, n int) *group {
	g := &group{t: t, got: make([][]Decide, n)}
	heap := NewHeap(1, nil)
	of := Sharing{Procs: rankset.Range(0, n).Slice(), Indices: make([]uint32, n)}
	for of.Me = range n {
		g.members = append(g.members, NewSeries(Config{N: n, Me: of.Me, Memory: heap.Open(of)}))
	}
	return g
}

func (g *group) step(r int, ev Event) {
	for _, a := range g.members[r].Step(ev) {
		g.got[r] = append(g.got[r], a.(Decide))
	}
}

func (g *group) propose(r int, flag uint64, acked ...int) {
	claim := era.Claim{Call: 1, Rank: r}
	g.step(r, Propose{Value: era.Value{Flag: flag, Lo: claim, Hi: claim, Acked: rankset.Of(acked...)}})
}

// look makes these members poll, and returns the last decision of all of them.
func (g *group) look(ranks ...int) era.Value {
	g.t.Helper()
	for _, r := range ranks {
		g.step(r, Look{})
	}
	first := g.got[ranks[0]]
	if len(first) == 0 {
		g.t.Fatalf("%d has no decision:\n%s", ranks[0], g.members[ranks[0]].Describe())
	}
	for _, r := range ranks {
		if len(g.got[r]) != len(first) || !g.got[r][len(first)-1].Value.Equal(first[len(first)-1].Value) {
			g.t.Errorf("agreement: %d decides %v, %d %v", ranks[0], first, r, g.got[r])
		}
	}
	return first[len(first)-1].Value
}

// TestAgreement: ERA, section 2: all decide the same, which is made of all
// contributions.
func TestAgreement(t *testing.T) {
	g := newGroup(t, 4)
	for r := range 4 {
		g.propose(r, ^uint64(1<<r))
	}
	if v := g.look(0, 1, 2, 3); v.Flag != ^uint64(15) || v.From.Len() != 4 || v.Failed() {
		t.Errorf("decided %v", v)
	}
}

// TestParticipation: nobody decides as long as a living member has not contributed.
func TestParticipation(t *testing.T) {
	g := newGroup(t, 4)
	for _, r := range []int{0, 1} {
		g.propose(r, 1)
	}
	g.step(0, Failed{Rank: 3})
	if got := g.members[0].WaitsFor(1); len(g.got[0]) != 0 || !slices.Equal(got, []int{2}) {
		t.Errorf("decided %v, waits for %v", g.got[0], got)
	}
	g.propose(2, 1)
	if v := g.look(0, 1, 2); !v.From.Equal(rankset.Of(0, 1, 2)) || !v.Dead.Equal(rankset.Of(3)) {
		t.Errorf("decided %v", v)
	}
}

// TestIrrevocability: an agreement is decided once, after any later events.
func TestIrrevocability(t *testing.T) {
	g := newGroup(t, 3)
	for r := range 3 {
		g.propose(r, 1)
	}
	before := g.look(0, 1, 2)
	g.step(0, Failed{Rank: 2})
	g.step(1, Left{Rank: 2})
	if v := g.look(0, 1); !v.Equal(before) || len(g.got[0]) != 1 {
		t.Errorf("decided %v, then %v", before, g.got[0])
	}
}

// TestTermination: every survivor decides, with or without the member that wrote the word.
func TestTermination(t *testing.T) {
	for survivor := range 4 {
		g := newGroup(t, 4)
		g.propose(survivor, 9)
		for r := range 4 {
			g.step(survivor, Failed{Rank: r}) // its own is no news
		}
		if v := g.look(survivor); v.Flag != 9 || v.Dead.Len() != 3 || v.Dead.Has(survivor) {
			t.Errorf("decided %v", v)
		}
	}
}

// TestR28R31: a member that fails before its contribution makes an error, unless all had
// acknowledged the death, and is among the agreed dead in any case.
func TestR28R31(t *testing.T) {
	for acks := range 4 {
		g := newGroup(t, 3)
		for r := range 2 {
			g.step(r, Failed{Rank: 2})
			if acks>>r&1 == 1 {
				g.propose(r, 1, 2)
			} else {
				g.propose(r, 1)
			}
		}
		if v := g.look(0, 1); v.Failed() != (acks != 3) || !v.Dead.Equal(rankset.Of(2)) || v.From.Has(2) {
			t.Errorf("acknowledged by %b: %v", acks, v)
		}
	}
}

// TestR36 is the case of era.Value.Failed: 1 contributes before it dies, 2 entered
// before it knew, 0 knows and has acknowledged.
func TestR36(t *testing.T) {
	g := newGroup(t, 3)
	g.propose(1, 1)
	g.propose(2, 1)
	g.step(0, Failed{Rank: 1})
	g.propose(0, 1, 1)
	if v := g.look(0, 2); !v.Failed() || !v.From.Has(1) {
		t.Errorf("decided %v", v)
	}
}

// TestR38: a death that one member knew at its entry is agreed, also if its victim has contributed;
// one that is learnt later is not (R34, A18).
func TestR38(t *testing.T) {
	g := newGroup(t, 4)
	g.propose(2, 1)
	g.propose(3, 1)
	g.propose(0, 1)
	g.step(0, Failed{Rank: 3})
	g.step(1, Failed{Rank: 2})
	g.propose(1, 1)
	if v := g.look(0, 1); !v.Dead.Equal(rankset.Of(2)) {
		t.Errorf("decided %v", v)
	}
}

// TestLeftIsNotDead: a left member is not waited for, and no result names it.
func TestLeftIsNotDead(t *testing.T) {
	g := newGroup(t, 3)
	for r := range 2 {
		g.step(r, Left{Rank: 2})
		g.propose(r, 1)
	}
	if v := g.look(0, 1); v.Failed() || !v.Dead.IsEmpty() || v.From.Has(2) {
		t.Errorf("decided %v", v)
	}
}

// TestWindow: Next keeps counting, Open includes held-back contributions, and no member is more
// than a window ahead.
func TestWindow(t *testing.T) {
	g := newGroup(t, 2)
	const many = 2*era.Window + 5
	for k := range many {
		if got := g.members[0].Next(); got != uint64(k+1) {
			t.Errorf("next is %d, want %d", got, k+1)
		}
		g.propose(0, uint64(k))
	}
	if s := g.members[0]; s.Open() != many || s.entered != era.Window {
		t.Errorf("%d open, %d entered", s.Open(), s.entered)
	}
	if got := g.members[0].WaitsFor(many); !slices.Equal(got, []int{1}) || g.members[0].WaitsFor(many+1) != nil {
		t.Errorf("the one behind waits for %v", got)
	}
	for k := range many {
		g.propose(1, uint64(k))
		g.step(0, Look{})
	}
	g.look(0, 1)
	for k, d := range g.got[1] {
		if d.Seq != uint64(k+1) || d.Value.Flag != uint64(k) {
			t.Errorf("decision %d is %v", k+1, d)
		}
	}
	if _, due := g.members[0].Deadline(); due {
		t.Error("a deadline")
	}
}

// TestKnownDead: deaths of Config count from the beginning.
func TestKnownDead(t *testing.T) {
	heap := NewHeap(1, nil)
	s := NewSeries(Config{N: 2, Me: 0, Dead: rankset.Of(0, 1), Memory: heap.Open(Sharing{Procs: []int{0, 1}, Indices: []uint32{0, 0}})})
	acts := s.Step(Propose{Value: era.Value{Flag: 3}})
	if len(acts) != 1 || !acts[0].(Decide).Value.Dead.Equal(rankset.Of(1)) {
		t.Errorf("got %v", acts)
	}
}

// TestProposeIsChecked: calls that are not allowed.
func TestProposeIsChecked(t *testing.T) {
	for name, wrong := range map[string]func(g *group){
		"an entry of": func(g *group) {
			g.step(0, Propose{Value: era.Value{Entries: []era.Entry{{Data: make([]byte, EntryMax+1)}}}})
		},
		"acknowledges": func(g *group) { g.propose(0, 1, 1) },
		"beside a plain agreement": func(g *group) {
			g.members[0].EnterPlain(1, 1)
			g.propose(0, 1)
		},
		"beside others":       func(g *group) { g.propose(0, 1); g.members[0].EnterPlain(1, 1) },
		"beside the dead":     func(g *group) { g.step(0, Failed{Rank: 1}); g.members[0].EnterPlain(1, 1) },
		"no plain agreement":  func(g *group) { g.members[0].Adopt() },
		"rank 2 of 2 has":     func(g *group) { g.step(0, Left{Rank: 2}) },
		"rank 2 of 2":         func(g *group) { NewSeries(Config{N: 2, Me: 2}) },
		"rank 0 of 65535":     func(g *group) { NewSeries(Config{N: membersMax + 1}) },
		"an entry of 1 bytes": func(g *group) { g.step(0, Propose{Value: era.Value{Entries: []era.Entry{{Rank: 1, Data: []byte{1}}}}}) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, name) {
					t.Errorf("%s: %v", name, text)
				}
			}()
			wrong(newGroup(t, 2))
		}()
	}
}

// TestBrokenBytes: bytes that no correct member writes are a mismatch that names the writer, the
// same at all.
func TestBrokenBytes(t *testing.T) {
	of2 := era.AppendMessage(nil, era.Up{Value: era.Value{From: rankset.Of(2), Lo: era.Claim{Rank: 2}, Hi: era.Claim{Rank: 2}}})
	for name, c := range map[string]struct {
		length uint32
		long   []byte
	}{
		"too long":    {1 << 30, nil},
		"garbage":     {3, []byte{9, 9, 9}},
		"request":     {1, era.AppendMessage(nil, era.ResultRequest{})},
		"of somebody": {uint32(len(of2)), of2},
	} {
		g := newGroup(t, 3)
		g.propose(0, 1)
		g.propose(2, 1)
		g.members[1].memory.Publish(1, 1, Line{LongBytes: c.length}, c.long)
		if v := g.look(0, 2); !v.Mismatch() || v.Lo.Rank != 1 || v.Hi.Rank != 1 {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// FuzzBytes: for any contents of a member's line and value, no member panics, and two readers
// agree.
func FuzzBytes(f *testing.F) {
	v := era.Value{From: rankset.Of(1), Lo: era.Claim{Rank: 1}, Hi: era.Claim{Rank: 1}, Entries: []era.Entry{{Rank: 1, Data: []byte("x")}}}
	up, down := era.AppendMessage(nil, era.Up{Value: v}), era.AppendMessage(nil, era.Down{Value: v})
	f.Add(uint64(1), uint64(2), uint32(len(up)), up, down, true)
	f.Add(uint64(0), uint64(0), uint32(0), []byte{}, []byte{}, false)
	f.Add(^uint64(0), ^uint64(0), ^uint32(0), []byte{1, 2}, []byte{1}, true)
	f.Fuzz(func(t *testing.T, call, flag uint64, length uint32, long, value []byte, offers bool) {
		g := newGroup(t, 4)
		g.propose(0, 1)
		g.propose(2, 1)
		m := g.members[1].memory
		m.Publish(1, 1, Line{Call: call, Flag: flag, LongBytes: min(length, uint32(len(long)))}, long)
		if offers {
			m.Offer(1, value)
			m.Swap(1, m.Word(1), 1<<16|2)
		}
		g.step(0, Failed{Rank: 3})
		g.look(0, 2)
	})
}
