package sched

import (
	"fmt"
	"strings"

	"github.com/goulfm/goulfm/internal/base/must"
)

// Kind is the operation of a Step.
type Kind uint8

// The four kinds of steps. Send and Recv are started and complete later; Copy
// and Reduce are local and complete at once.
const (
	Send   Kind = iota + 1 // Src is sent to Peer
	Recv                   // Dst is received from Peer
	Copy                   // Dst = Src; no effect if both are the same memory
	Reduce                 // Dst = Src op With, element by element
)

func (k Kind) String() string { return [...]string{"?", "send", "recv", "copy", "reduce"}[k] }

// Buf names one of the three buffers of a rank.
type Buf uint8

// The buffers. Input holds the contribution of the rank, and no step writes to Input. Output
// receives the result. Scratch has Plan.Scratch elements of intermediate values. The buffer of a
// broadcast is Output, at the root too.
const (
	Input Buf = iota
	Output
	Scratch
)

func (b Buf) String() string { return [...]string{"in", "out", "tmp"}[b] }

// A Ref is a place: element Off of buffer Buf.
type Ref struct {
	Off int
	Buf Buf
}

func in(off int) Ref  { return Ref{off, Input} }
func out(off int) Ref { return Ref{off, Output} }

func (r Ref) plus(elems int) Ref { return Ref{r.Off + elems, r.Buf} }

func (r Ref) String() string { return fmt.Sprintf("%v+%d", r.Buf, r.Off) }

// A Step is one operation of a plan. A step may start once all steps that Plan.After names for it
// are complete. A Send or a Recv must also wait until the step before of the same kind and peer has
// started. So the k-th Send of a rank to another meets the k-th Recv there, although other messages
// may overtake each other.
//
// In a Reduce Src holds the contributions of lower ranks than With if the
// algorithm keeps the order; Dst is exactly Src, exactly With, or apart from
// both.
type Step struct {
	Dst, Src, With Ref
	Len            int   // elements, of each operand
	Peer           int32 // the other rank of a Send or Recv
	before         int32 // the step of this kind and peer before this one, or none
	after, afters  int32 // its dependencies: place in Plan.after, and number
	Kind           Kind
}

// none stands for no step where a step is expected.
const none int32 = -1

// A Plan is one rank's part of a collective: its steps in a sequential order, with the dependencies
// that allow steps to overlap. Units are elements. A host that multiplies by the length of a block
// can use one plan, of blocks of one element, for all lengths. This does not work for algorithms
// that cut a vector into pieces or segments: they need its length.
//
// The zero value is ready. A Plan is data and may be executed many times. Building into a used Plan
// reuses its memory.
type Plan struct {
	N, Me   int
	Steps   []Step
	Scratch int // elements of the scratch buffer

	after []int32
	// State of the builders: the last send to and receive from each rank, the children in a tree,
	// steps to remember, the stage, and the ranks by node.
	lastSend, lastRecv []int32
	kids               []int
	memo               []int32
	stage              stage
	teams              teams
}

// After returns the steps that must be complete before step i may start. All
// are less than i. The slice belongs to the plan.
func (p *Plan) After(i int) []int32 {
	s := &p.Steps[i]
	return p.after[s.after : s.after+s.afters]
}

func (p *Plan) reset(s *Shape) {
	must.That(s.N > 0 && 0 <= s.Me && s.Me < s.N && 0 <= s.Root && s.Root < s.N, "rank %d of %d, root %d", s.Me, s.N, s.Root)
	must.That(s.Count >= 0, "%d elements", s.Count)
	must.That(s.Nodes == nil || len(s.Nodes) == s.N, "nodes of %d ranks of %d", len(s.Nodes), s.N)
	p.N, p.Me, p.Scratch = s.N, s.Me, 0
	p.Steps, p.after, p.kids, p.memo = p.Steps[:0], p.after[:0], p.kids[:0], p.memo[:0]
	p.lastSend, p.lastRecv = fill(p.lastSend, s.N), fill(p.lastRecv, s.N)
	p.beginAll()
}

func fill(s []int32, n int) []int32 {
	if cap(s) < n {
		s = make([]int32, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = none
	}
	return s
}

// alloc returns a place for elems more elements of scratch.
func (p *Plan) alloc(elems int) Ref {
	r := Ref{p.Scratch, Scratch}
	p.Scratch += elems
	return r
}

func (p *Plan) add(s Step, after []int32) int32 {
	s.after = int32(len(p.after))
	for _, a := range after {
		if a != none {
			p.after = append(p.after, a)
		}
	}
	if p.stage.settle(&s) && p.stage.ready != none {
		p.after = append(p.after, p.stage.ready)
	}
	s.afters = int32(len(p.after)) - s.after
	p.Steps = append(p.Steps, s)
	return int32(len(p.Steps) - 1)
}

// send, recv, copy and reduce append a step that waits for the steps after and
// return its number. They skip none among after.
func (p *Plan) send(to int, src Ref, elems int, after ...int32) int32 {
	to = p.stage.rank(to)
	i := p.add(Step{Kind: Send, Peer: int32(to), Src: src, Len: elems, before: p.lastSend[to]}, after)
	p.lastSend[to] = i
	return i
}

func (p *Plan) recv(from int, dst Ref, elems int, after ...int32) int32 {
	from = p.stage.rank(from)
	i := p.add(Step{Kind: Recv, Peer: int32(from), Dst: dst, Len: elems, before: p.lastRecv[from]}, after)
	p.lastRecv[from] = i
	return i
}

func (p *Plan) copy(dst, src Ref, elems int, after ...int32) int32 {
	return p.add(Step{Kind: Copy, Dst: dst, Src: src, Len: elems, before: none}, after)
}

// In reduce left holds the lower ranks, if the order counts.
func (p *Plan) reduce(dst, left, right Ref, elems int, after ...int32) int32 {
	return p.add(Step{Kind: Reduce, Dst: dst, Src: left, With: right, Len: elems, before: none}, after)
}

// join adds a step that only waits. With a join, many steps that wait for many others need a sum of
// dependencies instead of a product.
func (p *Plan) join(after ...int32) int32 {
	return p.copy(out(0), out(0), 0, after...)
}

// all returns a step that completes after all the given steps: none if no step is given, and the
// step itself if only one is given.
func (p *Plan) all(after ...int32) int32 {
	switch len(after) {
	case 0:
		return none
	case 1:
		return after[0]
	}
	return p.join(after...)
}

// newest returns the last step added.
func (p *Plan) newest() int32 { return int32(len(p.Steps) - 1) }

// String prints one step per line, with its dependencies.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d of %d, scratch %d\n", p.Me, p.N, p.Scratch)
	for i := range p.Steps {
		fmt.Fprintf(&b, "%3d %s", i, p.Steps[i].String())
		if a := p.After(i); len(a) > 0 {
			fmt.Fprintf(&b, " after %v", a)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String prints the step, for example "send out+4 x2 to 3".
func (s *Step) String() string {
	switch s.Kind {
	case Send:
		return fmt.Sprintf("send %v x%d to %d", s.Src, s.Len, s.Peer)
	case Recv:
		return fmt.Sprintf("recv %v x%d from %d", s.Dst, s.Len, s.Peer)
	case Copy:
		return fmt.Sprintf("copy %v = %v x%d", s.Dst, s.Src, s.Len)
	default:
		return fmt.Sprintf("reduce %v = %v op %v x%d", s.Dst, s.Src, s.With, s.Len)
	}
}
