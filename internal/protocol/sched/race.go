package sched

import "slices"

// racer proves that no two steps of a plan can run at the same time if both use a place and one of
// them writes there: of each two steps in conflict one waits, directly or not, for the other. The
// proof holds for all orders of events at once. The messages of a pair meet in a fixed order, so
// the results do not depend on the order either.
type racer struct {
	accesses []access
	active   []access
	reach    []uint64 // by step: the steps that are complete before it, as bits
	filled   bool
	words    int
}

type access struct {
	from, to int // cells
	step     int32
	writes   bool
}

func (c *racer) check(v *Verifier, r int) error {
	p := &v.Plans[r]
	c.accesses, c.filled = c.accesses[:0], false
	for i := range p.Steps {
		c.list(v, r, int32(i), &p.Steps[i])
	}
	slices.SortFunc(c.accesses, func(a, b access) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return int(a.step - b.step)
	})
	c.active = c.active[:0]
	for _, a := range c.accesses {
		keep := c.active[:0]
		for _, b := range c.active {
			if b.to <= a.from {
				continue
			}
			keep = append(keep, b)
			if (a.writes || b.writes) && a.step != b.step && !c.ordered(p, a.step, b.step) {
				return v.wrong(r, int(max(a.step, b.step)), "runs beside step %d (%v) on the same place", min(a.step, b.step), &p.Steps[min(a.step, b.step)])
			}
		}
		c.active = append(keep, a)
	}
	return nil
}

func (c *racer) list(v *Verifier, r int, i int32, s *Step) {
	if s.Len == 0 || s.Kind == Copy && v.at(r, s.Dst) == v.at(r, s.Src) {
		return
	}
	add := func(ref Ref, writes bool) {
		from := v.at(r, ref)
		c.accesses = append(c.accesses, access{from, from + s.Len, i, writes})
	}
	if s.Kind != Recv {
		add(s.Src, false)
	}
	if s.Kind == Reduce {
		add(s.With, false)
	}
	if s.Kind != Send {
		add(s.Dst, true)
	}
}

// ordered reports whether the later of two steps waits, directly or not, for the earlier.
func (c *racer) ordered(p *Plan, a, b int32) bool {
	a, b = min(a, b), max(a, b)
	if slices.Contains(p.After(int(b)), a) {
		return true
	}
	if !c.filled {
		c.fill(p)
	}
	return c.reach[int(b)*c.words+int(a)/64]&(1<<(a%64)) != 0
}

func (c *racer) fill(p *Plan) {
	c.words, c.filled = (len(p.Steps)+63)/64, true
	c.reach = resize(c.reach, len(p.Steps)*c.words)
	clear(c.reach)
	for i := range p.Steps {
		mine := c.reach[i*c.words : (i+1)*c.words]
		for _, a := range p.After(i) {
			for w, bits := range c.reach[int(a)*c.words : (int(a)+1)*c.words] {
				mine[w] |= bits
			}
			mine[a/64] |= 1 << (a % 64)
		}
	}
}
