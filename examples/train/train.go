package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A process is the data that one process keeps from attempt to attempt: the points that it has
// made, or read.
type process struct {
	points, hidden, steps, print int
	rate                         float64
	out                          io.Writer

	lo, hi int // the range of its points
	mine   []point
}

// A model is the data that all ranks share and that is protected.
type model struct {
	w    weights
	last float64 // loss before the last step
}

// run is called again after each death, perhaps with fewer ranks and so with more points for each.
func (p *process) run(ctx context.Context, w *recovery.World) error {
	p.deal(w.Block(p.points))
	m := &model{w: newWeights(p.hidden), last: math.Inf(1)}
	members := []recovery.Member{
		recovery.Slice("weights", (*[]float64)(&m.w), recovery.Same()),
		recovery.Value("last", &m.last, recovery.Same()),
	}
	if _, err := w.Protect(ctx, members...); err != nil {
		return err
	}
	for step := range w.Steps(ctx, p.steps) {
		loss, _, err := p.step(ctx, w.Comm(), m)
		if err != nil {
			return err
		}
		if p.print > 0 && step%p.print == 0 && w.Rank() == 0 {
			fmt.Fprintf(p.out, "step %d loss %.6f ranks %d\n", step+1, loss, w.Size())
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	return p.report(ctx, w.Comm(), m)
}

// deal makes the points lo to hi-1, unless they are there already.
func (p *process) deal(lo, hi int) {
	if lo == p.lo && hi == p.hi {
		return
	}
	p.lo, p.hi, p.mine = lo, hi, nil
	for i := lo; i < hi; i++ {
		p.mine = append(p.mine, makePoint(i))
	}
}

// step moves the weights downhill, and returns the loss before the move and the number of points
// that were classified correctly.
func (p *process) step(ctx context.Context, c *comm.Comm, m *model) (loss float64, right int64, err error) {
	t, units := make(tally, len(m.w)+2), make([]float64, p.hidden)
	for _, point := range p.mine {
		t.learn(m.w, units, point)
	}
	if err := collectives.Allreduce(ctx, c, t, t, collectives.Sum); err != nil {
		return 0, 0, err
	}
	mean := unit / float64(p.points)
	loss, right = mean*float64(t[len(m.w)]), t[len(m.w)+1]
	if !(loss <= m.last) {
		return 0, 0, fmt.Errorf("train: the loss grows from %g to %g: give a smaller -rate", m.last, loss)
	}
	for i := range m.w {
		m.w[i] -= p.rate * mean * float64(t[i])
	}
	m.last = loss
	return loss, right, nil
}

// report prints the result, at least once: the quality of the final weights.
func (p *process) report(ctx context.Context, c *comm.Comm, m *model) error {
	after := model{append(weights(nil), m.w...), m.last}
	loss, right, err := p.step(ctx, c, &after)
	if err != nil || c.Rank() > 0 {
		return err
	}
	sum := fnv.New64a()
	_ = binary.Write(sum, binary.LittleEndian, []float64(m.w)) // a hash's never fails
	c.Mark("report", 1)
	fmt.Fprintf(p.out, "result: steps=%d loss=%.6f right=%d/%d weights=%016x\n", p.steps, loss, right, p.points, sum.Sum64())
	return nil
}
