package recovery_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
)

// TestErasure: of six nodes any two may be lost at once, wherever the program is in a step; three
// are too many, which is an error, and never yields old or mixed data.
func TestErasure(t *testing.T) {
	nodes := commtest.Nodes{0, 1, 2, 3, 4, 5}
	cfg := recovery.Config{Every: 3, Erasure: recovery.Erasure{Data: 4, Parity: 2}}
	want, _ := run(t, commtest.Job{N: 6, Nodes: nodes}, cfg)
	plain, _ := run(t, commtest.Job{N: 6}, recovery.Config{})
	assert.Equal(t, plain, want)
	j := commtest.Job{N: 6, Nodes: nodes}
	for a := range 6 {
		for b := range a {
			assert.Equal(t, want, together(t, j, cfg, a, b), "%d and %d", a, b)
		}
	}
	for _, three := range [][]int{{0, 1, 2}, {1, 3, 5}, {0, 4, 5}} {
		wantLost(t, j, cfg, three...)
	}
}

// TestErasureAtEachPoint: a rank dies at each point of a run with parity, also on one node and in
// groups of different sizes; and after that a second one in each point of the repair.
func TestErasureAtEachPoint(t *testing.T) {
	for _, c := range []struct {
		n int
		e recovery.Erasure
	}{{4, recovery.Erasure{Data: 3, Parity: 1}}, {5, recovery.Erasure{Data: 1, Parity: 2}}} {
		cfg := recovery.Config{Every: 4, Erasure: c.e}
		want, marks := run(t, commtest.Job{N: c.n}, cfg)
		for i, k := range marks {
			if !longtest.Row(i, 7) {
				continue
			}
			got, _ := run(t, commtest.Job{N: c.n, Kills: []commtest.Killed{k}}, cfg)
			assert.Equal(t, want, got, "%v", k)
		}
	}
	cfg := recovery.Config{Every: 3, Erasure: recovery.Erasure{Data: 2, Parity: 2}}
	want, _ := run(t, commtest.Job{N: 4}, cfg)
	first := commtest.Killed{Rank: 1, Mark: "step", At: 8}
	_, marks := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first}}, cfg)
	for i, k := range marks {
		if !longtest.Row(i, 7) || k.Rank == 1 || k.Mark == "step" && k.At < 8 {
			continue
		}
		got, _ := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{first, k}}, cfg)
		assert.Equal(t, want, got, fmt.Sprint(k))
	}
}

// TestErasureAfterErasure: data that a repair has rebuilt are lost in their turn, before the next
// commit.
func TestErasureAfterErasure(t *testing.T) {
	cfg := recovery.Config{Every: 3, Erasure: recovery.Erasure{Data: 2, Parity: 1}}
	want, _ := run(t, commtest.Job{N: 3}, cfg)
	got, _ := run(t, commtest.Job{N: 3, Kills: []commtest.Killed{
		{Rank: 1, Mark: "step", At: 4}, {Rank: 2, Mark: "step", At: 5}, {Rank: 0, Mark: "step", At: 6},
	}}, cfg)
	assert.Equal(t, want, got)
}

// TestErasureOntoOneNode: one of two nodes is lost with its memory, and the replacements of its
// ranks are on the other. No rank of that node needs parity any more, but the data of the dead are
// still in the old parity.
func TestErasureOntoOneNode(t *testing.T) {
	cfg := recovery.Config{Every: 3, Erasure: recovery.Erasure{Data: 1, Parity: 1}}
	j := commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, NodeMemory: true}
	want, _ := run(t, j, cfg)
	j.Kills = []commtest.Killed{{Rank: 2, Mark: "step", At: 8, Node: true}}
	got, _ := run(t, j, cfg)
	assert.Equal(t, want, got)
}
