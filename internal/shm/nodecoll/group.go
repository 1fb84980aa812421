package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A phase is where the open operation stands: nowhere, at the entrance, or with one of the
// algorithms. Each algorithm is a type with a method step, and keeps in its own fields how
// far it is.
type phase uint8

const (
	idle       phase = iota
	entering         // the line and the slot that it takes may still be read: see enterOperation
	facing           // pair
	collecting       // collector
	taking           // taker
	counting         // centre
	reading          // reader
	chaining         // chain
	pulling          // pull
	// The algorithms from here on go by steps, see goesBySteps.
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

// goesBySteps says whether an algorithm counts steps in the members' steps words.
func (p phase) goesBySteps() bool { return p >= passing }

// A Group is one member's end of the collectives of one communicator on one
// node. It is for one goroutine at a time.
//
// Its own fields are what the algorithms share: the open operation, which operations
// the others have left, the memory of all members, and the word that is waited for.
type Group struct {
	// waiting is a word whose change lets the operation go on, while it is not
	// stale; nil: there is something to do.
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

	steps  uint64 // what stands in this member's steps word
	budget int    // bytes that this Advance may still copy or reduce
	copier segment.Copier

	// algorithms has the algorithm of each phase but idle, as values that point to the fields below:
	// a call converts and allocates nothing.
	algorithms [phases]algorithm

	// The algorithms. One of them has the open operation; reduction and pull meet through
	// centre where the last to arrive works for all.
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

// New returns member c.Me's end of a group. Members may make theirs at any time;
// an operation waits for those it needs. New may have something for others
// already, so look at Moved.
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
	g.steps = segment.Load64(g.members[g.me].steps) // goes on from what an earlier group of this region left
	if g.me == 0 {
		g.centre.introduce(g)
	}
	return g
}

// Awaits returns a word and the value that it has as long as there is nothing to do;
// nil: there is something.
func (g *Group) Awaits() (word *uint64, stale uint64) { return g.waiting, g.stale }

// Abandon ends an open operation that a Mismatch has broken. The next one may be
// started: an operation in which all wait for all is broken at all members or at
// none, and in the others nobody counts on those who do not come.
func (g *Group) Abandon() {
	if g.phase.goesBySteps() {
		g.broken = g.op
	}
	g.endOperation()
	g.mismatch.bad = false
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
	return g.runOpen()
}

// runOpen is kept out of Advance, which a wait loop takes in.
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

// stepOpen lets the algorithm that has the operation go on. False: it waits, or has
// worked enough.
func (g *Group) stepOpen() bool {
	if g.phase.goesBySteps() && g.broken > g.safe && !g.mayOverwrite(g.broken) {
		return false
	}
	return g.algorithms[g.phase].step(g)
}

// waitOn ends this Advance: nothing can be done before word differs from seen.
func (g *Group) waitOn(word *uint64, seen uint64) bool {
	g.waiting, g.stale = word, seen
	return false
}

// endOperation ends the operation here.
func (g *Group) endOperation() {
	if !g.mismatch.bad && !g.runsAhead() {
		g.announcedOp = g.op // to all, by completing it
	}
	g.phase, g.waiting, g.dst, g.src, g.out = idle, nil, nil, nil, nil
}
