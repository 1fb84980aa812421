package sched

import (
	"errors"
	"fmt"
)

// A Verifier builds the plans of all ranks for one case and proves them correct; the package
// comment defines correct. A Verifier reuses its memory for the next case. The zero value is ready.
type Verifier struct {
	Plans []Plan // by rank; Check examines these

	alg *Algorithm
	c   *Case

	memories []memory
	cells    []value  // of all ranks, one behind the other
	base     [][3]int // by rank: the place in cells of each of its buffers
	size     [][3]int // by rank: the lengths of its buffers

	first []int32 // by rank: the number of its first step among all steps
	mate  []int32 // by step: the matching step of the peer, or none
	heads []int32 // by pair of ranks: the next message to be matched
	chain []int32 // by step: the next message of the pair

	races racer
	world world
	sets  *sets
	runs  int
}

// Verify builds the plans and checks them, executing them once under each of the orders. The proof
// that there is no deadlock needs an order with Rendezvous, such as the first of Orders.
func (v *Verifier) Verify(a *Algorithm, c *Case, orders []Order) error {
	v.Build(a, c)
	return v.Check(a, c, orders)
}

// Fits reports whether the algorithm serves the case.
func (a *Algorithm) Fits(c *Case) bool {
	return c.Layout <= a.Blocks && (!c.InPlace || a.InPlace) && (!a.Even || c.N == 1 || c.N%2 == 0) &&
		(c.Root == 0 || a.Verb.Rooted())
}

// Build fills Plans.
func (v *Verifier) Build(a *Algorithm, c *Case) {
	v.memories = resize(v.memories, c.N)
	for len(v.Plans) < c.N {
		v.Plans = append(v.Plans, Plan{})
	}
	v.Plans = v.Plans[:c.N]
	for r := range v.Plans {
		v.memories[r] = c.memory(a.Verb, r)
		a.Build(&v.Plans[r], &v.memories[r].shape)
	}
}

// Check checks Plans. The error names the first faulty rank and step.
func (v *Verifier) Check(a *Algorithm, c *Case, orders []Order) error {
	v.alg, v.c = a, c
	v.place()
	for r := range v.Plans {
		if err := v.checkSteps(r); err != nil {
			return err
		}
		if err := v.races.check(v, r); err != nil {
			return err
		}
	}
	if err := v.meet(); err != nil {
		return err
	}
	for _, o := range orders {
		if err := v.run(o); err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
	}
	return nil
}

// Runs returns the number of executions of all ranks that the Verifier has made.
func (v *Verifier) Runs() int { return v.runs }

// place lays the buffers of all ranks out in one memory; in place Input and
// Output share it.
func (v *Verifier) place() {
	n := v.c.N
	v.base, v.size, v.first = resize(v.base, n), resize(v.size, n), resize(v.first, n+1)
	next, steps := 0, 0
	for r := range n {
		m, p := &v.memories[r], &v.Plans[r]
		v.size[r] = [3]int{m.in, m.out, p.Scratch}
		in, out := next, next+m.in
		next += m.in + m.out
		if m.alias {
			in, out = in+max(m.inAt, 0), in+max(-m.inAt, 0)
		}
		v.base[r] = [3]int{in, out, next}
		next += p.Scratch
		v.first[r] = int32(steps)
		steps += len(p.Steps)
	}
	v.first[n] = int32(steps)
	v.cells = resize(v.cells, next)
}

// at returns the place in cells of a Ref of rank r.
func (v *Verifier) at(r int, ref Ref) int { return v.base[r][ref.Buf] + ref.Off }

func (v *Verifier) wrong(r, i int, format string, args ...any) error {
	return fmt.Errorf("rank %d step %d (%v): %s", r, i, &v.Plans[r].Steps[i], fmt.Sprintf(format, args...))
}

