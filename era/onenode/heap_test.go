package onenode

import (
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// reused is a heap with one block for each of three processes. They had a communicator
// with indices 2, 4, 6; then process 0 closed it and drew 8, process 1 drew 10, for one
// without 2.
type reused struct {
	*Heap
	old, fresh Sharing
}

func newReused() *reused {
	h := NewHeap(1, nil)
	r := &reused{Heap: h, old: Sharing{Procs: []int{0, 1, 2}, Indices: []uint32{2, 4, 6}}, fresh: Sharing{Procs: []int{0, 1}, Indices: []uint32{8, 10}}}
	for rank, proc := range r.old.Procs {
		h.Prepare(proc, r.old.Indices[rank], 1)
	}
	return r
}

func (r *reused) series(of Sharing, me int) *Series {
	of.Me = me
	return NewSeries(Config{N: len(of.Procs), Me: me, Memory: r.Open(of), Tag: of.Indices[0]})
}

func (r *reused) reuse() {
	r.Prepare(0, 8, 1)
	r.Prepare(1, 10, 1)
}

// TestNewIsBlind: nothing of the old communicator can be seen in the new one.
func TestNewIsBlind(t *testing.T) {
	r := newReused()
	for me := range 2 {
		r.series(r.old, me).Step(Propose{Value: era.Value{Flag: 7}})
	}
	s := r.series(r.old, 0)
	s.entered = 1 // as it was: 0 had proposed
	s.Step(Failed{Rank: 2})
	if s.decided != 1 {
		t.Fatal("the old communicator left no word behind")
	}
	r.reuse()
	first := r.series(r.fresh, 0)
	if acts := first.Step(Propose{Value: era.Value{Flag: 3}}); len(acts) != 0 {
		t.Errorf("decided by what another communicator left: %v", acts)
	}
	acts := r.series(r.fresh, 1).Step(Propose{Value: era.Value{Flag: 6, Lo: era.Claim{Rank: 1}, Hi: era.Claim{Rank: 1}}})
	if len(acts) != 1 || acts[0].(Decide).Value.Flag != 2 {
		t.Errorf("got %v", acts)
	}
}

// TestOldIsBlind: a slow member of the old communicator takes nothing of the new one
// for its own, and changes nothing there.
func TestOldIsBlind(t *testing.T) {
	r := newReused()
	slow := r.series(r.old, 2)
	slow.Step(Propose{Value: era.Value{Flag: 1, Lo: era.Claim{Rank: 2}, Hi: era.Claim{Rank: 2}, Entries: []era.Entry{{Rank: 2}}}})
	r.reuse()
	for me := range 2 {
		s := r.series(r.fresh, me)
		s.Step(Propose{Value: era.Value{Flag: 3, Lo: era.Claim{Rank: me}, Hi: era.Claim{Rank: me}, Vetoes: rankset.Of(me)}})
	}
	if acts := slow.Step(Look{}); len(acts) != 0 {
		t.Errorf("decided with lines of another communicator: %v", acts)
	}
	slow.Step(Left{Rank: 0})
	if acts := slow.Step(Left{Rank: 1}); len(acts) != 0 {
		t.Errorf("decided by a word of another communicator: %v", acts)
	}
	if w := r.block(0, 8, 0).words[1]; w != 8<<32 {
		t.Errorf("the word of the new communicator is %x", w)
	}
	view := r.Open(r.old)
	if b := view.Value(0, 1); b != nil {
		t.Errorf("a value of another communicator: %v", b)
	}
	if b := view.Long(0, 1, 1); b != nil {
		t.Errorf("a line of another communicator: %v", b)
	}
}

// TestSlowSwap: a swap in progress when another communicator takes over the block has no effect
// there.
func TestSlowSwap(t *testing.T) {
	r := newReused()
	of := r.old
	of.Me = 2
	view := r.Open(of)
	before := view.Word(1)
	r.reuse()
	if view.Swap(1, before, before|1<<16|3) {
		t.Error("swapped the word of another communicator")
	}
}

// TestValueOfAnother: a word that names a removed value decides nothing.
func TestValueOfAnother(t *testing.T) {
	r := newReused()
	s := r.series(r.old, 2)
	s.Step(Propose{Value: era.Value{Flag: 1}})
	r.Open(r.old).Swap(1, 2<<32, 2<<32|1<<16|1)
	if acts := s.Step(Look{}); len(acts) != 0 {
		t.Errorf("decided %v", acts)
	}
	r.Open(r.old).Swap(1, 2<<32|1<<16|1, 2<<32|1<<16|9)
	if acts := s.Step(Look{}); len(acts) != 0 {
		t.Errorf("decided what no member offered: %v", acts)
	}
}
