package sched

import "github.com/goulfm/goulfm/internal/base/must"

// contribute fills Input of one rank, and Output of the root of a Bcast, with their contents before
// the call: element i of block b. Gaps between blocks stay unwritten, so no step may read them.
func (c *Case) contribute(v Verb, m *memory, input, output []value) {
	s := &m.shape
	me := int32(s.Me)
	blocks := 0
	switch v {
	case Bcast:
		if s.Me == c.Root {
			put(output, 0, c.Count, 0, me)
		}
	case Scatter:
		if s.Me == c.Root {
			blocks = c.N
		}
	case Alltoall, ReduceScatter:
		blocks = c.N
	case NeighborAlltoall:
		blocks = len(s.Dests)
	default:
		put(input, 0, len(input), 0, me)
	}
	for b := range blocks {
		at, elems := s.inBlock(b)
		put(input, at.Off, elems, b, me)
	}
}

// put writes elements 0, 1, ... of a block, combined from set.
func put(cells []value, off, elems, block int, set int32) {
	must.That(elems <= 1<<16, "a block of %d elements", elems)
	for i := range elems {
		cells[off+i] = valueOf(element(block, i), set)
	}
}

// expect overwrites want with the expected contents of Output after the call. Places that the verb
// does not define keep the contents from before the call, which the caller has put there.
func (c *Case) expect(v Verb, m *memory, all *sets, want []value) {
	s := &m.shape
	switch v {
	case Bcast:
		put(want, 0, c.Count, 0, int32(c.Root))
	case ReduceTo, Allreduce:
		put(want, 0, len(want), 0, all.first(c.N))
	case Scan:
		put(want, 0, len(want), 0, all.first(s.Me+1))
	case Exscan:
		if s.Me > 0 {
			put(want, 0, len(want), 0, all.first(s.Me))
		}
	case Scatter:
		put(want, 0, len(want), s.Me, int32(c.Root))
	case ReduceScatter:
		put(want, 0, len(want), s.Me, all.first(c.N))
	case Gather, Allgather, Alltoall:
		c.expectBlocks(v, m, want)
	case NeighborAllgather, NeighborAlltoall:
		c.expectNeighbours(v, m, want)
	}
}

func (c *Case) expectBlocks(v Verb, m *memory, want []value) {
	s := &m.shape
	if v == Gather && s.Me != c.Root {
		return
	}
	block := 0
	if v == Alltoall {
		block = s.Me
	}
	for from := range c.N {
		at, elems := s.outBlock(from)
		put(want, at.Off, elems, block, int32(from))
	}
}

// expectNeighbours: the k-th edge from a rank in Sources is the k-th edge to this rank in the Dests
// of that rank.
func (c *Case) expectNeighbours(v Verb, m *memory, want []value) {
	s := &m.shape
	for i, from := range s.Sources {
		skip := 0
		for _, before := range s.Sources[:i] {
			if before == from {
				skip++
			}
		}
		block := 0
		for k, to := range c.dests(from) {
			if to == s.Me && skip == 0 {
				block = k
				break
			}
			if to == s.Me {
				skip--
			}
		}
		if v == NeighborAllgather {
			block = 0
		}
		at, elems := s.outBlock(i)
		put(want, at.Off, elems, block, int32(from))
	}
}
