package kron

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// vector is what the reference code makes of a scale.
type vector struct {
	scale             int
	sum               uint64 // FNV-1a of all edges, from and to as 8 bytes each, little endian
	first             [2]uint64
	last              [2]uint64
	loops, isolated   int
	degree            int // the largest, without loops
	at                uint64
	weights           [3]float32
	roots             []uint64
	root63            uint64
	reached, inside   int // from root 0 and from root 63; edges without loops among them
	levels0, levels63 []int
}

var vectors = []vector{
	{10, 0xb43b86c980db5ae1, [2]uint64{299, 797}, [2]uint64{206, 55}, 144, 125, 1977, 684, [3]float32{.490170419, .528551459, .651318908},
		[]uint64{458, 214, 220, 966, 395, 9}, 149, 897, 16239, []int{1, 8, 500, 380, 8}, []int{1, 1, 126, 703, 66}},
	{14, 0x7e303268181e3065, [2]uint64{14207, 9077}, [2]uint64{12099, 9415}, 326, 3834, 10921, 5452, [3]float32{.129396364, .691036761, .346841365},
		[]uint64{7337, 3434, 3526, 2016, 15463, 6328}, 2389, 12550, 261818, []int{1, 282, 9574, 2675, 18}, []int{1, 8, 1841, 10052, 646, 2}},
	{16, 0x0b73eebcb307738b, [2]uint64{53430, 37000}, [2]uint64{47449, 59083}, 491, 18721, 25485, 16463, [3]float32{.454299152, .915168881, .333216667},
		[]uint64{29348, 8064, 61854, 29808, 54316, 22032}, 43174, 46803, 1048079, []int{1, 27, 8336, 36624, 1805, 10}, []int{1, 1, 4587, 38661, 3530, 23}},
}

// TestVectors: the graph is the reference's, and so are its roots and what a search finds.
func TestVectors(t *testing.T) {
	for _, v := range vectors {
		if testing.Short() && v.scale > 14 {
			continue
		}
		g := New(v.scale)
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
		assert.Equal(t, v.sum, h.Sum64(), "scale %d", v.scale)
		assert.Equal(t, v.first, [2]uint64{edges[0].From, edges[0].To})
		assert.Equal(t, v.last, [2]uint64{edges[len(edges)-1].From, edges[len(edges)-1].To})
		assert.Equal(t, v.loops, loops)
		isolated, most := 0, 0
		for u, n := range near {
			if len(n) == 0 {
				isolated++
			}
			if len(n) > len(near[most]) {
				most = u
			}
		}
		assert.Equal(t, v.isolated, isolated)
		assert.Equal(t, v.degree, len(near[most]))
		assert.Equal(t, v.at, uint64(most))
		for i, w := range v.weights {
			assert.InDelta(t, w, edges[i].Weight, 1e-8)
		}
		roots := g.Roots(64, func(u uint64) bool { return len(near[u]) > 0 })
		if assert.Len(t, roots, 64) {
			assert.Equal(t, v.roots, roots[:6])
			assert.Equal(t, v.root63, roots[63])
			first, seen := levels(near, roots[0])
			last, _ := levels(near, roots[63])
			assert.Equal(t, v.levels0, first)
			assert.Equal(t, v.levels63, last)
			reached, inside := 0, 0
			for _, n := range first {
				reached += n
			}
			for _, x := range edges {
				if x.From != x.To && seen[x.From] {
					inside++
				}
			}
			assert.Equal(t, v.reached, reached)
			assert.Equal(t, v.inside, inside)
		}
	}
}

// levels are how many vertices a search finds at each distance, and which.
func levels(near [][]uint64, root uint64) (counts []int, seen []bool) {
	seen = make([]bool, len(near))
	seen[root] = true
	for now := []uint64{root}; len(now) > 0; {
		counts = append(counts, len(now))
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
