package nodecoll

import "fmt"

// Reduce is a reduction of elements.
type Reduce struct {
	// Func sets dst to acc op in, element by element; acc comes from lower ranks. dst may
	// be either. All have the same length, a multiple of ElemBytes.
	Func func(dst, acc, in []byte)
	// ElemBytes is the size of an element, 1 to 16.
	ElemBytes int
}

const elemBytesMax = 16

// fits says whether so many bytes are whole elements, of a size that there is.
func (r *Reduce) fits(size int) bool {
	return r.ElemBytes >= 1 && r.ElemBytes <= elemBytesMax && uint(size)%uint(r.ElemBytes) == 0
}

// block returns how many bytes are combined at once: whole elements.
func (r *Reduce) block() int { return blockBytes / r.ElemBytes * r.ElemBytes }

// combineTwo sets dst to own op others, or the other way round if member m, whose operand
// others is, goes first: of two members.
func (r *Reduce) combineTwo(dst, own, others []byte, m int) {
	switch {
	case len(own) == 0:
	case m == 0:
		r.Func(dst, others, own)
	default:
		r.Func(dst, own, others)
	}
}

// verb is what the open operation does.
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

// meets says whether all wait for all in an operation whose payloads go whole.
func (v verb) meets() bool { return meetingVerbs>>v&1 != 0 }

// takesBlocks says whether each member takes what it needs out of all payloads.
func (v verb) takesBlocks() bool { return takingVerbs>>v&1 != 0 }

// An operation is what the caller has asked for.
type operation struct {
	verb     verb
	what     uint64
	root     int // -1: there is none; nobody: and a sleeper need not look at the arrival
	dst, src []byte
	out      []byte // the payload that goes with the arrival line
	red      Reduce
	size     int // of a payload
	part     int // of a payload that is cut into one for each member
}

func (o *operation) setRoot(root, members int) {
	if root < 0 || root >= members {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: root %d of %d members", root, members))
	}
	o.root = root
}

// cutPayload returns the payload of member me in an operation in which src has a part for
// each member: of two it is the other's part.
func (o *operation) cutPayload(src []byte, me, members int) []byte {
	if members == 2 {
		src = src[(1-me)*o.part:][:o.part]
	}
	o.size = len(src)
	return src
}

// partAt returns where the part of member me stands in root's payload of a scatter.
func (o *operation) partAt(me int) int {
	if me > o.root {
		return (me - 1) * o.part
	}
	return me * o.part
}

// overwritesOwn says whether what comes of the operands of lower members overwrites that
// of member me.
func (o *operation) overwritesOwn(me int) bool { return me > 1 && &o.dst[0] == &o.src[0] }

// keepsOwn says whether member me can combine all operands with nothing that it has published
// itself.
func (o *operation) keepsOwn(me int) bool { return o.size <= blockBytes || !o.overwritesOwn(me) }

// beginOperation makes an operation the open one. It becomes visible to others with start.
func (g *Group) beginOperation(v verb, what uint64, dst, src []byte, size int) {
	if g.phase != idle {
		panic("goulfm: collectives in shared memory: an operation is open, or ended in a mismatch")
	}
	g.op++
	g.verb, g.what, g.dst, g.src, g.size = v, what, dst, src, size
	g.root = -1
}

// beginReduction is beginOperation for one that combines operands.
func (g *Group) beginReduction(v verb, what uint64, dst, src []byte, r Reduce) {
	if !r.fits(len(src)) || dst != nil && v != reduceScatter && len(dst) != len(src) {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: reduction of %d bytes into %d, elements of %d", len(src), len(dst), r.ElemBytes))
	}
	g.beginOperation(v, what, dst, src, len(src))
	g.red = r
}

// enterThen enters the operation, which an algorithm has then; out is the payload that goes
// with the arrival line.
func (g *Group) enterThen(next phase, out []byte) {
	g.out, g.next, g.phase = out, next, entering
	g.waiting, g.budget = nil, workBytes
	if g.enterOperation() && g.phase != idle {
		g.runOpen()
	}
}

// startWhole starts an operation that all wait for all in, with payloads that
// stand in the lines or in slots of the data regions.
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
	if size > longBytes { // else the numbers become values of an interface each time
		that(false, "a payload of %d bytes: at most %d go whole", size, longBytes)
	}
}
