package nodecoll

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/segment"
)

// Reduce is a reduction of elements.
type Reduce struct {
	// Func sets dst to acc op in, element by element; acc comes from lower ranks. dst may
	// be either. All have the same length, a multiple of ElemBytes.
	Func func(dst, acc, in []byte)
	// ElemBytes is the size of an element, 1 to 16.
	ElemBytes int
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

// meets says whether all wait for all in an operation whose payloads go whole.
func (v verb) meets() bool {
	return v == allreduce || v == allgather || v == alltoall || v == reduceScatter
}

// phase is where the open operation stands.
type phase uint8

const (
	idle       phase = iota
	entering         // the slot may still be read by those who are behind
	facing           // waits for the line of the other of two, and takes its payload
	seeing           // waits for arrival lines
	taking           // all are there: copies out of their payloads
	counting         // central: joins the count; the last one goes on for all
	awaiting         // central: waits for the release
	reading          // waits for the root's line, which has the payload or says it is in the slot
	chaining         // waits for what the member before passes on
	pulling          // copies from the others' sources
	confirming       // waits until all need no source any more
	passing          // chaining of a large operation, chunk by chunk
	swapping         // a large reduction of two, for both
	filling          // root of a large broadcast: copies into its ring
	draining         // reader of a large broadcast: copies out of the root's ring
	working          // a step of a large reduction
	meeting          // waits until all have done the step
)

// A Group is one member's end of the collectives of one communicator on one
// node. It is for one goroutine at a time.
type Group struct {
	// waiting is a word whose change lets the operation go on, while it is not
	// stale; nil: there is something to do.
	waiting *uint64
	stale   uint64

	verb     verb
	phase    phase
	next     phase // after entering; idle: nothing is left to wait for
	bad      bool
	refused  bool // see Refused
	moved    bool
	audience int // of what moved: a member, or All

	me      int
	inline  int // payload bytes that fit an arrival line
	central bool
	mutual  bool
	members []member
	data    []dataRegion // of each member; nil until first needed
	lines   lines
	dataOf  func(member int) segment.Region
	pullOf  func(member int, addr uint64, dst []byte) bool
	chunkOf int
	copier  segment.Copier

	bcastDirect, reduceDirect, allreduceDirect, scanDirect int // sizes up to which a payload goes whole
	whole                                                  int // the same of blocks, which are pulled otherwise

	introduced bool

	op   int64 // the open operation, or the last: 1, 2, ...
	what uint64
	safe int64 // all members have left this operation and all before it
	// sharedOp is the last operation that was entered here and is not a chain: of what this
	// member wrote in later ones only the member after it reads.
	sharedOp int64

	root     int
	dst, src []byte
	out      []byte // the payload that goes with the arrival line
	red      Reduce
	size     int // of a payload
	part     int // of a payload that is cut into one for each member
	cursor   int // members 0 to cursor-1 are seen, or taken
	theirs   uint64
	theirsOf int

	steps         uint64 // what stands in this member's steps word
	large         large
	ringOp, redOp int64 // last operations in which peers read this member's area
	wideOp        int64 // and the last whose payload stood there
	wideSize      int
	ringAt        int   // where the next ring begins
	areaOp        int64 // the last operation in which others read what stands in somebody's area
	announcedOp   int64 // the last operation in which the arrival was announced to all

	budget int
	acc    []byte // see scratch
}

// New returns member c.Me's end of a group. Members may make theirs at any time;
// an operation waits for those it needs. New may have something for others
// already, so look at Moved.
func New(c Config) *Group {
	c.check()
	g := &Group{me: c.Me, inline: inlineOf(c.N), mutual: c.Mutual, central: !c.Mutual || c.N > mutualMembersMax, dataOf: c.Data, pullOf: c.Pull, chunkOf: c.Chunk}
	g.members = make([]member, c.N)
	g.lines = openLines(&c)
	for m := range g.members {
		g.members[m] = member{base: c.Base[m], steps: g.lines.word(stepsAt + m*stride)}
	}
	g.steps = segment.Load64(g.members[g.me].steps) // goes on from what an earlier group of this region left
	g.setDirect()
	if g.me == 0 {
		g.introduce()
	}
	return g
}

// mutualMembersMax is up to how many members each reads all lines itself: that
// is n*n transfers of a line.
const mutualMembersMax = 8

// Barrier starts an operation that completes when all members have started it.
func (g *Group) Barrier(what uint64) {
	if g.quickMeet(barrier, what, nil, nil, nil) {
		return
	}
	g.begin(barrier, what, nil, nil, 0)
	g.startAll(nil)
}

// Bcast starts a broadcast of buf from root into the others' buf. All have the
// same length.
func (g *Group) Bcast(what uint64, root int, buf []byte) {
	if g.quickBcast(what, root, buf) {
		return
	}
	g.begin(bcast, what, buf, buf, len(buf))
	g.setRoot(root)
	switch {
	case len(g.members) == 1:
		g.finish()
	case g.size > g.bcastDirect:
		g.startRing()
	case root == g.me:
		g.start(idle, buf)
	default:
		g.start(reading, nil)
	}
}

// Reduce starts a reduction of all members' src, in rank order, into root's
// dst. dst is nil elsewhere and may be src at root. All src have the same
// length, a multiple of r.ElemBytes.
func (g *Group) Reduce(what uint64, root int, dst, src []byte, r Reduce) {
	if g.quickReduce(what, root, dst, src, r) {
		return
	}
	if g.me != root {
		dst = nil
	}
	g.beginReduce(reduce, what, dst, src, r)
	g.setRoot(root)
	switch {
	case len(g.members) == 1:
		g.alone(src)
	case g.size > g.reduceDirect && g.mutual && len(g.members) == 2:
		g.startPair()
	case g.size > g.reduceDirect:
		g.startReduction()
	case root == g.me && g.keepsOwn():
		g.start(seeing, nil)
	case root == g.me:
		g.start(seeing, src)
	default:
		g.start(idle, src)
	}
}

// Allreduce starts a reduction of all members' src, in rank order, into
// everybody's dst, with the same bits. dst may be src. All have the same length,
// a multiple of r.ElemBytes.
func (g *Group) Allreduce(what uint64, dst, src []byte, r Reduce) {
	wantLength("allreduce", len(dst), len(src))
	if g.quickAllreduce(what, dst, src, r) {
		return
	}
	g.beginReduce(allreduce, what, dst, src, r)
	switch {
	case g.swaps() && g.size > g.allreduceDirect:
		g.startSwap()
	case len(g.members) > 1 && g.size > g.allreduceDirect:
		g.startReduction()
	default:
		g.startAll(src)
	}
}

// Note starts an operation of which nobody waits for anything: it only says that
// this member has come to the call what, so that members in another call find out.
// With loud those who sleep are to look at once.
func (g *Group) Note(what uint64, loud bool) {
	g.begin(barrier, what, nil, nil, 0)
	if !loud {
		g.root = nobody
	}
	g.start(idle, nil)
}

// Awaits returns a word and the value that it has as long as there is nothing to do;
// nil: there is something.
func (g *Group) Awaits() (word *uint64, stale uint64) { return g.waiting, g.stale }

// Abandon ends an open operation that a Mismatch has broken. The next one may be
// started: an operation in which all wait for all is broken at all members or at
// none, and in the others nobody counts on those who do not come.
func (g *Group) Abandon() {
	g.finish()
	g.bad = false
}

// Done says whether the operation is complete.
func (g *Group) Done() bool { return g.phase == idle }

// Advance makes all progress that is possible now, up to some 128 KiB (or 256 by the kernel) of
// copying, and says whether the operation is complete. Where nothing moved it
// costs one load.
func (g *Group) Advance() (done bool) {
	if g.waiting != nil && segment.Load64(g.waiting) == g.stale {
		return false
	}
	return g.run()
}

// run is kept out of Advance, which a wait loop takes in.
//
//go:noinline
func (g *Group) run() bool {
	g.waiting, g.budget = nil, workBytes
	for g.phase != idle {
		if g.bad || !g.act() {
			return false
		}
	}
	return true
}

// act does what the phase asks for. False: it waits, or has worked enough.
func (g *Group) act() bool {
	switch g.phase {
	case entering:
		return g.enter()
	case facing:
		return g.face()
	case seeing:
		return g.see()
	case taking:
		return g.takeAll()
	case counting:
		return g.joinCount()
	case awaiting:
		return g.await()
	case reading:
		return g.read()
	case chaining:
		return g.chain()
	case pulling:
		return g.pull()
	case confirming:
		return g.confirmAll()
	case passing:
		return g.pass()
	case swapping:
		return g.swap()
	case filling:
		return g.fill()
	case draining:
		return g.drain()
	case working:
		return g.work()
	default:
		return g.meet()
	}
}

// wait ends this Advance: nothing can be done before word differs from seen.
func (g *Group) wait(word *uint64, seen uint64) bool {
	g.waiting, g.stale = word, seen
	return false
}

func (g *Group) begin(v verb, what uint64, dst, src []byte, size int) {
	if g.phase != idle {
		panic("goulfm: collectives in shared memory: an operation is open, or ended in a mismatch")
	}
	g.op++
	g.verb, g.what, g.dst, g.src, g.size = v, what, dst, src, size
	g.root, g.cursor, g.refused = -1, 0, false
}

func (g *Group) beginReduce(v verb, what uint64, dst, src []byte, r Reduce) {
	if !r.fits(len(src)) || dst != nil && v != reduceScatter && len(dst) != len(src) {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: reduction of %d bytes into %d, elements of %d", len(src), len(dst), r.ElemBytes))
	}
	g.begin(v, what, dst, src, len(src))
	g.red = r
}

// fits says whether so many bytes are whole elements, of a size that there is.
func (r *Reduce) fits(size int) bool {
	return r.ElemBytes >= 1 && r.ElemBytes <= elemBytesMax && uint(size)%uint(r.ElemBytes) == 0
}

func wantLength(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: %s of %d bytes into %d", what, want, got))
	}
}

