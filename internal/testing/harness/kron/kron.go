// Package kron generates the graphs of the Graph500 benchmark: Kronecker graphs of 2^scale vertices
// and 16 edges a vertex, bit for bit those of its reference code with the seed 2, 3, and its search
// roots. Any edge can be had by itself, so a lost part is generated again by whoever wants it.
//
// Bits are drawn from the highest down: an edge goes into one of four quarters of the adjacency
// matrix, then into a quarter of that. In the end the numbers of the vertices are scrambled.
package kron

import "math/bits"

// EdgeFactor is how many edges there are for each vertex.
const EdgeFactor = 16

// The seed of the reference.
const seedA, seedB = 2, 3

// A Graph generates one graph. Several goroutines may use it.
type Graph struct {
	scale  int
	v0, v1 uint64 // of the scrambling
}

// An Edge joins two vertices.
type Edge struct {
	From, To uint64
	Weight   float32
}

// New returns the graph of 2^scale vertices, scale 1 to 48.
func New(scale int) *Graph {
	s := seed()
	s.jump(distance{0, 7, 50})
	g := &Graph{scale: scale}
	g.v0 = uint64(s.next()) * (1<<32 - 1)
	g.v0 += uint64(s.next())
	g.v1 = uint64(s.next()) * (1<<32 - 1)
	g.v1 += uint64(s.next())
	return g
}

func seed() state {
	const low = 1<<30 - 1
	a, b := uint64(seedA), uint64(seedB)
	return state{uint32(a&low) + 1, uint32(a>>30&low) + 1, uint32(b&low) + 1, uint32(b>>30&low) + 1, uint32(b>>60)*16 + uint32(a>>60) + 1}
}

// Vertices returns how many vertices there are.
func (g *Graph) Vertices() int { return 1 << g.scale }

// Edges returns how many edges there are, loops and repeated ones included.
func (g *Graph) Edges() int { return EdgeFactor << g.scale }

// Edge returns an edge, 0 to Edges()-1.
func (g *Graph) Edge(e int) Edge {
	s := seed()
	s.jump(distance{0, uint64(e), 0})
	var from, to uint64
	for range g.scale {
		bitFrom, bitTo := quarter(&s)
		if from == to && bitFrom > bitTo {
			bitFrom, bitTo = bitTo, bitFrom
		}
		from, to = 2*from+bitFrom, 2*to+bitTo
	}
	weight := float32(float64(float32(s.next())) * 4.65661287524579692e-10)
	return Edge{g.scramble(from), g.scramble(to), weight}
}

// quarter draws which quarter of the matrix an edge is in: two bits.
func quarter(s *state) (from, to uint64) {
	u := s.next()
	for u < m%10000 {
		u = s.next()
	}
	switch r := u % 10000; {
	case r < 1900:
		return 0, 1
	case r < 3800:
		return 1, 0
	case r < 9500:
		return 0, 0
	}
	return 1, 1
}

// scramble numbers the vertices anew.
func (g *Graph) scramble(v uint64) uint64 {
	v += g.v0 + g.v1
	v *= g.v0 | 0x4519840211493211
	v = bits.Reverse64(v) >> (64 - g.scale)
	v *= g.v1 | 0x3050852102C843A5
	return bits.Reverse64(v) >> (64 - g.scale)
}

// Roots returns up to n different vertices from which searches start: those of the reference, that
// joined says yes to. It is to say of a vertex whether an edge leads from it to another one.
func (g *Graph) Roots(n int, joined func(v uint64) bool) []uint64 {
	var roots []uint64
	seen := map[uint64]bool{}
	for k := 0; len(roots) < n && k <= 2*g.Vertices(); k += 2 {
		s := seed()
		s.jump(distance{2 * uint64(k), 0, 2})
		sum := s.double()
		sum += s.double()
		v := uint64(sum*float64(g.Vertices())) % uint64(g.Vertices())
		if !seen[v] && joined(v) {
			roots = append(roots, v)
		}
		seen[v] = true
	}
	return roots
}
