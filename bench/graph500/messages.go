package main

import "context"

// simple sends pairs of a vertex and its finder to the owner of the vertex, 256 in a message (the
// reference's "simple").
type simple struct {
	g       *graph
	mine    []part
	level   int // the level that is scanned
	courier *courier[pair]
}

type pair struct{ Target, Source uint64 }

const simplePairs = 256

func newSimple(_ context.Context, g *graph) (scanner, error) {
	s := &simple{g: g, mine: g.mine()}
	s.courier = newCourier(g, simplePairs, s.found)
	return s, nil
}

func (s *simple) begin()      {}
func (s *simple) free() error { return s.courier.free() }

func (s *simple) found(pairs []pair) {
	for _, x := range pairs {
		part, i := s.g.partOf(x.Target)
		setFirst(&s.mine[s.g.where[part].slot].words[i], s.level, x.Source)
	}
}

// setFirst sets the word of one of this rank's vertices unless the word is set.
func setFirst(word *uint64, level int, source uint64) {
	if *word == 0 {
		*word = claimed(level+1, source)
	}
}

func (s *simple) scan(ctx context.Context, level int, here []vertex, _ sums) error {
	s.level = level
	for _, v := range here {
		for _, n := range v.near {
			part, i := s.g.partOf(n.Vertex())
			if at := s.g.where[part]; at.rank == s.g.c.Rank() {
				setFirst(&s.mine[at.slot].words[i], level, v.number)
				continue
			}
			s.courier.out[part] = append(s.courier.out[part], pair{n.Vertex(), v.number})
			if len(s.courier.out[part]) == simplePairs {
				if err := s.courier.send(ctx, part); err != nil {
					return err
				}
			}
		}
	}
	return s.courier.finish(ctx)
}

// packed sends the same pairs in 8 bytes each: places within the parts of both vertices. A message
// of 32 KiB names these parts once (the pattern of the reference 3.0).
type packed struct {
	g       *graph
	mine    []part
	level   int // the level that is scanned
	courier *courier[uint32]
}

const packedWords = 32 << 10 / 4

func newPacked(_ context.Context, g *graph) (scanner, error) {
	s := &packed{g: g, mine: g.mine()}
	s.courier = newCourier(g, packedWords, s.found)
	return s, nil
}

func (s *packed) begin()      {}
func (s *packed) free() error { return s.courier.free() }

// found takes in a message: the parts of the targets and of the sources, then pairs of places.
func (s *packed) found(m []uint32) {
	words, part := s.mine[s.g.where[m[0]].slot].words, int(m[1])
	for i := 2; i < len(m); i += 2 {
		setFirst(&words[m[i]], s.level, s.g.vertexOf(part, int(m[i+1])))
	}
}

func (s *packed) scan(ctx context.Context, level int, here []vertex, _ sums) error {
	s.level = level
	for k, v := range here {
		if k > 0 && here[k-1].slot != v.slot { // another part of the sources
			if err := s.courier.flush(ctx); err != nil {
				return err
			}
		}
		if err := s.neighbours(ctx, v); err != nil {
			return err
		}
	}
	return s.courier.finish(ctx)
}

func (s *packed) neighbours(ctx context.Context, v vertex) error {
	source, k := s.g.partOf(v.number)
	for _, n := range v.near {
		part, i := s.g.partOf(n.Vertex())
		if at := s.g.where[part]; at.rank == s.g.c.Rank() {
			setFirst(&s.mine[at.slot].words[i], s.level, v.number)
			continue
		}
		out := s.courier.out[part]
		if len(out) == 0 {
			out = append(out, uint32(part), uint32(source))
		}
		s.courier.out[part] = append(out, uint32(i), uint32(k))
		if len(out)+2 == packedWords {
			if err := s.courier.send(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}