const elemBytesMax = 16

func (g *Group) setRoot(root int) {
	if root < 0 || root >= len(g.members) {
		panic(fmt.Sprintf("goulfm: collectives in shared memory: root %d of %d members", root, len(g.members)))
	}
	g.root = root
}

// start enters the operation; out is the payload that goes with the arrival line.
func (g *Group) start(next phase, out []byte) {
	g.out, g.next, g.phase = out, next, entering
	g.waiting, g.budget = nil, workBytes
	if g.enter() && g.phase != idle {
		g.run()
	}
}

// startAll starts an operation that all wait for all in, with payloads that
// stand in the lines or in slots of the data regions.
func (g *Group) startAll(out []byte) {
	switch {
	case len(g.members) == 1:
		g.alone(out)
	case g.central:
		g.start(counting, out)
	default:
		g.start(seeing, out)
	}
}

// alone completes an operation of a group of one.
func (g *Group) alone(src []byte) {
	if g.dst != nil {
		copy(g.dst, src)
	}
	g.finish()
}

// enter publishes the arrival line, as soon as everybody has left the operation
// whose slot it takes.
func (g *Group) enter() bool {
	if !g.clear(g.used()) {
		g.announceWait()
		return false
	}
	if g.out != nil && g.wide() {
		g.wideOp, g.wideSize = g.op, g.size
	}
	if g.next != chaining {
		g.sharedOp = g.op
	}
	g.publish(g.out)
	g.announceArrival()
	g.phase = g.next
	if g.next == idle {
		if g.verb == scatter {
			copy(g.dst, g.src[g.me*g.part:])
		}
		g.finish()
	}
	return true
}

