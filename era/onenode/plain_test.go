package onenode

import (
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/era"
)

// TestPlainIsPropose: any mixture of members that enter plainly and members that
// propose the same decides the same.
func TestPlainIsPropose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(6)
		g, want := newGroup(t, n), ^uint64(0)
		flags := make([]uint64, n)
		plainly := make([]bool, n)
		for r := range n {
			flags[r], plainly[r] = rng.Uint64(), rng.IntN(2) == 0
			want &= flags[r]
		}
		for _, r := range rng.Perm(n) {
			claim := era.Claim{Call: 5, Rank: r}
			if plainly[r] {
				g.members[r].EnterPlain(5, flags[r])
			} else {
				g.step(r, Propose{Value: era.Value{Flag: flags[r], Lo: claim, Hi: claim}})
			}
		}
		for r, s := range g.members {
			if plainly[r] {
				if flag, state := s.PollPlain(); state != Decided || flag != want {
					t.Fatalf("member %d: %x %v, want %x", r, flag, state, want)
				}
			} else if v := g.look(r); v.Flag != want || v.Lo.Rank != 0 || v.Hi.Rank != n-1 || v.Mismatch() || v.Failed() {
				t.Fatalf("member %d: %v", r, v)
			}
			if s.Next() != 2 || s.Open() != 0 {
				t.Fatalf("member %d goes on with %d, %d open", r, s.Next(), s.Open())
			}
		}
	}
}

// counted is a Memory that counts reads.
type counted struct {
	Memory
	reads int
}

func (c *counted) Read(m, slot int, seq uint64) (Line, bool) {
	c.reads++
	return c.Memory.Read(m, slot, seq)
}

// TestPollIsCheap: a poll reads no seen line again, and only one missing line.
func TestPollIsCheap(t *testing.T) {
	const n = 8
	g := newGroup(t, n)
	c := &counted{Memory: g.members[0].memory}
	g.members[0].memory = c
	g.members[0].EnterPlain(1, 1)
	for r := 1; r < n; r++ {
		for range 10 {
			if _, state := g.members[0].PollPlain(); state != Waiting {
				t.Fatalf("state %v", state)
			}
		}
		g.members[r].EnterPlain(1, 1)
	}
	if _, state := g.members[0].PollPlain(); state != Decided {
		t.Errorf("state %v", state)
	}
	if most := 10*(n-1) + n; c.reads > most {
		t.Errorf("%d reads, want at most %d", c.reads, most)
	}
}

// TestPlainAllocatesNothing: no value, no set, no slice.
func TestPlainAllocatesNothing(t *testing.T) {
	g := newGroup(t, 3)
	if allocs := testing.AllocsPerRun(100, func() {
		for _, s := range g.members {
			s.EnterPlain(1, 3)
		}
		for _, s := range g.members {
			if flag, state := s.PollPlain(); state != Decided || flag != 3 {
				t.Fatalf("%d %v", flag, state)
			}
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestStepLeavesPlainAlone: other events neither decide nor lose a plain agreement.
func TestStepLeavesPlainAlone(t *testing.T) {
	g := newGroup(t, 3)
	g.members[0].EnterPlain(1, 6)
	g.propose(1, 3)
	g.propose(2, 7)
	g.step(0, Look{})
	g.step(0, Failed{Rank: 2})
	if len(g.got[0]) != 0 {
		t.Fatalf("decided %v, which was not adopted", g.got[0])
	}
	if flag, state := g.members[0].PollPlain(); state != Decided || flag != 2 {
		t.Errorf("%d %v: all lines were there", flag, state)
	}
}

// BenchmarkPlain is a plain agreement of one member, with peers that are always there.
func BenchmarkPlain(b *testing.B) {
	heap := NewHeap(1, nil)
	s := NewSeries(Config{N: 1, Memory: heap.Open(Sharing{Procs: []int{0}, Indices: []uint32{0}})})
	for b.Loop() {
		s.EnterPlain(1, 3)
		s.PollPlain()
	}
}
