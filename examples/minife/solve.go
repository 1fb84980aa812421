package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A process is the data that one process keeps from attempt to attempt: a survivor need not
// assemble again.
type process struct {
	box   box
	steps int
	agree bool // in each iteration
	out   io.Writer

	lo, hi       int // planes; hi 0: nothing is assembled yet
	mass, system *matrix

	agreements int           // made by this process,
	agreeing   time.Duration // and their total time
}

// A solver is one attempt.
type solver struct {
	*process
	c          *comm.Comm
	x          []float64 // of this rank's nodes: protected
	iterations int       // of all steps; the same at all ranks
}

const dt = 0.1

// exact is the solution: trilinear in space and linear in time, so that the elements and the
// implicit Euler step represent the solution without an error.
func (b box) exact(x, y, z, step int) float64 {
	return (1 + float64(step)*dt) * b.source(x, y, z)
}

// source is the derivative of the solution in time; the Laplacian of source is zero.
func (b box) source(x, y, z int) float64 {
	return (1 + float64(x)/float64(b.nx)) * (2 - float64(y)/float64(b.ny)) * (1 + 2*float64(z)/float64(b.nz))
}

// run is called again after each repair.
func (p *process) run(ctx context.Context, w *recovery.World) error {
	if lo, hi := w.Block(p.box.planes()); lo != p.lo || hi != p.hi {
		w.Comm().Mark("assemble", 1)
		p.lo, p.hi = lo, hi
		p.mass, p.system = p.box.assemble(lo, hi, dt)
	}
	s := &solver{process: p, c: w.Comm(), x: make([]float64, (p.hi-p.lo)*p.box.plane())}
	s.eachNode(func(i, x, y, z int) { s.x[i] = p.box.exact(x, y, z, 0) })
	members := []recovery.Member{
		recovery.Slice("x", &s.x, recovery.Rows(p.box.planes(), p.box.plane())),
		recovery.Value("iterations", &s.iterations, recovery.Same()),
	}
	if _, err := w.Protect(ctx, members...); err != nil {
		return err
	}
	for step := range w.Steps(ctx, p.steps) {
		if err := s.step(ctx, step+1); err != nil {
			return err
		}
	}
	if w.Err() != nil {
		return w.Err()
	}
	return s.report(ctx)
}

// eachNode calls f for the nodes of this rank; i is the index of a node.
func (s *solver) eachNode(f func(i, x, y, z int)) {
	i := 0
	for z := s.lo; z < s.hi; z++ {
		for y := range s.box.ny + 1 {
			for x := range s.box.nx + 1 {
				f(i, x, y, z)
				i++
			}
		}
	}
}

// step solves (M/dt + K) x' = M (x/dt + f), with x' given at the surface.
func (s *solver) step(ctx context.Context, step int) error {
	n := len(s.x)
	b, right := make([]float64, n), s.padded()
	s.eachNode(func(i, x, y, z int) {
		right[i+s.box.plane()] = s.x[i]/dt + s.box.source(x, y, z)
		if s.box.edge(x, y, z) {
			s.x[i] = s.box.exact(x, y, z, step)
		}
	})
	if err := s.halo(ctx, right); err != nil {
		return err
	}
	s.mass.multiply(b, right)
	return s.cg(ctx, b)
}

