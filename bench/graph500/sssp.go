package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

// A word of a vertex in kernel 3 is the bits of its distance, and its parent. Distances are not
// below 0, so the lesser word has the lesser distance.
const distanceBits = 32

func reached(distance float32, parent uint64) uint64 {
	return uint64(math.Float32bits(distance))<<distanceBits | parent
}

func distanceOf(word uint64) float32 { return math.Float32frombits(uint32(word >> distanceBits)) }
func nearerOf(word uint64) uint64    { return word & (1<<distanceBits - 1) }

// far is the word of a vertex that nobody has reached.
var far = reached(float32(math.Inf(1)), 1<<distanceBits-1)

// delta is the width of a bucket.
const delta = 0.1

// shortest finds the shortest paths from a root, by delta-stepping (Meyer, Sanders 2003). It takes
// vertices in the order of buckets of distances. It first relaxes edges that are not longer than a
// bucket, again and again, then the others. A vertex is relaxed by compare-and-swap of its word.
//
// A word only ever becomes less, and names a parent that had the distance from which the word was
// computed. So when ranks die the living take over their words and check all reached vertices
// again.
type shortest struct {
	number int // of a run
	root   uint64
	begun  bool
}

// walk is the progress of one attempt: by part and vertex the words with relaxed light edges, and
// with relaxed heavy edges.
type walk struct {
	g            *graph
	parts        []part
	light, heavy [][]uint64
}

func (s *shortest) run(ctx context.Context, g *graph) error {
	if !s.begun {
		if err := s.clear(ctx, g); err != nil {
			return err
		}
		s.begun = true
	}
	w := &walk{g: g, parts: g.mine()}
	for _, p := range w.parts {
		w.light, w.heavy = append(w.light, make([]uint64, len(p.words))), append(w.heavy, make([]uint64, len(p.words)))
	}
	for step := 0; ; step++ {
		bucket, err := collectives.AllreduceOne(ctx, g.c, w.least(), collectives.Min)
		if err != nil || bucket == math.MaxInt {
			return err
		}
		g.c.Mark("bucket", step)
		g.c.Mark("step", stepOf(s.number, step))
		if err := w.settle(ctx, bucket); err != nil {
			return err
		}
	}
}

func (s *shortest) clear(ctx context.Context, g *graph) error {
	at, i := g.partOf(s.root)
	for _, p := range g.mine() {
		for k := range p.words {
			p.words[k] = far
		}
		if p.number == at {
			p.words[i] = reached(0, s.root)
		}
	}
	return g.fence(ctx)
}

// resume makes all ranks begin again, unless all have begun.
func (s *shortest) resume(ctx context.Context, g *graph) error {
	all, err := collectives.AllreduceOne(ctx, g.c, s.begun && !g.anew, collectives.LAnd)
	s.begun = all && err == nil
	return err
}

func bucketOf(word uint64) int { return int(distanceOf(word) / delta) }

// least is the least bucket with unchecked vertices; MaxInt: none.
func (w *walk) least() int {
	bucket := math.MaxInt
	for k, p := range w.parts {
		for i, word := range p.words {
			if word != far && (word != w.light[k][i] || word != w.heavy[k][i]) {
				bucket = min(bucket, bucketOf(word))
			}
		}
	}
	return bucket
}

