package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A mutation is one error planted into the plan of one rank.
type mutation struct {
	rank, step int
	kind       string
	what       string
	spaces     bool // the missing dependency was between two messages
	plan       Plan
}

// mutations plants every error of every kind into every step of plan p.
func mutations(c *Case, p *Plan) []mutation {
	var all []mutation
	add := func(i int, kind, what string, plan Plan) {
		all = append(all, mutation{rank: p.Me, step: i, kind: kind, what: what, plan: plan})
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		add(i, "drop a step", s.String(), rebuild(p, i, nil))
		edit := func(kind string, change func(s *Step)) {
			wrong := *s
			change(&wrong)
			add(i, kind, fmt.Sprintf("%v instead of %v", &wrong, s), rebuild(p, i, &wrong))
		}
		if s.Kind <= Recv && c.N > 2 {
			edit("wrong peer", func(s *Step) {
				s.Peer = (s.Peer + 1) % int32(c.N)
				if int(s.Peer) == p.Me {
					s.Peer = (s.Peer + 1) % int32(c.N)
				}
			})
		}
		if s.Len > 0 {
			for _, d := range []int{1, -1, s.Len} {
				if s.Kind != Recv {
					edit("off by one: source", func(s *Step) { s.Src.Off += d })
				}
				if s.Kind == Reduce {
					edit("off by one: source", func(s *Step) { s.With.Off += d })
				}
				if s.Kind != Send {
					edit("off by one: target", func(s *Step) { s.Dst.Off += d })
				}
			}
			edit("off by one: length", func(s *Step) { s.Len-- })
		}
		if s.Kind == Reduce && s.Len > 0 {
			edit("swapped order", func(s *Step) { s.Src, s.With = s.With, s.Src })
		}
		for k, a := range p.After(i) {
			add(i, "missing dependency", fmt.Sprintf("%v does not wait for step %d (%v)", s, a, &p.Steps[a]), without(p, i, k))
			all[len(all)-1].spaces = s.Kind <= Recv && p.Steps[a].Kind <= Recv
		}
	}
	return all
}

// rebuild copies p with step i replaced, or left out if wrong is nil. No step waits for a step that
// is left out.
func rebuild(p *Plan, i int, wrong *Step) Plan {
	return remake(p, func(k int, s *Step, after []int32) (*Step, []int32) {
		if k == i {
			s = wrong
		}
		return s, after
	})
}

// without copies p without the k-th dependency of step i.
func without(p *Plan, i, k int) Plan {
	return remake(p, func(at int, s *Step, after []int32) (*Step, []int32) {
		if at == i {
			after = slices.Delete(slices.Clone(after), k, k+1)
		}
		return s, after
	})
}

func remake(p *Plan, change func(i int, s *Step, after []int32) (*Step, []int32)) Plan {
	q := Plan{}
	q.reset(&Shape{N: p.N, Me: p.Me})
	q.Scratch = p.Scratch
	now := make([]int32, len(p.Steps))
	for i := range p.Steps {
		s, after := change(i, &p.Steps[i], p.After(i))
		if s == nil {
			now[i] = none
			continue
		}
		var moved []int32
		for _, a := range after {
			moved = append(moved, now[a])
		}
		switch s.Kind {
		case Send:
			now[i] = q.send(int(s.Peer), s.Src, s.Len, moved...)
		case Recv:
			now[i] = q.recv(int(s.Peer), s.Dst, s.Len, moved...)
		default:
			now[i] = q.add(Step{Kind: s.Kind, Dst: s.Dst, Src: s.Src, With: s.With, Len: s.Len, before: none}, moved)
		}
	}
	return q
}

// harmless returns the reason why a mutation that was not found cannot do harm, or "" if there is
// none.
func harmless(a *Algorithm, m *mutation, right *Plan) string {
	switch {
	case m.kind == "swapped order" && a.Commutative:
		return "the operation commutes"
	case m.kind == "missing dependency" && sameOrder(right, &m.plan):
		return "the other dependencies imply it"
	case m.kind == "missing dependency" && a.Verb == Barrier && echoes(right, &m.plan):
		return "it only tells a rank of itself"
	case m.kind == "missing dependency" && throttles(a) && m.spaces:
		return "it only spaces messages out"
	}
	return ""
}

// throttles reports whether the algorithm is a pairwise exchange: the messages of a round wait for
// the messages of the round before without using their elements.
func throttles(a *Algorithm) bool { return strings.HasSuffix(a.Name, "/pairwise") }

// echoes reports whether q lacks only dependencies on Recvs, and each Send that lost one is a
// message to the sender of that Recv. In a barrier such a dependency only reports a rank's own
// arrival to the rank itself.
func echoes(p, q *Plan) bool {
	var x, y racer
	x.fill(p)
	y.fill(q)
	for i := range p.Steps {
		for a := range i {
			lost := (x.reach[i*x.words+a/64]^y.reach[i*y.words+a/64])&(1<<(a%64)) != 0
			if lost && (p.Steps[a].Kind != Recv || p.Steps[i].Kind == Send && p.Steps[i].Peer != p.Steps[a].Peer) {
				return false
			}
		}
	}
	return true
}

