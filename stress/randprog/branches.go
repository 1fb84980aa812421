package main

import "sync"

// runGoroutines runs steps on several communicators at once, with one goroutine for each.
func runGoroutines(s *step) error {
	groups := append([]*group{s.g}, s.m.sureSlots()...)
	s.rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	groups = groups[:min(len(groups), 2+s.rng.IntN(branchesMax-1))]
	branches := make([][]*step, len(groups))
	for k, g := range groups {
		for j := range 1 + s.rng.IntN(branchMax) {
			op := s.m.drawOperation(s.rng, func(o *operation) bool { return !o.makes && !o.whole })
			branches[k] = append(branches[k], s.m.newStep(s.ctx, op, g, s.number, 1+k*branchMax+j))
		}
	}
	var all sync.WaitGroup
	for _, steps := range branches {
		all.Go(func() {
			for _, inner := range steps {
				s.m.take(inner)
			}
		})
	}
	all.Wait()
	return nil
}

// sureSlots returns the communicators that all members have.
func (m *machine) sureSlots() (sure []*group) {
	for _, g := range m.slots {
		if g.sure {
			sure = append(sure, g)
		}
	}
	return sure
}
