package sched

// A stage is a part of a plan in which a builder works for some of the ranks as if there were no
// others: its Shape counts these ranks, and the stage defines the places of Input and Output. So
// the algorithms for all ranks also serve for one level.
type stage struct {
	ranks         []int // rank i of the builder's Shape is ranks[i]; nil: i itself
	input, output Ref
	// ready is the step that completes the elements at input, or none. The steps that read Input
	// wait for ready, besides the dependencies of the builder.
	ready int32
	first int // its first step
}

// begin ends the stage before, and its use of p.memo.
func (p *Plan) begin(s stage) {
	s.first = len(p.Steps)
	p.stage, p.memo = s, p.memo[:0]
}

// beginAll begins a stage of all ranks, on the buffers themselves.
func (p *Plan) beginAll() { p.begin(stage{input: in(0), output: out(0), ready: none}) }

func (s *stage) rank(i int) int {
	if s.ranks == nil {
		return i
	}
	return s.ranks[i]
}

// settle translates the operands of a step to their real places, and reports whether the step reads
// Input.
func (s *stage) settle(step *Step) (reads bool) {
	reads = step.Kind != Recv && step.Src.Buf == Input || step.Kind == Reduce && step.With.Buf == Input
	step.Dst, step.Src, step.With = s.at(step.Dst), s.at(step.Src), s.at(step.With)
	if step.Kind == Copy && step.Dst == step.Src {
		step.Len = 0 // already in place: the step only waits
	}
	return reads
}

func (s *stage) at(r Ref) Ref {
	switch r.Buf {
	case Input:
		return s.input.plus(r.Off)
	case Output:
		return s.output.plus(r.Off)
	}
	return r
}

// written returns a step after which all writes of the stage to its output buffer are complete.
func (p *Plan) written() int32 {
	p.memo = p.memo[:0]
	for i := p.stage.first; i < len(p.Steps); i++ {
		if s := &p.Steps[i]; s.Kind != Send && s.Dst.Buf == p.stage.output.Buf {
			p.memo = append(p.memo, int32(i))
		}
	}
	return p.all(p.memo...)
}
