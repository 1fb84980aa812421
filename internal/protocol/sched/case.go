package sched

// A Case is one problem for all ranks at once. The verifier derives every rank's Shape and the
// expected results from a Case.
type Case struct {
	N, Root, Count, Segment, Radix int

	Nodes   []int // Shape.Nodes
	Layout  Layout
	InPlace bool
	Seed    uint64 // of uneven lengths, of the places of blocks, and of the graph
}

func (c *Case) segments(elems int) int {
	s := Shape{Segment: c.Segment}
	return s.segments(elems)
}

// draw returns a number below n that depends on the arguments and on Seed alone.
func (c *Case) draw(n int, salt, a, b int) int {
	x := c.Seed ^ uint64(salt)<<48 ^ uint64(a)<<24 ^ uint64(b)
	for range 2 { // splitmix64
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return int(x % uint64(n))
}

// The uses of drawn numbers.
const (
	saltLength = iota
	saltZero
	saltPlace
	saltDegree
	saltEdge
)

// elems returns the length of the block from one rank to another. If lengths may be uneven, a fifth
// of the blocks are empty.
func (c *Case) elems(from, to int) int {
	switch {
	case c.Layout == Uniform:
		return c.Count
	case c.draw(5, saltZero, from, to) == 0:
		return 0
	}
	return c.draw(2*c.Count+1, saltLength, from, to)
}

// toAll is the destination of a block for every rank, fromAll the source of a block to which all
// ranks contribute.
const toAll, fromAll = 0, 0

// dests returns the ranks to which rank from sends in the graph: up to five, perhaps repeated,
// perhaps itself.
func (c *Case) dests(from int) []int {
	d := make([]int, c.draw(6, saltDegree, from, 0))
	for i := range d {
		d[i] = c.draw(c.N, saltEdge, from, i)
	}
	return d
}

// memory describes one rank's buffers in a case: their lengths and the places of the blocks.
type memory struct {
	in, out int // lengths
	inAt    int // in place: the offset of Input in Output (or of Output in Input, negative)
	alias   bool
	shape   Shape
}

// lay places blocks: one behind the other, or from the last to the first with
// gaps that differ from rank to rank.
func (c *Case) lay(rank int, counts []int) (b Blocks, total int) {
	b = Blocks{Counts: counts, Displs: make([]int, len(counts))}
	for k := range counts {
		i := k
		if c.Layout == Scattered {
			i = len(counts) - 1 - k
			total += c.draw(3, saltPlace, rank, k)
		}
		b.Displs[i] = total
		total += counts[i]
	}
	if c.Layout == Uniform {
		b = Blocks{}
	}
	return b, total
}

// memory returns the buffers and the Shape of rank me in the case under the verb.
func (c *Case) memory(v Verb, me int) memory {
	m := memory{shape: Shape{N: c.N, Me: me, Root: c.Root, Count: c.Count, Segment: c.Segment, Radix: c.Radix, Nodes: c.Nodes}}
	s := &m.shape
	switch v {
	case Barrier:
		s.Count = 0
	case Bcast:
		m.out = c.Count
	case ReduceTo:
		m.in = c.Count
		if me == c.Root {
			m.out, m.alias = c.Count, true
		}
	case Allreduce, Scan, Exscan:
		m.in, m.out, m.alias = c.Count, c.Count, true
	case Gather:
		s.Count = c.elems(me, toAll)
		m.in = s.Count
		if me == c.Root {
			s.Out, m.out = c.lay(me, c.lengths(func(i int) int { return c.elems(i, toAll) }))
			at, _ := s.outBlock(me)
			m.inAt, m.alias = at.Off, true
		}
	case Scatter:
		s.Count = c.elems(fromAll, me)
		m.out = s.Count
		if me == c.Root {
			s.In, m.in = c.lay(me, c.lengths(func(i int) int { return c.elems(fromAll, i) }))
			at, _ := s.inBlock(me)
			m.inAt, m.alias = -at.Off, true
		}
	case Allgather:
		s.Out, m.out = c.lay(me, c.lengths(func(i int) int { return c.elems(i, toAll) }))
		at, elems := s.outBlock(me)
		m.in, m.inAt, m.alias = elems, at.Off, true
	case Alltoall:
		s.In, m.in = c.lay(me, c.lengths(func(i int) int { return c.elems(me, i) }))
		s.Out, m.out = c.lay(me, c.lengths(func(i int) int { return c.elems(i, me) }))
	case ReduceScatter:
		s.In, m.in = c.lay(me, c.lengths(func(i int) int { return c.elems(fromAll, i) }))
		_, m.out = s.inBlock(me)
	case NeighborAllgather, NeighborAlltoall:
		c.neighbours(v, &m)
	}
	m.alias = m.alias && c.InPlace
	return m
}

func (c *Case) lengths(of func(i int) int) []int {
	l := make([]int, c.N)
	for i := range l {
		l[i] = of(i)
	}
	return l
}

func (c *Case) neighbours(v Verb, m *memory) {
	s := &m.shape
	s.Dests = c.dests(s.Me)
	for from := range c.N {
		for _, to := range c.dests(from) {
			if to == s.Me {
				s.Sources = append(s.Sources, from)
			}
		}
	}
	sends, receives := make([]int, len(s.Dests)), make([]int, len(s.Sources))
	for i, to := range s.Dests {
		sends[i] = c.edge(v, s.Me, to)
	}
	for i, from := range s.Sources {
		receives[i] = c.edge(v, from, s.Me)
	}
	s.Out, m.out = c.lay(s.Me, receives)
	if v == NeighborAlltoall {
		s.In, m.in = c.lay(s.Me, sends)
		return
	}
	s.Count = c.elems(s.Me, toAll)
	m.in = s.Count
}

// edge returns the number of elements on an edge of the graph.
func (c *Case) edge(v Verb, from, to int) int {
	if v == NeighborAllgather {
		to = toAll
	}
	return c.elems(from, to)
}
