package main

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

// BenchmarkSearch between two goroutine ranks, at scale 15.
func BenchmarkSearch(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		b.Run(name, func(b *testing.B) {
			commtest.Run(b, 2, func(ctx context.Context, c *comm.Comm) {
				g, err := build(ctx, c, kron.New(15), variants[name])
				if err != nil {
					b.Error(err)
					return
				}
				roots, err := g.roots(ctx, 4)
				if err != nil {
					b.Error(err)
					return
				}
				if c.Rank() == 0 {
					b.ResetTimer()
				}
				for k := range b.N {
					s := &search{root: roots[k%4]}
					if err := s.run(ctx, g); err != nil {
						b.Error(err)
					}
				}
				if err := g.free(); err != nil {
					b.Error(err)
				}
			})
		})
	}
}