// sameOrder reports whether exactly the same steps wait for each other in both plans.
func sameOrder(p, q *Plan) bool {
	var x, y racer
	x.fill(p)
	y.fill(q)
	return slices.Equal(x.reach, y.reach)
}

// TestMutations plants errors everywhere in small schedules of every builder and
// demands that each is found or argued harmless.
func TestMutations(t *testing.T) {
	ns := []int{4, 6, 7}
	switch {
	case sampled():
		ns = ns[1:2]
	case !longtest.On() && !*long:
		ns = ns[:1]
	case *long:
		ns = []int{2, 3, 4, 5, 6, 7, 8, 9, 12, 13}
	}
	total := map[string]int{}
	for _, a := range Algorithms() {
		sum := map[string]int{}
		for _, n := range ns {
			c := Case{N: n, Count: n + 3, Segment: 3, Seed: 1}
			if a.Verb.Rooted() {
				c.Root = n / 3
			}
			if blocks(&a) {
				c.Count = 2
			}
			for _, nodes := range append(nodeMaps(&a, n), nil) {
				if c.Nodes = nodes; a.Fits(&c) {
					plant(t, &a, &c, sum)
				}
			}
		}
		planted, found := sum["planted"], sum["found"]
		t.Logf("%-32s %5d planted, %5d found, harmless %s", a.Name, planted, found, excuses(sum))
		for k, v := range sum {
			total[k] += v
		}
		if found == 0 {
			t.Errorf("%s: no error found", a.Name)
		}
	}
	t.Logf("%-32s %5d planted, %5d found, harmless %s", "all", total["planted"], total["found"], excuses(total))
	for _, k := range sorted(total) {
		if kind, is := strings.CutPrefix(k, "kind: "); is {
			t.Logf("%32s %5d planted, %5d found", kind, total[k], total["found: "+kind])
			if total["found: "+kind] == 0 {
				t.Errorf("%s: never found", kind)
			}
		}
	}
}

func sorted(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return keys
}

func excuses(sum map[string]int) string {
	var s []string
	n := 0
	for _, k := range sorted(sum) {
		if why, is := strings.CutPrefix(k, "because "); is {
			s = append(s, fmt.Sprintf("%s: %d", why, sum[k]))
			n += sum[k]
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%d  %s", n, strings.Join(s, ", ")))
}

func plant(t *testing.T, a *Algorithm, c *Case, sum map[string]int) {
	var v Verifier
	if err := v.Verify(a, c, Orders(1)); err != nil {
		t.Fatal(err)
	}
	for r := range c.N {
		right := remake(&v.Plans[r], func(_ int, s *Step, after []int32) (*Step, []int32) { return s, after })
		for _, m := range mutations(c, &right) {
			sum["planted"]++
			sum["kind: "+m.kind]++
			if find(&v, a, c, &m) {
				sum["found"]++
				sum["found: "+m.kind]++
			} else if why := harmless(a, &m, &right); why != "" {
				sum["because "+why]++
			} else {
				t.Errorf("%s n=%d root=%d nodes=%v: not found: rank %d step %d, %s: %s\n%v", a.Name, c.N, c.Root, c.Nodes, r, m.step, m.kind, m.what, &right)
			}
		}
	}
}

// find reports whether the verifier rejects the mutation, in place or not: some dependencies exist
// only for calls in place.
func find(v *Verifier, a *Algorithm, c *Case, m *mutation) bool {
	for _, inPlace := range []bool{false, true} {
		k := *c
		k.InPlace = inPlace
		if !a.Fits(&k) {
			continue
		}
		v.Build(a, &k)
		v.Plans[m.rank] = m.plan
		err := v.Check(a, &k, Orders(1))
		v.Plans[m.rank] = Plan{} // Build reuses memory; not that of the mutation
		if err != nil {
			return true
		}
	}
	return false
}

// TestExecutionsAloneFindMostMissingDependencies: the executions under adversarial orders are the
// second part of the proof. This test uses them alone, without the proof that dependencies order
// all conflicts: a missing dependency must show in the elements that some rank reads. Executions
// cannot find a missing dependency if the harmful order of events does not occur. But a world
// without adversarial orders would find few.
func TestExecutionsAloneFindMostMissingDependencies(t *testing.T) {
	planted, found := 0, 0
	for _, a := range Algorithms() {
		c := Case{N: 6, Count: 9, Segment: 3}
		if twoLevel(&a) {
			c.Nodes = []int{0, 1, 0, 1, 0, 1}
		}
		if blocks(&a) {
			c.Count = 2
		}
		var v Verifier
		v.Build(&a, &c)
		for r := range c.N {
			right := remake(&v.Plans[r], func(_ int, s *Step, after []int32) (*Step, []int32) { return s, after })
			for _, m := range mutations(&c, &right) {
				v.Build(&a, &c)
				v.Plans[r] = m.plan
				if m.kind == "missing dependency" && v.Check(&a, &c, nil) != nil {
					planted++
					if v.meet() == nil && slices.ContainsFunc(Orders(8), func(o Order) bool { return v.run(o) != nil }) {
						found++
					}
				}
				v.Plans[r] = Plan{}
			}
		}
	}
	t.Logf("%d of %d found", found, planted)
	if found*4 < planted*3 {
		t.Errorf("executions find %d of %d missing dependencies", found, planted)
	}
}
