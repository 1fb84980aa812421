package kron

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestVectors: the graph, its roots and the results of a search equal those of the reference.
func TestVectors(t *testing.T) {
	for _, v := range Vectors {
		if v.Scale > 16 || testing.Short() && v.Scale > 14 { // graph500 -check has all
			continue
		}
		g := New(v.Scale)
		edges := make([]Edge, g.Edges())
		h := fnv.New64a()
		loops := 0
		near := make([][]uint64, g.Vertices())
		for e := range edges {
			x := g.Edge(e)
			edges[e] = x
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:], x.From)
			binary.LittleEndian.PutUint64(b[8:], x.To)
			h.Write(b[:])
			if x.From == x.To {
				loops++
				continue
			}
			near[x.From], near[x.To] = append(near[x.From], x.To), append(near[x.To], x.From)
		}
		assert.Equal(t, v.Sum, h.Sum64(), "scale %d", v.Scale)
		assert.Equal(t, v.First, [2]uint64{edges[0].From, edges[0].To})
		assert.Equal(t, v.Last, [2]uint64{edges[len(edges)-1].From, edges[len(edges)-1].To})
		assert.Equal(t, v.Loops, loops)
		isolated, most := 0, 0
		for u, n := range near {
			if len(n) == 0 {
				isolated++
			}
			if len(n) > len(near[most]) {
				most = u
			}
		}
		assert.Equal(t, v.Isolated, isolated)
		assert.Equal(t, v.Degree, len(near[most]))
		assert.Equal(t, v.At, uint64(most))
		for i, w := range v.Weights {
			assert.InDelta(t, w, edges[i].Weight, 1e-8)
		}
		roots := g.Roots(64, func(u uint64) bool { return len(near[u]) > 0 })
		if assert.Len(t, roots, 64) {
			assert.Equal(t, v.Roots, roots[:6])
			assert.Equal(t, v.Root63, roots[63])
			first, seen := levels(near, roots[0])
			last, _ := levels(near, roots[63])
			assert.Equal(t, v.Levels0, first)
			assert.Equal(t, v.Levels63, last)
			reached, inside := 0, 0
			for _, n := range first {
				reached += int(n)
			}
			for _, x := range edges {
				if x.From != x.To && seen[x.From] {
					inside++
				}
			}
			assert.Equal(t, v.Reached0, reached)
			assert.Equal(t, v.Inside0, inside)
		}
	}
}

// levels returns the number of vertices at each distance of a search, and the set of reached
// vertices.
func levels(near [][]uint64, root uint64) (counts []uint64, seen []bool) {
	seen = make([]bool, len(near))
	seen[root] = true
	for now := []uint64{root}; len(now) > 0; {
		counts = append(counts, uint64(len(now)))
		var next []uint64
		for _, u := range now {
			for _, v := range near[u] {
				if !seen[v] {
					seen[v] = true
					next = append(next, v)
				}
			}
		}
		now = next
	}
	return counts, seen
}

// TestSmallGraphs have fewer roots.
func TestSmallGraphs(t *testing.T) {
	g := New(6)
	joined := make([]bool, g.Vertices())
	for e := range g.Edges() {
		if x := g.Edge(e); x.From != x.To {
			joined[x.From], joined[x.To] = true, true
		}
	}
	assert.Less(t, len(g.Roots(64, func(v uint64) bool { return joined[v] })), 64)
}

func BenchmarkEdge(b *testing.B) {
	g := New(20)
	for e := 0; b.Loop(); e++ {
		g.Edge(e)
	}
}