// used returns the last operation in which the memory may be read that this one takes.
func (g *Group) used() int64 {
	used := g.op - g.reach()
	if g.out == nil || !g.wide() {
		return used
	}
	used = max(used, g.op-int64(sharedAreaBytes/g.size), g.ringOp, g.redOp)
	if g.wideSize != g.size { // what stands there lies across several of these
		used = max(used, g.wideOp)
	}
	return used
}

// reach returns how many operations ago the line and the slot were used that this
// operation takes.
func (g *Group) reach() int64 {
	if g.out == nil && g.next != chaining {
		return slots
	}
	return g.payloadReach()
}

// payloadReach is reach of a member that has a payload.
func (g *Group) payloadReach() int64 {
	switch {
	case g.size <= g.inline || g.isLarge() || g.wide():
		return slots
	case g.verb.meets():
		return metSlots
	case g.size <= shortBytes:
		return slots
	case g.size <= middleBytes:
		return middleSlots
	}
	return longSlots
}

func (g *Group) publish(out []byte) {
	me := &g.members[g.me]
	at := g.lines.arrival(g.me, g.op)
	g.lines.arrivals.Reach(at)
	if g.safe >= g.op-slots {
		segment.Put64(g.lines.whatWord(at), g.what)
	} else { // in a row of chains somebody may look at the line: see differs
		segment.Swap64(g.lines.word(at), me.base+uint64(g.op)|unfinished)
		segment.Publish64(g.lines.whatWord(at), g.what)
	}
	switch {
	case out != nil && g.size <= g.inline && len(out) == g.size:
		segment.Copy(g.lines.body(at)[inlineAt:], out)
	case g.isLarge():
		segment.Put64(g.lines.payloadWord(at), g.steps)
	case g.next == pulling:
		segment.Put64(g.lines.payloadWord(at), segment.AddressOf(g.src))
	case out == nil:
	case g.verb == scatter && len(out) > g.size:
		g.publishParts(g.payload(g.me), g.partAt(), out)
	case g.verb == alltoall && len(g.members) > 2:
		g.publishParts(g.slotOf(g.me), (g.me+1)*g.part, out)
	default:
		g.copier.Copy(g.slotOf(g.me), out)
	}
	segment.Publish64(g.lines.word(at), me.base+uint64(g.op))
	ahead := g.lines.arrival(g.me, g.op+linesAhead)
	segment.Soon(g.lines.word(ahead))
	if out != nil && g.size > segment.Line-headAt && g.size <= g.inline {
		segment.Soon(g.lines.word(ahead + segment.Line))
	}
}