// settle relaxes the edges from all vertices of a bucket, until no vertex enters the bucket any
// more.
func (w *walk) settle(ctx context.Context, bucket int) error {
	for {
		n, err := w.relax(ctx, bucket, w.light, func(weight float32) bool { return weight <= delta })
		if err != nil {
			return err
		}
		if n, err = collectives.AllreduceOne(ctx, w.g.c, n, collectives.Sum); err != nil {
			return err
		}
		if err := w.g.fence(ctx); err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if _, err := w.relax(ctx, bucket, w.heavy, func(weight float32) bool { return weight > delta }); err != nil {
		return err
	}
	return w.g.fence(ctx)
}

// relax relaxes some edges from the vertices of a bucket. It skips a vertex if the word of the vertex
// is the same as in the last call, and returns the number of relaxed vertices.
func (w *walk) relax(ctx context.Context, bucket int, done [][]uint64, along func(weight float32) bool) (vertices int, err error) {
	for k, p := range w.parts {
		for i := range p.words {
			word := atomic.LoadUint64(&p.words[i]) // other ranks lower the word meanwhile
			if word == far || word == done[k][i] || bucketOf(word) != bucket {
				continue
			}
			vertices++
			for _, n := range p.neighbours(i) {
				if along(n.Weight()) {
					if err := w.lessen(ctx, n.Vertex(), distanceOf(word)+n.Weight(), w.g.vertexOf(p.number, i)); err != nil {
						return vertices, err
					}
				}
			}
			done[k][i] = word
		}
	}
	return vertices, nil
}

// lessen lowers the word of a vertex to a path over a parent, if this path is shorter.
func (w *walk) lessen(ctx context.Context, v uint64, distance float32, parent uint64) error {
	part, i := w.g.partOf(v)
	at := w.g.where[part]
	to := w.g.shelves[at.shelf].words.At(at.rank)
	word, err := to.Load(ctx, i)
	for err == nil && distance < distanceOf(word) {
		var swapped bool
		if word, swapped, err = to.CompareAndSwap(ctx, i, word, reached(distance, parent)); swapped {
			break
		}
	}
	return err
}

var errNotShortest = errors.New("not a tree of shortest paths")

// validateDistances checks the distances against the edges, and fills in the report f. No edge
// makes a vertex nearer than its distance; an edge joins two reached vertices or two others; each
// vertex has an edge from its parent of the right length; and the tree has no cycle.
func (g *graph) validateDistances(ctx context.Context, root uint64, f *found) error {
	marks, bad, err := g.judgeEdges(ctx, g.asker(), f, func(x kron.Edge, a, b uint64) (j judgement) {
		da, db := distanceOf(a), distanceOf(b)
		if (a == far) != (b == far) || da+x.Weight < db || db+x.Weight < da {
			j.bad = fmt.Errorf("%w: an edge of %g from %d at %g to %d at %g", errNotShortest, x.Weight, x.From, da, x.To, db)
		}
		j.inside = a != far
		j.provesFrom, j.provesTo = nearerOf(a) == x.To && db+x.Weight == da, nearerOf(b) == x.From && da+x.Weight == db
		return j
	})
	if err != nil {
		return err
	}
	return errors.Join(bad, g.checkPaths(ctx, root, marks, f))
}

// checkPaths checks that each of this rank's vertices has an edge from its parent, and that the
// paths of all lead to the root.
func (g *graph) checkPaths(ctx context.Context, root uint64, marks []byte, f *found) error {
	var bad error
	var vertices [1]uint64
	for _, p := range g.mine() {
		for i, word := range p.words {
			switch v := g.vertexOf(p.number, i); {
			case word == far && v != root:
			case v == root && word != reached(0, root):
				bad = fmt.Errorf("%w: the root has the word %#x", errNotShortest, word)
			case v != root && marks[p.slot*g.rows()+i] == 0:
				bad = fmt.Errorf("%w: no edge from %d at %g to its parent %d", errNotShortest, v, distanceOf(word), nearerOf(word))
			default:
				vertices[0]++
			}
		}
	}
	if err := collectives.Allreduce(ctx, g.c, vertices[:], vertices[:], collectives.Sum); err != nil {
		return err
	}
	f.levels = vertices[:]
	cycle, err := g.hasCycle(ctx, root)
	if cycle {
		bad = errors.Join(bad, fmt.Errorf("%w: a path that does not lead to the root", errNotShortest))
	}
	return errors.Join(bad, err)
}

// hasCycle reports whether a path of parents does not lead to the root.
func (g *graph) hasCycle(ctx context.Context, root uint64) (bool, error) {
	all := make([]uint64, g.edges.Vertices()) // the parents of all, and 1
	for _, p := range g.mine() {
		for i, word := range p.words {
			if word != far {
				all[g.vertexOf(p.number, i)] = nearerOf(word) + 1
			}
		}
	}
	if err := collectives.Allreduce(ctx, g.c, all, all, collectives.Max); err != nil {
		return false, err
	}
	good := make([]bool, len(all)) // the path of the vertex leads to the root
	good[root] = true
	for v := range all {
		path := []uint64{}
		at := uint64(v)
		for all[at] != 0 && !good[at] {
			if len(path) > len(all) {
				return true, nil
			}
			path = append(path, at)
			at = all[at] - 1
		}
		if len(path) > 0 && !good[at] {
			return true, nil
		}
		for _, u := range path {
			good[u] = true
		}
	}
	return false, nil
}
