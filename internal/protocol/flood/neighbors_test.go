package flood

import (
	"slices"
	"testing"
)

// TestNeighborsDumb compares Neighbors with its definition, pair by pair: b is a
// neighbour of a iff their distance one way round is a power of two.
func TestNeighborsDumb(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for a := range n {
			var want []int
			for b := range n {
				up, down := (b-a+n)%n, (a-b+n)%n
				if b != a && (up&(up-1) == 0 || down&(down-1) == 0) {
					want = append(want, b)
				}
			}
			if got := Neighbors(n, a); !slices.Equal(got, want) {
				t.Fatalf("Neighbors(%d, %d) = %v, want %v", n, a, got, want)
			}
		}
	}
}

// TestConnectivity computes the node connectivity of the graph by max-flow for every n up to 70 and
// finds that equal to the degree, which is the highest possible value: "optimally connected" in
// Angskun et al., ISPA 2007. The connectivity is the number of deaths that a flood needs before it
// can be cut (B8).
func TestConnectivity(t *testing.T) {
	for n := 1; n <= 70; n++ {
		degree := len(Neighbors(n, 0))
		// The graph looks the same from every member, so one end can be 0. Neighbours
		// cannot be separated; if all are neighbours, nothing can.
		connectivity := n - 1
		for sink := 1; sink < n; sink++ {
			if !slices.Contains(Neighbors(n, 0), sink) {
				connectivity = min(connectivity, disjointPaths(n, 0, sink))
			}
		}
		if connectivity != degree {
			t.Errorf("n = %d: connectivity %d, degree %d", n, connectivity, degree)
		}
	}
}

// disjointPaths counts the paths from source to sink that share no other member, by
// augmenting one unit at a time in the graph with every member split in two: vertex
// 2v is entered, 2v+1 is left.
func disjointPaths(n, source, sink int) int {
	residual := make([]map[int]bool, 2*n)
	for v := range n {
		residual[2*v] = map[int]bool{2*v + 1: true}
		residual[2*v+1] = map[int]bool{}
		for _, w := range Neighbors(n, v) {
			residual[2*v+1][2*w] = true
		}
	}
	paths := 0
	for augment(residual, 2*source+1, 2*sink) {
		paths++
	}
	return paths
}

func augment(residual []map[int]bool, source, sink int) bool {
	from := make([]int, len(residual))
	for v := range from {
		from[v] = -1
	}
	from[source] = source
	for queue := []int{source}; len(queue) > 0 && from[sink] < 0; queue = queue[1:] {
		for w, open := range residual[queue[0]] {
			if open && from[w] < 0 {
				from[w] = queue[0]
				queue = append(queue, w)
			}
		}
	}
	if from[sink] < 0 {
		return false
	}
	for v := sink; v != source; v = from[v] {
		residual[from[v]][v] = false
		residual[v][from[v]] = true
	}
	return true
}
