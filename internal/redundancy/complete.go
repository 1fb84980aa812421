package redundancy

// Complete plans the copies and the parity that are missing in the layout of the present
// world, in which every rank has its own part. Holdings name what else is there already,
// of this very version and layout.
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
	for owner, keepers := range m.keepers {
		for _, k := range keepers {
			if !c.have.Data[k].Has(owner) {
				c.steps = append(c.steps, Send{Owner: owner, From: owner, To: k})
			}
		}
	}
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

// Full returns what the processes have of a version that the layout's own world has
// committed: everybody its part, and all copies and parity.
func Full(l Layout) Holdings {
	have := NewHoldings(l.Size())
	for r := range have.Data {
		have.Data[r].Add(r)
	}
	Apply(have, Complete(l, have))
	return have
}

// Apply adds to the holdings what the steps of a plan bring.
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
