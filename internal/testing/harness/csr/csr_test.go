package csr

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFill: rows have the edges that they got, as a map of slices has them.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 50} {
		edges := make([]Edge, 20*rows)
		want := map[uint64][]Neighbour{}
		for i := range edges {
			edges[i] = Edge{uint64(r.IntN(rows)), Toward(uint64(r.Uint32()), r.Float32())}
			want[edges[i].From] = append(want[edges[i].From], edges[i].To)
		}
		begin, near := make([]uint64, rows+1), make([]Neighbour, len(edges))
		Fill(begin, near, edges)
		for v := range rows {
			row := near[begin[v]:begin[v+1]]
			assert.ElementsMatch(t, want[uint64(v)], row)
			assert.True(t, slices.IsSortedFunc(row, func(a, b Neighbour) int { return int(int64(a.Vertex()) - int64(b.Vertex())) }))
		}
		assert.Equal(t, uint64(len(edges)), begin[rows])
	}
	begin := make([]uint64, 4)
	Fill(begin, nil, nil)
	assert.Equal(t, make([]uint64, 4), begin)
}

// TestNeighbour: both halves come back.
func TestNeighbour(t *testing.T) {
	n := Toward(1<<32-1, 0.25)
	assert.Equal(t, uint64(1<<32-1), n.Vertex())
	assert.Equal(t, float32(0.25), n.Weight())
}