// checkSteps checks each step of one rank by itself.
func (v *Verifier) checkSteps(r int) error {
	p := &v.Plans[r]
	if p.N != v.c.N || p.Me != r {
		return fmt.Errorf("rank %d has the plan of rank %d of %d", r, p.Me, p.N)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, a := range p.After(i) {
			if a < 0 || int(a) >= i {
				return v.wrong(r, i, "waits for step %d", a)
			}
		}
		if why := v.badStep(r, s); why != "" {
			return v.wrong(r, i, "%s", why)
		}
	}
	return nil
}

func (v *Verifier) badStep(r int, s *Step) string {
	if s.Len < 0 {
		return "negative length"
	}
	if (s.Kind == Send || s.Kind == Recv) && (s.Peer < 0 || int(s.Peer) >= v.c.N || int(s.Peer) == r) {
		return "no such peer"
	}
	for _, ref := range s.reads() {
		if ref.Off < 0 || ref.Off+s.Len > v.size[r][ref.Buf] {
			return fmt.Sprintf("reads beyond %v of %d", ref.Buf, v.size[r][ref.Buf])
		}
	}
	for _, ref := range s.writes() {
		if ref.Buf == Input {
			return "writes Input"
		}
		if ref.Off < 0 || ref.Off+s.Len > v.size[r][ref.Buf] {
			return fmt.Sprintf("writes beyond %v of %d", ref.Buf, v.size[r][ref.Buf])
		}
		for _, from := range s.reads() {
			if d := v.at(r, from) - v.at(r, ref); d != 0 && -s.Len < d && d < s.Len {
				return "reads and writes places that overlap"
			}
		}
	}
	return ""
}

// reads and writes are the operands of a step.
func (s *Step) reads() []Ref {
	switch s.Kind {
	case Recv:
		return nil
	case Reduce:
		return []Ref{s.Src, s.With}
	default:
		return []Ref{s.Src}
	}
}

func (s *Step) writes() []Ref {
	if s.Kind == Send {
		return nil
	}
	return []Ref{s.Dst}
}

// meet finds the other end of each message: the k-th Send of i to j is the k-th Recv of j from i,
// in every order of events, because a rank starts both in the order of its plan.
func (v *Verifier) meet() error {
	n, steps := v.c.N, int(v.first[v.c.N])
	v.heads, v.chain, v.mate = fill(v.heads, n*n), resize(v.chain, steps), fill(v.mate, steps)
	messages := 0
	for r := n - 1; r >= 0; r-- {
		p := &v.Plans[r]
		for i := len(p.Steps) - 1; i >= 0; i-- { // backwards, so that chains run forwards
			if s := &p.Steps[i]; s.Kind == Send {
				pair, id := r*n+int(s.Peer), v.first[r]+int32(i)
				v.chain[id], v.heads[pair] = v.heads[pair], id
				messages++
			}
		}
	}
	met := 0
	for r := range n {
		p := &v.Plans[r]
		for i := range p.Steps {
			s := &p.Steps[i]
			if s.Kind != Recv {
				continue
			}
			pair, id := int(s.Peer)*n+r, v.first[r]+int32(i)
			from := v.heads[pair]
			if from == none {
				return v.wrong(r, i, "nobody sends this")
			}
			if sent := v.step(int(s.Peer), from); sent.Len != s.Len {
				return v.wrong(r, i, "rank %d sends %d elements", s.Peer, sent.Len)
			}
			v.heads[pair] = v.chain[from]
			v.mate[id], v.mate[from] = from, id
			met++
		}
	}
	if met != messages {
		return fmt.Errorf("%d messages are sent and %d received", messages, met)
	}
	if claimed, _ := v.alg.Claim(v.c); claimed != messages {
		return fmt.Errorf("%d messages, claimed %d", messages, claimed)
	}
	return nil
}

func (v *Verifier) step(r int, id int32) *Step { return &v.Plans[r].Steps[id-v.first[r]] }

var (
	errDeadlock = errors.New("deadlock")
	errResult   = errors.New("wrong result")
)
