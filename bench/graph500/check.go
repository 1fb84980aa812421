package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

var errOther = errors.New("not as the reference has it")

// check compares with the known values of all scales up to scale: the edges, the roots, and the
// result of each variant from the first root and from the last.
func check(ctx context.Context, w *comm.Comm, scale int) error {
	for _, v := range kron.Vectors {
		if v.Scale > scale {
			continue
		}
		if err := checkEdges(ctx, w, v); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(variants)) {
			if err := checkVariant(ctx, w, v, variants[name]); err != nil {
				return err
			}
		}
		if w.Rank() == 0 {
			fmt.Printf("scale %d: edges, roots, and the trees of %d variants from roots 0 and 63 are those of the reference\n", v.Scale, len(variants))
		}
	}
	return nil
}

// differs is an error if two values do.
func differs[T any](what string, want, got T) error {
	if fmt.Sprint(want) == fmt.Sprint(got) {
		return nil
	}
	return fmt.Errorf("%w: %s: %v, want %v", errOther, what, got, want)
}

// checkEdges makes rank 0 generate all edges.
func checkEdges(ctx context.Context, w *comm.Comm, v kron.Vector) (err error) {
	if w.Rank() == 0 {
		err = edgesDiffer(v)
	}
	ok, agreed := w.AllOK(ctx, err)
	if !ok && err == nil {
		return agreed
	}
	return err
}

func edgesDiffer(v kron.Vector) error {
	g, h, loops := kron.New(v.Scale), fnv.New64a(), 0
	degrees := make([]int, g.Vertices())
	var weights [3]float32
	var b [16]byte
	for e := range g.Edges() {
		x := g.Edge(e)
		binary.LittleEndian.PutUint64(b[:], x.From)
		binary.LittleEndian.PutUint64(b[8:], x.To)
		h.Write(b[:])
		if e < 3 {
			weights[e] = x.Weight
		}
		if x.From == x.To {
			loops++
			continue
		}
		degrees[x.From]++
		degrees[x.To]++
	}
	alone, most := 0, 0
	for u, n := range degrees {
		if n == 0 {
			alone++
		}
		if n > degrees[most] {
			most = u
		}
	}
	first, last := g.Edge(0), g.Edge(g.Edges()-1)
	for k := range weights {
		if math.Abs(float64(weights[k]-v.Weights[k])) > 1e-8 {
			return fmt.Errorf("%w: weight %d: %v, want %v", errOther, k, weights[k], v.Weights[k])
		}
	}
	return errors.Join(differs("sum of the edges", v.Sum, h.Sum64()), differs("first edge", v.First, [2]uint64{first.From, first.To}),
		differs("last edge", v.Last, [2]uint64{last.From, last.To}), differs("loops", v.Loops, loops), differs("vertices without edge", v.Isolated, alone),
		differs("largest degree", v.Degree, degrees[most]), differs("vertex of the largest degree", v.At, uint64(most)))
}

// checkVariant compares roots and trees.
func checkVariant(ctx context.Context, w *comm.Comm, v kron.Vector, how variant) error {
	g, err := build(ctx, w, kron.New(v.Scale), how)
	if err != nil {
		return errors.Join(err, g.free())
	}
	roots, err := g.roots(ctx, 64)
	if err != nil {
		return err
	}
	bad := errors.Join(differs("roots", v.Roots, roots[:len(v.Roots)]), differs("root 63", v.Root63, roots[63]))
	for _, c := range []struct {
		root   int
		levels []uint64
	}{{0, v.Levels0}, {63, v.Levels63}} {
		var r report
		var f found
		if g, f, err = g.searched(ctx, roots[c.root], 0, 2, &r); err != nil {
			return err
		}
		reached := 0
		for _, n := range f.levels {
			reached += int(n)
		}
		loops, err := g.loops(ctx)
		if err != nil {
			return err
		}
		what := fmt.Sprintf(" from root %d by %s", c.root, how.name)
		bad = errors.Join(bad, differs("levels"+what, c.levels, f.levels), differs("vertices"+what, v.Reached0, reached),
			differs("edges"+what, v.Inside0, int(f.edges)-loops))
	}
	return errors.Join(bad, g.free())
}

// loops counts the loops at vertices that the last search has found.
func (g *graph) loops(ctx context.Context) (int, error) {
	var at []uint64
	for _, x := range g.edgesHere() {
		if x.From == x.To {
			at = append(at, x.From)
		}
	}
	words, err := g.asker().words(ctx, at)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, word := range words {
		if word != 0 {
			n++
		}
	}
	return collectives.AllreduceOne(ctx, g.c, n, collectives.Sum)
}