// publishParts publishes, for an operation that has a part for each member, all but this
// one's own, which nobody takes: those behind stand at next.
func (g *Group) publishParts(to []byte, next int, parts []byte) {
	own := g.me * g.part
	g.copier.Copy(to[:own], parts[:own])
	g.copier.Copy(to[next:], parts[own+g.part:])
}

// linesAhead is how far ahead a member asks for its line: the others do not look at it
// before it is there.
const linesAhead = 4

// isLarge says whether the operation to enter goes by steps.
func (g *Group) isLarge() bool {
	return g.next >= passing
}

// arrived says whether member m has entered the operation, and with the same
// call; if not, the operation waits, or is broken.
func (g *Group) arrived(m int) bool { return g.stands(m, g.lines.arrival(m, g.op)) }

// stands says whether a line of member m has come to this operation.
func (g *Group) stands(m, at int) bool {
	word := g.lines.word(at)
	if v := segment.Load64(word); v != g.members[m].base+uint64(g.op) {
		return g.wait(word, v)
	}
	return g.agrees(m, at)
}

// agrees compares the call of member m, whose line is there, with this one's.
func (g *Group) agrees(m, at int) bool {
	what := g.lines.what(at)
	if what != g.what {
		g.broken(m, what)
	}
	return what == g.what
}

// broken notes that member m has come to this operation with another call.
func (g *Group) broken(m int, theirs uint64) {
	g.bad, g.theirs, g.theirsOf, g.waiting = true, theirs, m, nil
}

// finish ends the operation here.
func (g *Group) finish() {
	if !g.bad && !g.runsAhead() {
		g.announcedOp = g.op // to all, by completing it
	}
	g.phase, g.waiting, g.dst, g.src, g.out = idle, nil, nil, nil, nil
}
