package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/ulfm"
)

// windowOps make a window, use it, and free it. Either all live members have the window or none
// uses it. A member that has the window takes part to the end, even after errors, so all make the
// same agreements. The operations check rules W1 to W20 of docs/SEMANTICS.md.
var windowOps = []*operation{
	windowOp("win:fence", 4, (*pane).fences),
	windowOp("win:flush", 4, (*pane).flushes),
	windowOp("win:notify", 4, (*pane).notifies),
	windowOp("win:wait", 3, (*pane).waits),
	windowOp("win:post", 3, (*pane).posts),
	windowOp("win:count", 4, (*pane).counts),
	windowOp("win:claim", 3, (*pane).claims),
	windowOp("win:lock", 5, (*pane).locks),
	windowOp("win:rebuild", 4, (*pane).rebuilds),
}

// windowOp returns an agreed operation: the others wait for members that have left the stretch, and
// these members contribute that they have no window.
func windowOp(name string, weight int, use func(*pane)) *operation {
	return &operation{name: name, weight: weight, agreed: true, stays: true, run: func(s *step) error { return onWindow(s, use) }}
}

// A pane is a window in a step, at one member. In the elements of each member, every member has a
// part of k elements in which it alone stores. At the end there are elements that all change.
type pane struct {
	*step
	w    *rma.Win[uint64]
	k    int
	lent bool  // its memory belongs to the program
	bad  error // the first error of a call
}

// common is the number of elements at the end that all members change.
const common = 4

// partAt returns the beginning of an origin's part, and partOf this part of the given elements.
func (s *pane) partAt(origin int) int { return origin * s.k }

func (s *pane) partOf(all []uint64, origin int) []uint64 {
	return all[s.partAt(origin):s.partAt(origin+1)]
}

// commonAt returns the index of the i-th element that all change.
func (s *pane) commonAt(i int) int { return s.g.size()*s.k + i }

func (g *group) size() int { return len(g.procs) }

// onWindow makes a window, and calls use if all live members have the window.
func onWindow(s *step, use func(*pane)) error {
	p := &pane{step: s, k: 1 + min(s.length(), 600)}
	if !s.m.trouble.Load() {
		p.open()
	}
	if all := p.allHave(); p.w != nil {
		if all {
			use(p)
		}
		p.fails(p.w.Free())
	}
	return p.end()
}

// open makes the window, with one of the possible calls. The creation has one outcome at all
// members (W1).
func (s *pane) open() {
	options := []rma.Option{rma.Notifications(2)}
	if one(s.rng, 4) {
		options = append(options, rma.Bulk())
	}
	var err error
	if s.lent = one(s.rng, 4); s.lent {
		s.w, err = rma.Create(s.ctx, s.c, make([]uint64, s.commonAt(common)), options...)
	} else {
		s.w, err = rma.Allocate[uint64](s.ctx, s.c, s.commonAt(common), options...)
	}
	s.wasMade("o", err)
}

// wasMade logs the end of a creation, for the judge.
func (s *pane) wasMade(part string, err error) {
	s.m.log.put(record{What: recEnd, Step: s.name + part, Op: s.op.name, Comm: s.g.name, Out: outcome(classify(err))})
	s.fails(err)
}

// errWindow is the error of a step in which a call on a window has failed. Each such call has been
// logged before.
var errWindow = fmt.Errorf("a call on a window failed: %w", errContext)

func (s *pane) end() error {
	if s.bad == nil {
		return nil
	}
	return fmt.Errorf("%w: %v", errWindow, s.bad) //nolint:errorlint // its ranks may belong to another communicator
}

// fails logs the error of a call, which the judge checks.
func (s *pane) fails(err error) {
	if err == nil {
		return
	}
	r := record{What: recNote, Step: s.name, Op: s.op.name, Comm: s.g.name}
	s.m.describe(s.g, &r, err)
	s.m.log.put(r)
	if s.bad == nil {
		s.bad = err
	}
}

// ok reports whether a call succeeded, and checks that only the deaths of the given ranks made it
// fail (W2, W3).
func (s *pane) ok(err error, only ...int) bool {
	s.fails(err)
	if classify(err) == classFailed {
		for _, rank := range namedRanks(err) {
			if !slices.Contains(only, rank) {
				_ = s.broken("only the deaths of ranks %v may have this fail: %v", only, err)
			}
		}
		if len(namedRanks(err)) == 0 {
			_ = s.broken("a failure of nobody: %v", err)
		}
	}
	return err == nil
}

// goesOn is ok for a call after which the program continues with other targets: goesOn returns
// false only if the window is no longer usable.
func (s *pane) goesOn(err error, target int) bool {
	if s.ok(err, target) {
		return true
	}
	if classify(err) != classFailed {
		return false
	}
	s.staysLost(target)
	return true
}

// knows reports whether a target is known to be dead.
func (s *pane) knows(target int) bool {
	return slices.Contains(s.w.Comm().GetFailed().Processes(), s.g.procs[target])
}

