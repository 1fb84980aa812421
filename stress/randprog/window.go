package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/ulfm"
)

// windowOps make a window, use it, and free it. All living members have it or none uses it, and
// whoever has it takes part to the end, whatever errors it has got: so all make the same
// agreements. What is checked are rules W1 to W20 of docs/SEMANTICS.md.
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

// windowOp is an agreed one: those that have left the stretch say that they have no window, for
// whom the others wait.
func windowOp(name string, weight int, use func(*pane)) *operation {
	return &operation{name: name, weight: weight, agreed: true, stays: true, run: func(s *step) error { return onWindow(s, use) }}
}

// A pane is a window in a step, at one member. Each member has a part of each other one's elements,
// in which it alone stores: k of them; and at the end there are some that all change.
type pane struct {
	*step
	w    *rma.Win[uint64]
	k    int
	lent bool  // its memory is the program's
	bad  error // the first error of a call
}

// common is how many elements at the end all members change.
const common = 4

// partAt is where the part of an origin begins, and partOf is that part of some elements.
func (s *pane) partAt(origin int) int { return origin * s.k }

func (s *pane) partOf(all []uint64, origin int) []uint64 {
	return all[s.partAt(origin):s.partAt(origin+1)]
}

// commonAt is the i-th of those that all change.
func (s *pane) commonAt(i int) int { return s.g.size()*s.k + i }

func (g *group) size() int { return len(g.procs) }

// onWindow makes a window, and has it used if all living members have it.
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

// open makes the window, in one of the ways that there are. It has one outcome at all members (W1).
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

// wasMade writes down how a creation ended: the judge compares.
func (s *pane) wasMade(part string, err error) {
	s.m.log.put(record{What: recEnd, Step: s.name + part, Op: s.op.name, Comm: s.g.name, Out: outcome(classify(err))})
	s.fails(err)
}

// errWindow is the error of a step in which a call on a window has failed. Each such call has been
// written down as it was.
var errWindow = fmt.Errorf("a call on a window failed: %w", errContext)

func (s *pane) end() error {
	if s.bad == nil {
		return nil
	}
	return fmt.Errorf("%w: %v", errWindow, s.bad) //nolint:errorlint // its ranks may be those of another communicator
}

// fails takes the error of a call, of which the judge sees whether it may be.
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

// ok says whether a call succeeded that only the deaths of some ranks may have fail (W2, W3).
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

// goesOn is ok of a call after which the program goes on with other targets: it says no only if the
// window is of no use any more.
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

// knows says whether a target is known to be dead.
func (s *pane) knows(target int) bool {
	return slices.Contains(s.w.Comm().GetFailed().Processes(), s.g.procs[target])
}

// staysLost checks that a target whose death was told gives errors alone (W3, W4), and leaves the
// destination as it is (W8).
func (s *pane) staysLost(target int) {
	const old = 77
	dst, to, at := []uint64{old}, s.w.At(target), s.partAt(s.c.Rank())
	_, load := to.Load(s.ctx, at)
	for _, err := range []error{to.Put(s.ctx, at, dst), to.Get(s.ctx, at, dst), to.Flush(s.ctx), to.Lock(s.ctx, rma.LockShared), load} {
		if s.ok(err, target) || dst[0] != old {
			_ = s.broken("rank %d was told to be dead, and a call there succeeds, or fills in %d", target, dst[0])
		}
	}
}

// everybody is the ranks of all members.
func (s *pane) everybody() []int {
	all := make([]int, s.g.size())
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// lacks is the bit of an agreement that a member clears which has no window.
const lacks = uint64(1) << 63

// allHave agrees on whether all living members have the window.
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

// meet is an agreement of the window on who has done a part of the step. All that those have done
// on the window is complete then (W15).
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
		_ = s.broken("an agreement of the window in which rank %d says %v has %b", me, done, flag)
	}
	return who
}

// isAway says whether a member's memory is not this one's to read: on another node, fenced, or the
// program's.
func (s *pane) isAway(rank int) bool {
	return rank != s.c.Rank() && s.isApart(s.g.procs[rank], s.me())
}

// isApart is isAway of two processes. A rank that dies at a frame is one of a world in which all
// goes by frames.
func (s *pane) isApart(a, b int) bool {
	r := s.m.r
	return s.lent || slices.Contains(r.launch, "--fence") || r.frame > 0 || r.nodeOf(a) != r.nodeOf(b)
}

// read copies elements of a member from one on, also of one that is dead, into dst; false: there is
// no way to them.
func (s *pane) read(rank, from int, dst []uint64) bool {
	err := s.w.At(rank).Get(s.ctx, from, dst)
	return s.ok(err, rank) || classify(err) == classFailed && s.salvage(rank, from, dst)
}

// load is read of one element that others may be changing.
func (s *pane) load(rank, i int) (uint64, bool) {
	v, err := s.w.At(rank).Load(s.ctx, i)
	if s.ok(err, rank) {
		return v, true
	}
	dst := make([]uint64, 1)
	there := classify(err) == classFailed && s.salvage(rank, i, dst)
	return dst[0], there
}

// salvage reads what a dead member had (W9).
func (s *pane) salvage(rank, from int, dst []uint64) bool {
	switch err := s.w.Salvage(rank, from, dst); {
	case err == nil:
		return true
	case !errors.Is(err, comm.ErrUnsupported) || !s.isAway(rank):
		_ = s.broken("the memory of rank %d, which is dead, cannot be read: %v", rank, err)
	}
	return false
}

// valueOf is the i-th number that this or another member stores in a window. It is not 0.
func (s *pane) valueOf(rank, i int) uint64 { return word(s.id, s.g.procs[rank], i) | 1 }

// valuesOf are k of them from the first on.
func (s *pane) valuesOf(rank, first int) []uint64 {
	v := make([]uint64, s.k)
	for i := range v {
		v[i] = s.valueOf(rank, first+i)
	}
	return v
}

// holds checks that an origin's part of somebody's elements is what that has put as a whole, from
// one of its numbers on.
func (s *pane) holds(part []uint64, target, origin int, firsts ...int) {
	for _, first := range firsts {
		if slices.Equal(part, s.valuesOf(origin, first)) {
			return
		}
	}
	_ = s.broken("rank %d has %x of what rank %d has put, want numbers from one of %v on, the first of them %x", target, part[:min(len(part), 8)], origin, firsts, s.valueOf(origin, firsts[0]))
}

// mayHold checks that each element of a part is 0 or one of those that its origin has put, each
// whole (W6).
func (s *pane) mayHold(part []uint64, target, origin int, firsts ...int) {
	for i, v := range part {
		if v != 0 && !slices.ContainsFunc(firsts, func(first int) bool { return v == s.valueOf(origin, first+i) }) {
			_ = s.broken("rank %d has %x at %d of what rank %d, which is dead, has put there: nobody has put that", target, v, i, origin)
			return
		}
	}
}

// tempt is a place where a rank that dies leaves much half done: its death may come now. A
// goroutine beside others does not end the process.
func (s *pane) tempt() {
	if !s.branch && one(s.own, 3) {
		s.m.fate.soon(s.m)
	}
}
