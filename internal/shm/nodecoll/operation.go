package nodecoll

import "fmt"

// Reduce is a reduction of elements.
type Reduce struct {
	// Func sets dst to acc op in, element by element; acc comes from lower ranks. dst may be acc or
	// in. All have the same length, a multiple of ElemBytes.
	Func func(dst, acc, in []byte)
	// ElemBytes is the size of an element, 1 to 16.
	ElemBytes int
}

const elemBytesMax = 16

// fits reports whether size is a multiple of a valid element size.
func (r *Reduce) fits(size int) bool {
	return r.ElemBytes >= 1 && r.ElemBytes <= elemBytesMax && uint(size)%uint(r.ElemBytes) == 0
}

// block returns the number of bytes that are combined at once: whole elements.
func (r *Reduce) block() int { return blockBytes / r.ElemBytes * r.ElemBytes }

// combineTwo combines the operands of two members in rank order: dst is own op others, or others op
// own if member m, the owner of others, is member 0.
func (r *Reduce) combineTwo(dst, own, others []byte, m int) {
	switch {
	case len(own) == 0:
	case m == 0:
		r.Func(dst, others, own)
	default:
		r.Func(dst, own, others)
	}
}

// verb is the kind of the open operation.
type verb uint8

const (
	barrier verb = iota
	bcast
	reduce
	allreduce
	gather
	scatter
	allgather
	alltoall
	reduceScatter
	scan
	exscan
)

// Sets of verbs, a bit for each.
const (
	meetingVerbs = 1<<allreduce | 1<<allgather | 1<<alltoall | 1<<reduceScatter
	takingVerbs  = 1<<gather | 1<<allgather | 1<<alltoall | 1<<reduceScatter
)

// meets reports whether all wait for all in an operation with whole payloads.
func (v verb) meets() bool { return meetingVerbs>>v&1 != 0 }

// takesBlocks reports whether each member takes its blocks out of all payloads.
func (v verb) takesBlocks() bool { return takingVerbs>>v&1 != 0 }

// An operation is the call of the caller.
type operation struct {
	verb     verb
	what     uint64
	root     int // -1: there is none; nobody: the same, and the arrival wakes no sleeper
	dst, src []byte
	out      []byte // the payload of the arrival line
	red      Reduce
	size     int // of a payload
	part     int // of a member's part, if a payload has a part for each member
}

func (o *operation) setRoot(root, members int) {
	if root < 0 || root >= members {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: root %d of %d members", root, members))
	}
	o.root = root
}

// cutPayload returns the payload of member me in an operation in which src has a part for each
// member: with two members, the other's part.
func (o *operation) cutPayload(src []byte, me, members int) []byte {
	if members == 2 {
		src = src[(1-me)*o.part:][:o.part]
	}
	o.size = len(src)
	return src
}

// partAt returns the place of member me's part in root's payload of a scatter.
func (o *operation) partAt(me int) int {
	if me > o.root {
		return (me - 1) * o.part
	}
	return me * o.part
}

// overwritesOwn reports whether the combined operands of lower members overwrite the operand of
// member me.
func (o *operation) overwritesOwn(me int) bool { return me > 1 && &o.dst[0] == &o.src[0] }

// keepsOwn reports whether member me can combine all operands without its own published payload.
func (o *operation) keepsOwn(me int) bool { return o.size <= blockBytes || !o.overwritesOwn(me) }

// beginOperation makes an operation the open one. Others see the operation once it is entered.
func (g *Group) beginOperation(v verb, what uint64, dst, src []byte, size int) {
	if g.phase != idle {
		panic("goulfm: collectives in shared memory: an operation is open, or ended in a mismatch")
	}
	g.op++
	g.verb, g.what, g.dst, g.src, g.size = v, what, dst, src, size
	g.root = -1
}

// beginReduction is beginOperation for an operation that combines operands.
func (g *Group) beginReduction(v verb, what uint64, dst, src []byte, r Reduce) {
	if !r.fits(len(src)) || dst != nil && v != reduceScatter && len(dst) != len(src) {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: reduction of %d bytes into %d, elements of %d", len(src), len(dst), r.ElemBytes))
	}
	g.beginOperation(v, what, dst, src, len(src))
	g.red = r
}

// enterThen enters the operation, with next as its algorithm. out is the payload of the arrival
// line.
func (g *Group) enterThen(next phase, out []byte) {
	g.out, g.next, g.phase = out, next, entering
	g.waiting, g.budget = nil, workBytes
	if g.enterOperation() && g.phase != idle {
		g.runOpen()
	}
}

// startWhole starts an operation in which all wait for all, with payloads in the lines or in slots
// of the data regions.
func (g *Group) startWhole(out []byte) {
	switch {
	case len(g.members) == 1:
		g.completeAlone(out)
	case g.central:
		g.centre.start(g, out)
	default:
		g.collector.start(g, out)
	}
}

// completeAlone completes an operation of a group of one.
func (g *Group) completeAlone(src []byte) {
	if g.dst != nil {
		copy(g.dst, src)
	}
	g.endOperation()
}

func wantLength(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: %s of %d bytes into %d", what, want, got))
	}
}

func wantWhole(size int) {
	if size > longBytes { // avoids converting the numbers to interface values in each call
		that(false, "a payload of %d bytes: at most %d go whole", size, longBytes)
	}
}
