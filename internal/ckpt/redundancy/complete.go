package redundancy

// Complete plans the copies and the parity that are missing in the layout of the present
// world, in which every rank has its own part. Holdings name the data that are already there,
// of exactly this version and layout.
func Complete(l Layout, have Holdings) []Step {
	c := &completer{have: have}
	l.complete(c)
	return c.steps
}

// completer collects a plan.
type completer struct {
	have  Holdings
	steps []Step
}

func (m Mirror) complete(c *completer) {
	for owner := range m.keepers {
		c.cover(m, owner, owner)
	}
}

// cover plans the copies of owner's part that its server's keepers lack.
func (c *completer) cover(m Mirror, owner, server int) {
	for _, k := range m.keepers[server] {
		if !c.have.Data[k].Has(owner) {
			c.steps = append(c.steps, Send{Owner: owner, From: server, To: k})
		}
	}
}

// Cover plans copies of the parts of a version that a world of another size made: each
// part is at server[o], and the keepers of that process get the part, too. These copies replace
// the old world's layout until the present world commits for the first time.
func Cover(m Mirror, have Holdings, server []int) []Step {
	c := &completer{have: have}
	for owner, q := range server {
		c.cover(m, owner, q)
	}
	return c.steps
}

func (c Code) complete(p *completer) {
	for _, g := range c.groups {
		for _, r := range g.Members {
			if g.Parity > 0 && !p.have.Parity[r].Has(r) {
				p.steps = append(p.steps, Encode{To: r, Group: g})
			}
		}
	}
}

// Full returns the holdings of the processes for a version that the layout's own world has
// committed: each process has its part, and all copies and parity are there.
func Full(l Layout) Holdings {
	have := NewHoldings(l.Size())
	for r := range have.Data {
		have.Data[r].Add(r)
	}
	Apply(have, Complete(l, have))
	return have
}

// Apply adds the results of the steps of a plan to the holdings.
func Apply(have Holdings, steps []Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case Send:
			have.Data[s.To].Add(s.Owner)
		case Rebuild:
			have.Data[s.To].Add(s.Owner)
		case Encode:
			have.Parity[s.To].Add(s.To)
		}
	}
}
