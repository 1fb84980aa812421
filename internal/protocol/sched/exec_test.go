package sched

import (
	"errors"
	"testing"
)

// idle is a host that has no memory.
type idle struct{ did int }

func (h *idle) Do(int) { h.did++ }

func noRank(a *Algorithm, n int) *Shape {
	s := Shape{N: n, Me: n / 2, Count: 2*n + 1, Segment: 7}
	for r := range n { // the rank leads its node
		s.Nodes = append(s.Nodes, r/(n/2)*3+r%2)
	}
	if a.Verb == NeighborAllgather || a.Verb == NeighborAlltoall {
		s.Sources, s.Dests = []int{0, n / 2}, []int{1, n / 2}
	}
	return &s
}

// TestNothingAllocates: neither building into a used plan nor a second execution allocates.
func TestNothingAllocates(t *testing.T) {
	for _, a := range Algorithms() {
		var p Plan
		var x Exec
		h := &idle{}
		s := noRank(&a, 16)
		pending := make([]int, 0, 1000)
		if per := testing.AllocsPerRun(10, func() {
			a.Build(&p, s)
			x.Start(&p, h)
			for done, _ := x.Done(); !done; done, _ = x.Done() {
				pending = pending[:0]
				for i, ok := x.Next(); ok; i, ok = x.Next() {
					pending = append(pending, i)
				}
				for _, i := range pending {
					x.Completed(i)
				}
			}
		}); per != 0 {
			t.Errorf("%s: %v allocations", a.Name, per)
		}
	}
}

var errDead = errors.New("a peer is dead")

// TestFailEndsAtEveryStep fails the execution after each number of completed messages: nothing more
// starts, messages under way can still complete, and the same Exec runs the next plan to its end.
func TestFailEndsAtEveryStep(t *testing.T) {
	ends := 0
	for _, a := range Algorithms() {
		var p Plan
		a.Build(&p, noRank(&a, 6))
		var x Exec
		for after := 0; ; after++ {
			h := &idle{}
			left, begun := runUntil(&x, &p, h, after)
			done, err := x.Done()
			if left == 0 {
				if !done || err != nil {
					t.Fatalf("%s: all steps complete, Done is %v, %v", a.Name, done, err)
				}
				break
			}
			if done {
				t.Fatalf("%s: Done with %d steps left", a.Name, left)
			}
			did := h.did
			x.Fail(errDead)
			x.Fail(errors.New("a second one"))
			if i, ok := x.Next(); ok {
				t.Fatalf("%s: step %d starts after the failure", a.Name, i)
			}
			if done, err := x.Done(); !done || err != errDead || x.Outstanding() != len(begun) {
				t.Fatalf("%s: Done is %v, %v, %d outstanding instead of %d", a.Name, done, err, x.Outstanding(), len(begun))
			}
			for _, i := range begun {
				x.Completed(i)
			}
			if x.Outstanding() != 0 || h.did != did {
				t.Fatalf("%s: %d outstanding, %d local steps after the failure", a.Name, x.Outstanding(), h.did-did)
			}
			ends++
		}
		x.Fail(errDead)
		if _, err := x.Done(); err != nil {
			t.Fatalf("%s: failed after its end", a.Name)
		}
	}
	t.Logf("%d failures", ends)
}

// runUntil completes the given number of messages, the oldest first. It returns the number of steps
// left and the messages under way.
func runUntil(x *Exec, p *Plan, h Host, messages int) (left int, begun []int) {
	x.Start(p, h)
	for {
		for i, ok := x.Next(); ok; i, ok = x.Next() {
			begun = append(begun, i)
		}
		if messages == 0 || len(begun) == 0 {
			return x.left, begun
		}
		x.Completed(begun[0])
		begun = begun[1:]
		messages--
	}
}

// TestMisuse: calls that a host must not make fail an assertion.
func TestMisuse(t *testing.T) {
	var p, other Plan
	a := findAlgorithm("bcast/binomial")
	a.Build(&p, &Shape{N: 4, Me: 1, Count: 3})
	begin := func() *Exec {
		x := &Exec{}
		x.Start(&p, &idle{})
		x.Next()
		return x
	}
	for name, bad := range map[string]func(){
		"completed twice":         func() { x := begin(); x.Completed(0); x.Completed(0) },
		"completed before start":  func() { x := &Exec{}; x.Start(&p, &idle{}); x.Completed(0) },
		"started while under way": func() { begin().Start(&p, &idle{}) },
		"failed without error":    func() { begin().Fail(nil) },
		"rank out of range":       func() { a.Build(&other, &Shape{N: 4, Me: 4}) },
		"root out of range":       func() { a.Build(&other, &Shape{N: 4, Root: -1}) },
		"odd number of ranks":     func() { findAlgorithm("allgather/neighbor-exchange").Build(&other, &Shape{N: 3}) },
		"negative length":         func() { a.Build(&other, &Shape{N: 4, Count: -1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: not noticed", name)
				}
			}()
			bad()
		}()
	}
}

func findAlgorithm(name string) *Algorithm {
	for _, a := range Algorithms() {
		if a.Name == name {
			return &a
		}
	}
	panic(name)
}

// BenchmarkBuild64 builds all 64 ranks' plans of each algorithm.
func BenchmarkBuild64(b *testing.B) {
	for _, a := range Algorithms() {
		b.Run(a.Name, func(b *testing.B) {
			var p Plan
			s := noRank(&a, 64)
			for b.Loop() {
				for s.Me = range 64 {
					a.Build(&p, s)
				}
			}
			b.ReportMetric(float64(len(p.Steps)), "steps/rank")
		})
	}
}
