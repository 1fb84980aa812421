package repair

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// TestPlants: the duties of the owner in doc.go are necessary. Each line neglects one duty, and
// the model finds a schedule that breaks a promise. Bugs of the rules themselves are
// planted by edits of the source, in internal/testing/mutants/edits.
func TestPlants(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant plant
		focus func(*setup)
	}{
		{"the program's agreements do not end by a revocation", plant{plainAgree: true}, nil},
		{"a replacement is no uniform call", plant{creation: true}, nil},
		{"a successor writes while threads of the dead still do", plant{writesAtOnce: true}, func(s *setup) { s.n, s.perNode = 2, 2 }},
		{"memory is filed by rank, and a shrink renumbers", plant{byRank: true}, func(s *setup) { s.cfg.Shortage, s.spare = ShortageShrink, 0 }},
		{"old copies go before Protect is agreed", plant{dropsAtRestore: true}, nil},
		{"a new share of parity overwrites the old one", plant{overwrites: true}, nil},
		{"replacements stay whom only the dead had wanted", plant{keepsReplacements: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 20000
			for seed := range uint64(rounds) {
				s := randomSetup(seed)
				if c.focus != nil {
					s = focused(seed)
					c.focus(&s)
				}
				s.plant = c.plant
				if broken := newModel(s, fromSeed(seed)(), false).run(); broken != "" {
					t.Logf("seed %d: %s", seed, broken)
					return
				}
			}
			require.Fail(t, "not found", "in %d schedules", rounds)
		})
	}
}

// focused draws a program of four ranks on one node, without copies, and many deaths of
// processes: nothing excuses a loss in these schedules.
func focused(seed uint64) setup {
	rng := rand.New(rand.NewPCG(seed, 6))
	s := plain(4, 6)
	s.cfg.Tries = 20
	step := 0
	for range 4 {
		step += rng.IntN(100)
		s.kills = append(s.kills, kill{step: step, victim: rng.IntN(8)})
	}
	return s
}

// TestFocused: without a plant the same schedules break nothing.
func TestFocused(t *testing.T) {
	for seed := range uint64(3000) {
		s := focused(seed)
		if seed%2 == 0 {
			s.cfg.Shortage, s.spare = ShortageShrink, int(seed%3)
		}
		play(t, s, fmt.Sprint("focused ", seed), fromSeed(seed))
	}
}

// TestWhatIsCommitted: members that know of an agreed Protect are believed, not the memory:
//
//	B, C  get the decision "1.1 is committed", store that, and die
//	A     comes to another decision: the agreement with the dead is lost
//
// Only after a restart of all processes is the memory believed. There a second version proves a
// first.
func TestWhatIsCommitted(t *testing.T) {
	part := Held{Label: Label{1, 1}, Nodes: []int{0, 0}, Data: rankset.Of(1)}
	source := func(reports ...Report) Source {
		c := Config{}
		return c.choose(reports).Source
	}
	assert.Equal(t, FromNowhere, source(Report{Known: true}, Report{Committed: Label{1, 1}, Held: []Held{part}}))
	assert.Equal(t, NoneWhole, source(Report{Known: true, Committed: Label{1, 1}}, Report{Held: []Held{part}}))
	assert.Equal(t, NoneWhole, source(Report{}, Report{Committed: Label{1, 1}, Held: []Held{part}}))
	assert.Equal(t, FromNowhere, source(Report{}, Report{Held: []Held{part}}))
	part.Label.Number = 2
	assert.Equal(t, NoneWhole, source(Report{}, Report{Held: []Held{part}}))
}

// TestMissing: the ranks whose data no process has, and without any data the committed version.
func TestMissing(t *testing.T) {
	part := func(number uint64, ranks ...int) Held {
		return Held{Label: Label{1, number}, Nodes: []int{0, 0, 0, 0}, Data: rankset.Of(ranks...)}
	}
	missing := func(reports ...Report) []any {
		label, size, ranks := Missing(reports)
		return []any{label, size, ranks}
	}
	known := Report{Known: true, Committed: Label{1, 2}, Held: []Held{part(1, 0, 1, 2, 3), part(2, 1, 3), part(3, 1)}}
	assert.Equal(t, []any{Label{1, 2}, 4, []int{0, 2}}, missing(known, Report{}))
	assert.Equal(t, []any{Label{1, 2}, 4, []int{0}}, missing(known, Report{Held: []Held{part(2, 2)}}))
	assert.Equal(t, []any{Label{1, 2}, 0, []int(nil)}, missing(Report{Known: true, Committed: Label{1, 2}}))
}

// TestOwnMoves: the newest own part moves to the process of its home, unless that process has it.
// The lowest rank that has the part of a home without a process takes it over.
func TestOwnMoves(t *testing.T) {
	got := ownMoves([]Report{
		{Home: 0, Own: []Own{{Home: 0, Count: 5}, {Home: 2, Count: 3}}},
		{Home: 2, Own: []Own{{Home: 2, Count: 2}, {Home: 1, Count: 9}, {Home: 0, Count: 5}}},
		{Home: 3, Own: []Own{{Home: 1, Count: 9}}},
	})
	assert.Equal(t, []redundancy.Send{{Owner: 1, From: 1, To: 1}, {Owner: 2, From: 0, To: 1}}, got)
}

// TestRepairsWithoutProgress: a hundred repairs are made, and no more, if rollbacks repeat or
// different ranks are lost in turn.
func TestRepairsWithoutProgress(t *testing.T) {
	w := New(Config{}, 2, 0)
	w.Step(Begin{})
	for i := 1; ; i++ {
		w.Step(Returned{Again})
		w.Step(Quiet{Result: Again})
		w.Step(Decided{Word: Ballot{Call: CallLeave}.Word()})
		if w.Step(Shrunk{Left: rankset.Of(0, 1)}); w.State() == Over {
			require.Equal(t, RepairsMax+1, i)
			require.Equal(t, End{Outcome{End: NoProgress}}, w.out[0])
			return
		}
	}
}

// TestPlanWithErasure: versions are chosen and planned with parity as with copies.
func TestPlanWithErasure(t *testing.T) {
	c := Config{Layout: func(nodes []int) redundancy.Layout { return redundancy.Erasure(nodes, 2, 1) }}
	nodes := []int{0, 1, 2}
	full := redundancy.Full(c.layout(nodes))
	label := Label{3, 4}
	var reports []Report
	for q := range nodes {
		r := Report{Node: nodes[q], Home: q, Epoch: 3, Committed: label}
		if q != 1 { // node 1 is a new one
			r.Held = []Held{{Label: label, Nodes: nodes, Data: full.Data[q], Parity: full.Parity[q]}}
		}
		reports = append(reports, r)
	}
	p := c.choose(reports)
	require.Equal(t, FromMemory, p.Source)
	require.Equal(t, label, p.Label)
	require.Len(t, p.Steps, 1)
	require.IsType(t, redundancy.Rebuild{}, p.Steps[0])
	require.Equal(t, 1, p.Steps[0].(redundancy.Rebuild).Owner)
	require.Len(t, p.Copies, 1, "the parity of rank 1")
	reports[2].Node = 9 // another placement: all parity is computed again
	require.Len(t, c.choose(reports).Copies, 3)
	reports[0].Held = nil
	require.Equal(t, NoneWhole, c.choose(reports).Source)
	reports[0].Files = []Label{{2, 9}}
	p = c.choose(reports)
	require.Equal(t, FromFiles, p.Source)
	require.True(t, p.Behind, "the files are older than what was committed")
	reports[1].Members = 77
	require.Equal(t, Different, c.choose(reports).Source)
}
