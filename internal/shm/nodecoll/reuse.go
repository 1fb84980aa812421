package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A sequence holds the operation of this member, and the operations that the others have left.
type sequence struct {
	op   int64 // the open operation, or the last: 1, 2, ...
	safe int64 // all members have left this operation and all before it
	// sharedOp is the last operation that was entered here and is not a chain: only the next member
	// reads the memory that this member wrote in later operations.
	sharedOp int64
	// broken is the last operation by steps that ended in a mismatch here. Others may not know of
	// the mismatch yet. They still read the memory that this member has written in the operation,
	// and would mistake its later steps for steps of the operation. So this member counts no step
	// before all have left.
	//
	//	me        bcast, root: 3 chunks, a mismatch    allreduce: step 1
	//	member m  bcast: reads chunks 1, 2, 3                             chunk 4?
	broken int64
}

// mayOverwrite reports whether no member still reads the memory that this member wrote in operation
// j, j < g.op; if not, the operation waits. A member that enters an operation proves that it has
// left the operation before. So the arrival lines are the only evidence, and no member needs an
// additional store to show that it has left. With 8 slots:
//
//	op            k-8  k-7  ...  k
//	me            bcast ... bcast  needs slot k mod 8 = slot (k-8) mod 8
//	member m      still reads my line of k-8: no arrival line of m is above k-8
//
// A member that completes an operation in which all wait for all has seen every arrival and need
// not poll any lines.
//
// Only the next member reads the memory that a member writes in a chain. So in a row of chains the
// writer waits for the next member alone, and each member, not only the first, can be as many
// operations ahead of the next as there are slots. Otherwise a member would make only slots/n
// operations in a time slice.
func (g *Group) mayOverwrite(j int64) bool {
	if j <= g.safe {
		return true
	}
	if g.sharedOp > j || len(g.members) == 2 { // of two members the next is the only other
		return g.haveAllLeft(j)
	}
	after := g.me + 1
	return g.haveAllLeft(g.sharedOp) && (after == len(g.members) || g.members[after].left >= j || g.hasLeft(after, j))
}

// mayOverwriteArea reports whether no member still reads this member's area.
func (g *Group) mayOverwriteArea() bool { return g.mayOverwrite(g.area.lastRead()) }

// haveAllLeft reports whether all members have left operation j.
func (g *Group) haveAllLeft(j int64) bool {
	if j <= g.safe {
		return true
	}
	low := g.op - 1
	for i := range g.members {
		m := &g.members[i]
		if i == g.me {
			continue
		}
		if m.left < j && !g.hasLeft(i, j) {
			return false
		}
		low = min(low, m.left)
	}
	g.safe = low
	return true
}

// hasLeft polls for an arrival line of m that proves that m has left operation j, and checks
// whether m is much further already. It avoids m's newest line, because reading the line that m
// writes next slows m down. Values of an earlier group in a line are below base.
func (g *Group) hasLeft(m int, j int64) bool {
	first, v := g.readSequence(m, j+1)
	if first < j+1 {
		return g.waitOn(g.lines.word(g.lines.arrival(m, j+1)), v)
	}
	for next := first + further; next <= g.op; next += further {
		at, _ := g.readSequence(m, next)
		if at < next {
			break
		}
		first = at
	}
	g.members[m].left = first - 1
	return true
}

// further is the distance in operations between the lines that hasLeft reads.
const further = slots / 16

// readSequence returns the operation, as this group counts, in which m has written the line of
// operation i, and the sequence word.
func (g *Group) readSequence(m int, i int64) (op int64, word uint64) {
	v := segment.Load64(g.lines.word(g.lines.arrival(m, i)))
	if op = int64(v&^unfinished - g.members[m].base); op > g.op+g.leadMax() {
		op = 0 // of an earlier group
	}
	return op, v
}

// leadMax is the maximal number of operations by which a member can be ahead of another: in a row
// of chains each member is up to slots operations ahead of the next.
func (g *Group) leadMax() int64 { return slots * int64(len(g.members)) }
