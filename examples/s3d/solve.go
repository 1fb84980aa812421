package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A solver is one rank's part of the computation, in one attempt.
type solver struct {
	block
	o   options
	out io.Writer
	c   *comm.Comm // the ranks in a grid of three dimensions

	u     []float64   // all species, one after the other: protected
	rates []float64   // a register of the Runge-Kutta method, which means nothing between two steps
	pads  [][]float64 // of each species
}

// solve runs the computation. It is called again after each repair. Then Protect restores the
// fields of the last committed step, and Steps continues after that.
func (s *solver) solve(ctx context.Context, w *recovery.World) error {
	if err := s.place(ctx, w); err != nil {
		return err
	}
	if _, err := w.Protect(ctx, recovery.Slice("u", &s.u)); err != nil {
		return err
	}
	for step := range w.Steps(ctx, s.o.steps) {
		if err := s.step(ctx, step); err != nil {
			return err
		}
		if s.o.print > 0 && (step+1)%s.o.print == 0 {
			if err := s.tell(ctx, step+1); err != nil {
				return err
			}
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	return s.report(ctx)
}

// place gives this rank its block of the box, with the initial values.
func (s *solver) place(ctx context.Context, w *recovery.World) error {
	dims, err := comm.DimsCreate(w.Size(), make([]int, 3))
	if err != nil {
		return err
	}
	if s.c, err = w.Comm().Cart(ctx, dims, []bool{true, true, true}, false); err != nil {
		return err
	}
	coords, err := s.c.CartCoords(s.c.Rank())
	if err != nil {
		return err
	}
	s.block = block{species: s.o.species}
	for d, total := range s.o.cells {
		if total < halo*dims[d] {
			return fmt.Errorf("s3d: %d ranks along one side need at least %d cells there", dims[d], halo*dims[d])
		}
		lo, hi := comm.Block(total, dims[d], coords[d])
		s.lo[d], s.n[d], s.h[d] = lo, hi-lo, 2*math.Pi/float64(total)
	}
	s.u, s.rates = make([]float64, s.species*s.cells()), make([]float64, s.species*s.cells())
	s.eachCell(func(i, species, x, y, z int) { s.u[i] = s.exact(species, x, y, z, 0) })
	s.pads = make([][]float64, s.species)
	for i := range s.pads {
		s.pads[i] = s.padded()
	}
	return nil
}

// The Runge-Kutta method of Carpenter and Kennedy (1994): two registers, five stages, fourth order.
var rk = [5]struct{ keep, add float64 }{
	{0, 1432997174477. / 9575080441755},
	{-567301805773. / 1357537059087, 5161836677717. / 13612068292357},
	{-2404267990393. / 2016746695238, 1720146321549. / 2090206949498},
	{-3550918686646. / 2091501179385, 3134564353537. / 4481467310338},
	{-1275806237668. / 842570457699, 2277821191437. / 14882151754819},
}

func (s *solver) step(ctx context.Context, step int) error {
	dt := s.stable()
	for stage, k := range rk {
		s.c.Mark("stage", step*len(rk)+stage+1)
		if err := s.exchange(ctx); err != nil {
			return err
		}
		for i := range s.rates {
			s.rates[i] *= k.keep
		}
		for i, pad := range s.pads {
			s.transport(s.rates[i*s.cells():], pad)
		}
		s.react(s.rates, s.u)
		for i := range s.u {
			s.u[i] += k.add * dt * s.rates[i]
		}
	}
	return nil
}

// exchange fills the pads: with the block, and with the faces of its six neighbours. Edges and
// corners stay empty, since no difference uses them.
func (s *solver) exchange(ctx context.Context) error {
	for i, pad := range s.pads {
		s.unpack(pad, s.u[i*s.cells():], [3]int{}, s.n)
	}
	for d := range 3 {
		// The last cells go up, and come before the first ones; then the first ones go down.
		if err := s.shift(ctx, d, 1, s.n[d]-halo, -halo); err != nil {
			return err
		}
		if err := s.shift(ctx, d, -1, 0, s.n[d]); err != nil {
			return err
		}
	}
	return nil
}

// shift sends the layers from send on to the next rank in direction d, and receives those from recv
// on.
func (s *solver) shift(ctx context.Context, d, way, send, recv int) error {
	from, to, err := s.c.CartShift(d, way)
	if err != nil {
		return err
	}
	layers := func(first int) (lo, hi [3]int) {
		hi = s.n
		lo[d], hi[d] = first, first+halo
		return lo, hi
	}
	face := s.cells() / s.n[d] * halo
	out, in := make([]float64, s.species*face), make([]float64, s.species*face)
	lo, hi := layers(send)
	for i, pad := range s.pads {
		s.pack(out[i*face:], pad, lo, hi)
	}
	if _, err := comm.SendRecv(ctx, s.c.To(to), out, s.c.From(from), in); err != nil {
		return err
	}
	lo, hi = layers(recv)
	for i, pad := range s.pads {
		s.unpack(pad, in[i*face:], lo, hi)
	}
	return nil
}

// eachCell calls f for the amounts of all species in all cells; i is the index in u.
func (s *solver) eachCell(f func(i, species, x, y, z int)) {
	i := 0
	for species := range s.species {
		for z := range s.n[2] {
			for y := range s.n[1] {
				for x := range s.n[0] {
					f(i, species, x, y, z)
					i++
				}
			}
		}
	}
}

// worst returns the largest error in the box. A maximum does not depend on the order of its terms.
func (s *solver) worst(ctx context.Context, steps int) (float64, error) {
	most, t := 0.0, float64(steps)*s.stable()
	s.eachCell(func(i, species, x, y, z int) {
		most = max(most, math.Abs(s.u[i]-s.exact(species, x, y, z, t)))
	})
	return collectives.AllreduceOne(ctx, s.c, most, collectives.Max)
}

func (s *solver) tell(ctx context.Context, steps int) error {
	e, err := s.worst(ctx, steps)
	if err == nil && s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "step %d time %.3f error %.1e\n", steps, float64(steps)*s.stable(), e)
	}
	return err
}

// checksum is a sum over all cells of numbers made of place and bits: it does not depend on the
// division of cells among ranks.
func (s *solver) checksum(ctx context.Context) (uint64, error) {
	sum := uint64(0)
	s.eachCell(func(i, species, x, y, z int) {
		place := ((species*s.o.cells[2]+s.lo[2]+z)*s.o.cells[1]+s.lo[1]+y)*s.o.cells[0] + s.lo[0] + x
		sum += mix(mix(uint64(place)) ^ math.Float64bits(s.u[i]))
	})
	return collectives.AllreduceOne(ctx, s.c, sum, collectives.Sum)
}

// mix is the finalizer of SplitMix64: each bit of v changes about half of the bits of the result.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// report prints the result, at least once: if a rank dies before all have reached the end of the
// body, the body is called again at all ranks.
func (s *solver) report(ctx context.Context) error {
	e, err := s.worst(ctx, s.o.steps)
	if err != nil {
		return err
	}
	sum, err := s.checksum(ctx)
	if err != nil || s.c.Rank() > 0 {
		return err
	}
	s.c.Mark("report", 1)
	fmt.Fprintf(s.out, "result: steps=%d species=%d error=%.1e checksum=%016x\n", s.o.steps, s.species, e, sum)
	if !(e < 0.01) { // eight cells for a wave are good for that
		return fmt.Errorf("s3d: the species are wrong by %.1e", e)
	}
	return nil
}