// cg solves the system by conjugate gradients, from the present x on. Nodes of the surface are
// given: residual and directions are zero there.
func (s *solver) cg(ctx context.Context, b []float64) error {
	n, plane := len(s.x), s.box.plane()
	p, ap, r := s.padded(), make([]float64, n), make([]float64, n)
	copy(p[plane:], s.x)
	if err := s.halo(ctx, p); err != nil {
		return err
	}
	s.system.multiply(ap, p)
	for i := range r {
		r[i] = b[i] - ap[i]
	}
	s.clearEdge(r)
	clear(p)
	copy(p[plane:], r)
	rr, err := s.dot(ctx, r, r)
	if err != nil {
		return err
	}
	first := rr
	more := func() bool { return rr > 1e-22*first && rr > 0 }
	for iteration, goOn := 1, more(); goOn; iteration++ {
		if iteration > 1000 {
			return errors.New("minife: conjugate gradients do not converge")
		}
		s.c.Mark("cg", iteration)
		if err := s.halo(ctx, p); err != nil {
			return err
		}
		s.system.multiply(ap, p)
		s.clearEdge(ap)
		pap, err := s.dot(ctx, p[plane:plane+n], ap)
		if err != nil {
			return err
		}
		alpha := rr / pap
		for i := range r {
			s.x[i] += alpha * p[plane+i]
			r[i] -= alpha * ap[i]
		}
		next, err := s.dot(ctx, r, r)
		if err != nil {
			return err
		}
		for i := range r {
			p[plane+i] = r[i] + next/rr*p[plane+i]
		}
		rr = next
		s.iterations++
		if goOn, err = s.goOn(ctx, more()); err != nil {
			return err
		}
	}
	return nil
}

// goOn reports whether another iteration follows: whether this rank needs one, or, with -agree
// each, whether any rank does. With -agree all ranks leave the solver after the same iteration even
// if a rank dies in it, and the death is an error at all ranks or at none.
func (s *solver) goOn(ctx context.Context, want bool) (bool, error) {
	if !s.agree {
		return want, nil
	}
	enough := uint64(1)
	if want {
		enough = 0
	}
	begun := time.Now()
	enough, err := s.c.Agree(ctx, enough)
	s.agreements, s.agreeing = s.agreements+1, s.agreeing+time.Since(begun)
	return enough == 0, err
}

// padded is a vector with a plane of the neighbours at each end.
func (s *solver) padded() []float64 { return make([]float64, len(s.x)+2*s.box.plane()) }

func (s *solver) clearEdge(v []float64) {
	s.eachNode(func(i, x, y, z int) {
		if s.box.edge(x, y, z) {
			v[i] = 0
		}
	})
}

// halo receives the outermost planes of the neighbours.
func (s *solver) halo(ctx context.Context, v []float64) error {
	below, above, plane := s.c.Rank()-1, s.c.Rank()+1, s.box.plane()
	if below < 0 {
		below = comm.None
	}
	if above == s.c.Size() {
		above = comm.None
	}
	last := len(v) - plane
	if _, err := comm.SendRecv(ctx, s.c.To(below), v[plane:2*plane], s.c.From(above), v[last:]); err != nil {
		return err
	}
	_, err := comm.SendRecv(ctx, s.c.To(above), v[last-plane:last], s.c.From(below), v[:plane])
	return err
}

func (s *solver) dot(ctx context.Context, a, b []float64) (float64, error) {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	// A repeated computation must have the same bits.
	return collectives.AllreduceOne(ctx, s.c, sum, collectives.Sum, collectives.Reproducible())
}

// report prints the result and compares it with the known solution.
func (s *solver) report(ctx context.Context) error {
	worst, sum := 0.0, fnv.New64a()
	s.eachNode(func(i, x, y, z int) {
		worst = max(worst, math.Abs(s.x[i]-s.box.exact(x, y, z, s.steps)))
		_ = binary.Write(sum, binary.LittleEndian, s.x[i]) // a hash's never fails
	})
	worst, err := collectives.AllreduceOne(ctx, s.c, worst, collectives.Max)
	if err != nil {
		return err
	}
	sums, err := collectives.GatherValue(ctx, s.c, 0, sum.Sum64())
	if err != nil || s.c.Rank() > 0 {
		return err
	}
	s.c.Mark("report", 1)
	if s.agree {
		fmt.Fprintf(s.out, "agreements: %d in %.6f s\n", s.agreements, s.agreeing.Seconds())
	}
	fmt.Fprintf(s.out, "result: steps=%d iterations=%d error=%.1e checksum=%016x\n", s.steps, s.iterations, worst, combine(sums))
	if worst > 1e-9 {
		return fmt.Errorf("minife: the temperature is wrong by %.1e", worst)
	}
	return nil
}

func combine(sums []uint64) uint64 {
	all := fnv.New64a()
	_ = binary.Write(all, binary.LittleEndian, sums)
	return all.Sum64()
}
