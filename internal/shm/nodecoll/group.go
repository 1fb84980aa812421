package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A phase is the state of the open operation: idle, entering, or in one of the algorithms. Each
// algorithm is a type with a method step, and keeps its progress in its own fields.
type phase uint8

const (
	idle       phase = iota
	entering         // others may still read the line and the slot: see enterOperation
	facing           // pair
	collecting       // collector
	taking           // taker
	counting         // centre
	reading          // reader
	chaining         // chain
	pulling          // pull
	// The algorithms from here on count steps, see goesBySteps.
	passing   // pipeline
	swapping  // swap
	streaming // broadcast
	reducing  // reduction

	phases
)

// An algorithm executes open operations of a Group.
type algorithm interface {
	// step continues the open operation as far as possible. It returns false if the operation
	// waits, or if this Advance has done enough work.
	step(g *Group) bool
	// waitsFor reports whether the open operation needs something that member m has not published.
	waitsFor(g *Group, m int) bool
}

// goesBySteps reports whether an algorithm counts steps in the members' steps words.
func (p phase) goesBySteps() bool { return p >= passing }

// A Group is one member's end of the collectives of one communicator on one node. Only one
// goroutine at a time may use a Group.
//
// Its own fields are shared by the algorithms: the open operation, the operations that the others
// have left, the memory of all members, and the word for which the operation waits.
type Group struct {
	// waiting is the word for which the operation waits: nothing can be done while its value is
	// stale. nil: there is something to do.
	waiting *uint64
	stale   uint64

	phase phase
	next  phase // the algorithm after entering; idle: nothing is left to wait for

	operation // the open one, or the last
	sequence
	announcer
	mismatch mismatch

	me int
	regime
	members []member
	lines   lines
	memory  memory
	area    area

	steps  uint64 // the value of this member's steps word
	budget int    // bytes that this Advance may still copy or reduce
	copier segment.Copier

	// algorithms has the algorithm of each phase except idle, as values that point to the fields
	// below: a call converts and allocates nothing.
	algorithms [phases]algorithm

	// The algorithms. One of them executes the open operation. In central groups reduction and pull
	// synchronize with centre.
	quick     quick
	pair      pair
	collector collector
	taker     taker
	centre    centre
	reader    reader
	chain     chain
	pull      pull
	broadcast broadcast
	pipeline  pipeline
	swap      swap
	reduction reduction
}

// New returns member c.Me's end of a group. Members may make theirs at any time; an operation waits
// for the members that it needs. New may have published something for others already, so the caller
// must check Moved.
func New(c Config) *Group {
	c.check()
	g := &Group{me: c.Me, regime: regimeOf(&c), members: make([]member, c.N), lines: openLines(&c)}
	g.memory = memory{of: c.Data, members: c.N, ahead: c.Mutual}
	g.pull.from = c.Pull
	g.algorithms = [phases]algorithm{
		entering: entrance{}, facing: g.pair, collecting: &g.collector, taking: &g.taker, counting: &g.centre, reading: g.reader, chaining: g.chain,
		pulling: &g.pull, passing: &g.pipeline, swapping: &g.swap, streaming: &g.broadcast, reducing: &g.reduction,
	}
	for m := range g.members {
		g.members[m] = member{base: c.Base[m], steps: g.lines.word(stepsAt + m*stride)}
	}
	g.steps = segment.Load64(g.members[g.me].steps) // continues the count of an earlier group of this region
	if g.me == 0 {
		g.centre.introduce(g)
	}
	return g
}

// Awaits returns a word and a value: while the word has this value there is nothing to do. nil:
// there is something to do.
func (g *Group) Awaits() (word *uint64, stale uint64) { return g.waiting, g.stale }

// Abandon ends an open operation that a Mismatch has broken. The next one may be started: an
// operation in which all wait for all is broken at all members or at none, and in other operations
// no member depends on the members that abandon.
func (g *Group) Abandon() {
	if g.phase.goesBySteps() {
		g.broken = g.op
	}
	g.endOperation()
	g.mismatch.bad = false
}

// Done reports whether the operation is complete.
func (g *Group) Done() bool { return g.phase == idle }

// Advance makes all progress that is possible now, up to about 128 KiB (256 KiB by the kernel) of
// copying, and reports whether the operation is complete. If nothing has changed, Advance costs one
// load.
func (g *Group) Advance() (done bool) {
	if g.waiting != nil && segment.Load64(g.waiting) == g.stale {
		return false
	}
	return g.runOpen()
}

// runOpen is not inlined into Advance, so that Advance can be inlined into a wait loop.
//
//go:noinline
func (g *Group) runOpen() bool {
	g.waiting, g.budget = nil, workBytes
	for g.phase != idle {
		if g.mismatch.bad || !g.stepOpen() {
			return false
		}
	}
	return true
}

// stepOpen calls the algorithm of the open operation. False: the operation waits, or this Advance
// has done enough work.
func (g *Group) stepOpen() bool {
	if g.phase.goesBySteps() && g.broken > g.safe && !g.mayOverwrite(g.broken) {
		return false
	}
	return g.algorithms[g.phase].step(g)
}

// waitOn ends this Advance: nothing can be done until word differs from seen.
func (g *Group) waitOn(word *uint64, seen uint64) bool {
	g.waiting, g.stale = word, seen
	return false
}

// endOperation ends the operation here.
func (g *Group) endOperation() {
	if !g.mismatch.bad && !g.runsAhead() {
		g.announcedOp = g.op // completion proves all arrivals
	}
	g.phase, g.waiting, g.dst, g.src, g.out = idle, nil, nil, nil, nil
}
