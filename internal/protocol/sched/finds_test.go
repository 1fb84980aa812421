package sched

import (
	"strings"
	"testing"
)

// TestVerifierFinds shows the verifier small wrong algorithms for two ranks, one for each property
// that the verifier proves, and checks its error.
func TestVerifierFinds(t *testing.T) {
	exchange := func(p *Plan, s *Shape, wait bool) {
		p.copy(out(s.Me), in(0), 1)
		sent := p.send(1-s.Me, in(0), 1)
		if !wait {
			sent = none
		}
		p.recv(1-s.Me, out(1-s.Me), 1, sent)
	}
	for _, c := range []struct {
		name            string
		verb            Verb
		messages, depth int
		build           func(p *Plan, s *Shape)
		says            string
	}{
		{"right", Allgather, 2, 1, func(p *Plan, s *Shape) { exchange(p, s, false) }, ""},
		{"each sends before it receives", Allgather, 2, 1, func(p *Plan, s *Shape) { exchange(p, s, true) },
			"rendezvous, newest event first, seed 0: deadlock: rank 0 step 1 (send in+0 x1 to 1): the other end never starts"},
		{"one message too many claimed", Allgather, 3, 1, func(p *Plan, s *Shape) { exchange(p, s, false) }, "2 messages, claimed 3"},
		{"a longer chain claimed", Allgather, 2, 2, func(p *Plan, s *Shape) { exchange(p, s, false) }, "chain of 1 messages, claimed 2"},
		{"nobody receives", Allgather, 2, 1, func(p *Plan, s *Shape) { p.send(1-s.Me, in(0), 1) }, "2 messages are sent and 0 received"},
		{"nobody sends", Allgather, 0, 0, func(p *Plan, s *Shape) { p.recv(1-s.Me, out(0), 1) }, "nobody sends this"},
		{"lengths differ", Allgather, 2, 1, func(p *Plan, s *Shape) {
			p.send(1-s.Me, in(0), 1-s.Me)
			p.recv(1-s.Me, out(0), 1)
		}, "rank 1 sends 0 elements"},
		{"to itself", Allgather, 1, 1, func(p *Plan, s *Shape) { p.send(s.Me, in(0), 1) }, "no such peer"},
		{"beyond the input", Bcast, 1, 1, func(p *Plan, s *Shape) { p.send(1-s.Me, in(0), 1) }, "reads beyond in of 0"},
		{"beyond the output", Allgather, 0, 0, func(p *Plan, s *Shape) { p.copy(out(2), in(0), 1) }, "writes beyond out of 2"},
		{"before the output", Allgather, 0, 0, func(p *Plan, s *Shape) { p.copy(out(-1), in(0), 1) }, "writes beyond out of 2"},
		{"into the input", Allgather, 2, 1, func(p *Plan, s *Shape) { p.recv(1-s.Me, in(0), 1) }, "writes Input"},
		{"shifted onto itself", Alltoall, 0, 0, func(p *Plan, s *Shape) {
			tmp := p.alloc(3)
			p.copy(tmp.plus(1), tmp, 2)
		}, "reads and writes places that overlap"},
		{"waits for a later step", Allgather, 0, 0, func(p *Plan, s *Shape) { p.copy(out(0), in(0), 1, 1) }, "waits for step 1"},
		{"beside each other", Allgather, 2, 1, func(p *Plan, s *Shape) {
			p.recv(1-s.Me, out(0), 1)
			p.copy(out(0), in(0), 1)
			p.send(1-s.Me, in(0), 1)
		}, "runs beside step 0 (recv out+0 x1 from 1) on the same place"},
		{"scratch read first", Allgather, 0, 0, func(p *Plan, s *Shape) { p.copy(out(0), p.alloc(1), 1) }, "is read and was never written"},
		{"incomplete", Allgather, 0, 0, func(p *Plan, s *Shape) { p.copy(out(s.Me), in(0), 1) },
			"wrong result: rank 0, element 2 of its memory is nothing instead of element 0 of block 0 of [1]"},
		{"somewhere else", Gather, 1, 1, func(p *Plan, s *Shape) {
			if s.Me == 0 {
				p.copy(out(1), in(0), 1)
				p.recv(1, out(0), 1)
			} else {
				p.send(0, in(0), 1)
			}
		}, "element 1 of its memory is element 0 of block 0 of [1] instead of element 0 of block 0 of [0]"},
		{"twice the same", Allreduce, 0, 0, func(p *Plan, s *Shape) { p.reduce(out(0), in(0), in(0), 1) }, "combines element 0 of block 0 of [0] with element 0 of block 0 of [0]"},
		{"in the wrong order", Allreduce, 2, 1, func(p *Plan, s *Shape) {
			tmp := p.alloc(1)
			p.send(1-s.Me, in(0), 1)
			p.reduce(out(0), in(0), tmp, 1, p.recv(1-s.Me, tmp, 1))
		}, "rank 1 step 2 (reduce out+0 = in+0 op tmp+0 x1): element 0 combines element 0 of block 0 of [1] with element 0 of block 0 of [0]"},
		{"one rank does not wait", Barrier, 1, 1, func(p *Plan, s *Shape) {
			if s.Me == 0 {
				p.send(1, out(0), 0)
			} else {
				p.recv(0, out(0), 0)
			}
		}, "rank 0 leaves without having heard of rank 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Algorithm{Name: c.name, Verb: c.verb, build: c.build, claim: func(*Case) (int, int) { return c.messages, c.depth }}
			var v Verifier
			err := v.Verify(&a, &Case{N: 2, Count: 1}, Orders(2))
			switch {
			case c.says == "" && err != nil:
				t.Errorf("wrongly said: %v", err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("says %v, not %q", err, c.says)
			}
		})
	}
}

// TestVerifierGoesOn: after a failed execution the same Verifier works like a new one.
func TestVerifierGoesOn(t *testing.T) {
	var v Verifier
	a := findAlgorithm("allreduce/ring")
	c := Case{N: 5, Count: 9}
	v.Build(a, &c)
	s := &v.Plans[3].Steps[2]
	s.Src, s.Dst = s.With, s.With // combines the rank's own elements with themselves
	if err := v.Check(a, &c, Orders(0)); err == nil {
		t.Fatal("not found")
	}
	if err := v.Verify(a, &c, Orders(2)); err != nil {
		t.Error(err)
	}
}
