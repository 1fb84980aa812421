// Package csr has the neighbours of vertices in two slices: where those of a vertex begin, and all
// of them one after the other (compressed sparse rows). A neighbour is one word with the weight of
// the edge that leads there, so the slices may be in memory that others read.
package csr

import (
	"math"
	"slices"
)

// A Neighbour is a vertex below 2^32 and the weight of an edge that leads there.
type Neighbour uint64

// Toward returns the Neighbour of a vertex and a weight.
func Toward(vertex uint64, weight float32) Neighbour {
	return Neighbour(uint64(math.Float32bits(weight))<<32 | vertex)
}

// Vertex returns the vertex.
func (n Neighbour) Vertex() uint64 { return uint64(n) & (1<<32 - 1) }

// Weight returns the weight of the edge.
func (n Neighbour) Weight() float32 { return math.Float32frombits(uint32(n >> 32)) }

// An Edge leads from a vertex to one of its neighbours. From counts the vertices of the rows.
type Edge struct {
	From uint64
	To   Neighbour
}

// Fill makes rows of edges, in any order: begin, zeroed, has one element more than there are rows,
// and near one for each edge. The neighbours of a row are in the order of their vertices.
func Fill(begin []uint64, near []Neighbour, edges []Edge) {
	for _, e := range edges {
		begin[e.From+1]++
	}
	for v := 1; v < len(begin); v++ {
		begin[v] += begin[v-1]
	}
	next := slices.Clone(begin)
	for _, e := range edges {
		near[next[e.From]] = e.To
		next[e.From]++
	}
	for v := 1; v < len(begin); v++ {
		slices.SortFunc(near[begin[v-1]:begin[v]], byVertex)
	}
}

// byVertex orders by vertex, then by weight.
func byVertex(a, b Neighbour) int {
	x, y := uint64(a)<<32|uint64(a)>>32, uint64(b)<<32|uint64(b)>>32
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