// staysLost checks that every call at a target that was reported dead fails (W3, W4), and does not
// change the destination (W8).
func (s *pane) staysLost(target int) {
	const old = 77
	dst, to, at := []uint64{old}, s.w.At(target), s.partAt(s.c.Rank())
	_, load := to.Load(s.ctx, at)
	for _, err := range []error{to.Put(s.ctx, at, dst), to.Get(s.ctx, at, dst), to.Flush(s.ctx), to.Lock(s.ctx, rma.LockShared), load} {
		if s.ok(err, target) || dst[0] != old {
			_ = s.broken("rank %d was reported dead, but a call there succeeds, or stores %d", target, dst[0])
		}
	}
}

// everybody returns the ranks of all members.
func (s *pane) everybody() []int {
	all := make([]int, s.g.size())
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// lacks is the bit of an agreement that a member without a window clears.
const lacks = uint64(1) << 63

// allHave agrees on whether all live members have the window.
func (s *pane) allHave() bool {
	flag := s.presence()
	if s.w == nil {
		flag &^= lacks
	}
	flag, err := s.c.Agree(s.ctx, flag)
	s.out += fmt.Sprint(flag&lacks != 0, " ")
	s.fails(s.agreed(flag|lacks, err))
	return flag&lacks != 0 && (err == nil || errors.Is(err, ulfm.ErrProcFailed))
}

// meet agrees on the window on the members that have done a part of the step. Afterwards all their
// operations on the window are complete (W15).
func (s *pane) meet(done bool) (who []bool) {
	flag := ^uint64(0)
	if done {
		flag = s.presence()
	}
	flag, err := s.w.Comm().Agree(s.ctx, flag)
	who = make([]bool, s.g.size())
	if !s.ok(err, s.everybody()...) && classify(err) != classFailed {
		return who
	}
	s.out += fmt.Sprintf("%x %v;", flag, err != nil)
	for rank := range who {
		who[rank] = flag>>rank&1 == 0
	}
	if me := s.c.Rank(); who[me] != done {
		_ = s.broken("an agreement of the window to which rank %d contributes %v has %b", me, done, flag)
	}
	return who
}

// isAway reports whether this member cannot read a member's memory directly: the memory is on
// another node, fenced, or belongs to the program.
func (s *pane) isAway(rank int) bool {
	return rank != s.c.Rank() && s.isApart(s.g.procs[rank], s.me())
}

// isApart is isAway for two processes. A world with a rank that dies at a frame uses frames for all
// transfers.
func (s *pane) isApart(a, b int) bool {
	r := s.m.r
	return s.lent || slices.Contains(r.launch, "--fence") || r.frame > 0 || r.nodeOf(a) != r.nodeOf(b)
}

// read copies elements of a member, which may be dead, from element from on into dst; false: the
// elements are not reachable.
func (s *pane) read(rank, from int, dst []uint64) bool {
	err := s.w.At(rank).Get(s.ctx, from, dst)
	return s.ok(err, rank) || classify(err) == classFailed && s.salvage(rank, from, dst)
}

// load is read for one element that others may be changing.
func (s *pane) load(rank, i int) (uint64, bool) {
	v, err := s.w.At(rank).Load(s.ctx, i)
	if s.ok(err, rank) {
		return v, true
	}
	dst := make([]uint64, 1)
	there := classify(err) == classFailed && s.salvage(rank, i, dst)
	return dst[0], there
}

// salvage reads the elements of a dead member (W9).
func (s *pane) salvage(rank, from int, dst []uint64) bool {
	switch err := s.w.Salvage(rank, from, dst); {
	case err == nil:
		return true
	case !errors.Is(err, comm.ErrUnsupported) || !s.isAway(rank):
		_ = s.broken("the memory of rank %d, which is dead, cannot be read: %v", rank, err)
	}
	return false
}

// valueOf returns the i-th number that a member stores in a window. The number is not 0.
func (s *pane) valueOf(rank, i int) uint64 { return word(s.id, s.g.procs[rank], i) | 1 }

// valuesOf returns k of these numbers from the first-th on.
func (s *pane) valuesOf(rank, first int) []uint64 {
	v := make([]uint64, s.k)
	for i := range v {
		v[i] = s.valueOf(rank, first+i)
	}
	return v
}

// holds checks that an origin's part of a target's elements equals one whole put of the origin,
// from one of the given numbers on.
func (s *pane) holds(part []uint64, target, origin int, firsts ...int) {
	for _, first := range firsts {
		if slices.Equal(part, s.valuesOf(origin, first)) {
			return
		}
	}
	_ = s.broken("rank %d has %x in the part of rank %d instead of its numbers from one of %v on, the first of them %x", target, part[:min(len(part), 8)], origin, firsts, s.valueOf(origin, firsts[0]))
}

// mayHold checks that each element of a part is 0 or a whole element that its origin has put (W6).
func (s *pane) mayHold(part []uint64, target, origin int, firsts ...int) {
	for i, v := range part {
		if v != 0 && !slices.ContainsFunc(firsts, func(first int) bool { return v == s.valueOf(origin, first+i) }) {
			_ = s.broken("rank %d has %x at %d in the part of rank %d, which is dead and has not put this value", target, v, i, origin)
			return
		}
	}
}

// tempt marks a place where a death leaves much half done: a planned death may come now. A
// goroutine beside others does not end the process.
func (s *pane) tempt() {
	if !s.branch && one(s.own, 3) {
		s.m.fate.soon(s.m)
	}
}
