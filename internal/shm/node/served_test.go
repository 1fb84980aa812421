package node

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/protocol/robustlock"
	"github.com/goulfm/goulfm/internal/testing/interleave"
)

// The members of the window below. The target and the mender share memory, and the target serves
// the others.
const (
	target = iota
	gone   // holds the lock exclusively; the last requests of gone have arrived, and gone is dead
	mender // learns of the death, repairs the data under the lock
	waiter // waits for the lock
	members
)

// window is a served window, in the memory of one node: a target with its gate and its lock, and a
// mender. They run the gate, the target and the lock that ship, one access to memory at a time.
type window struct {
	*interleave.World
	setup bool // accesses are no steps

	serving, mourned, departed [members]int
	stopped                    bool // the target was killed

	word, hint uint64
	claims     [members]robustlock.Claim
	data       [2]byte

	knows  [members]bool     // which members know that gone is dead
	told   bool              // the death is in the list of departures
	mends  bool              // the mender holds the lock
	answer rmaserver.Granted // of the waiter
	ended  bool              // the waiter has an answer, and has released the lock
}

func (w *window) access(what string) {
	if !w.setup {
		w.Step(what)
	}
}

// saw records a value that an access has read.
func saw[T any](w *window, v T) T {
	if !w.setup {
		w.Saw(v)
	}
	return v
}

// again is Again for a loop whose iterations are all alike.
func (w *window) again(where string) {
	w.Forget(where)
	w.Again(where)
}

// effect is called when a request of a member is executed: no process of the node may know that the
// member is dead.
func (w *window) effect(of int, what string) {
	if of == gone && (w.knows[target] || w.knows[mender]) {
		w.Failf("%s of a process that is known to be dead", what)
	}
}

// The words of the gate.
func (w *window) SetServing(s, o int) { w.access("serves"); w.serving[s] = o + 1 }
func (w *window) IsServing(s, o int) bool {
	w.access("is it served?")
	return saw(w, w.serving[s] == o+1)
}
func (w *window) Mourn(p int) { w.access("mourns"); w.mourned[p] = 1 }
func (w *window) IsMourned(p int) bool {
	w.access("is it mourned?")
	return saw(w, w.mourned[p] == 1)
}
func (w *window) HasDied(p int) bool {
	w.access("has it died?")
	return saw(w, w.departed[p] == 1)
}
func (w *window) HasStopped(p int) bool {
	w.access("has it stopped?")
	return saw(w, p == target && w.stopped)
}

// door is the gate of the target, built like the engine's.
type door struct{ *window }

func (d door) Admit(origin int) bool {
	return !(origin == gone && d.knows[target]) && admit(d, target, origin)
}
func (d door) Dismiss() { d.SetServing(target, -1) }

// lent is the memory of the target: two bytes, each of which is stored by itself.
type lent struct {
	rmaserver.Memory // the methods that no request below needs
	*window
}

func (l lent) Bytes() int { return len(l.data) }
func (l lent) Put(at int, data []byte) {
	for i, b := range data {
		l.access("stores a byte")
		l.effect(gone, "a store")
		l.data[at+i] = b
	}
}

// part is one member's part in the lock; by is the process that makes its accesses. Accesses to W
// are steps. The tests of package robustlock explore the order of the others.
type part struct {
	*window
	me, by int
}

func (p part) changes() {
	if p.by == target {
		p.effect(p.me, "a step of the lock")
	}
}
func (p part) Word() uint64 { p.access("reads W"); return saw(p.window, p.word) }
func (p part) Swap(old, v uint64) bool {
	p.access("swaps W")
	swapped := p.word == old
	if swapped {
		p.changes()
		p.word = v
	}
	return saw(p.window, swapped)
}
func (p part) Release(v uint64) { p.access("stores W"); p.changes(); p.word = v }
func (p part) Hint() bool       { return saw(p.window, p.hint != 0) }
func (p part) SetHint(waiting bool) {
	p.changes()
	p.hint = 0
	if waiting {
		p.hint = 1
	}
}
func (p part) Claim(o int) robustlock.Claim      { return saw(p.window, p.claims[o]) }
func (p part) SetClaim(c robustlock.Claim)       { p.changes(); p.claims[p.me] = c }
func (p part) SetClaimFenced(c robustlock.Claim) { p.SetClaim(c) }
func (p part) Len() int                          { return members }
func (p part) Name(o int) uint64                 { return uint64(o + 1) }
func (p part) Dead(o int) bool                   { return o == gone && p.knows[p.by] }
func (p part) Origin(name uint64) (o int, ok bool) {
	return int(name) - 1, name >= 1 && name <= members
}

func (w *window) lock(me, by int) *robustlock.Lock {
	p := part{w, me, by}
	return robustlock.New(robustlock.Config{Memory: p, Members: p, Me: me})
}

// learns has a process learn of the death.
func (w *window) learns(me int) {
	mourn(w, me, gone, members, func() { w.again("waits for the server") }, func(int) { w.Step("the server has ended") })
	w.knows[me] = true
}

// serve is the program of the target: execute the last requests of gone, then serve the waits for
// the lock until all have ended.
func (w *window) serve(t *rmaserver.Target, last ...rmaserver.Frame) {
	learn := func(where int) {
		w.Forget(where)
		w.Step("reads the list")
		if saw(w, w.told) && !w.knows[target] {
			w.learns(target)
			t.Died(gone)
		}
	}
	for i, f := range last {
		learn(i)
		w.step(t, gone, f)
	}
	for {
		learn(len(last))
		w.take(t.Look())
		if w.answer.Held {
			w.answer.Held = false
			w.step(t, waiter, rmaserver.Frame{Op: rmaserver.Unlock})
			w.ended = true
		}
		if w.ended = w.ended || w.answer.Dead != 0; w.ended {
			return
		}
		w.again("looks")
	}
}

func (w *window) step(t *rmaserver.Target, from int, f rmaserver.Frame) {
	answers, err := t.Step(from, f.Append(nil))
	if err != nil {
		w.Failf("%v", err)
	}
	w.take(answers)
}

// take hands the answer to the waiter's request to the waiter.
func (w *window) take(answers []rmaserver.Answer) {
	for _, a := range answers {
		g, err := rmaserver.ReadGranted(a.Data)
		if err != nil {
			w.Failf("%v", err)
		}
		if g.Held && w.mends {
			w.Failf("two hold the lock")
		}
		if a.To == waiter {
			w.answer = g
		}
	}
}

// mend is the program of the mender: learn of the death, get the lock, and repair the data.
func (w *window) mend() {
	w.learns(mender)
	w.Forget("knows")
	l := w.lock(mender, mender)
	if !w.get(l) {
		return
	}
	for _, mended := range []byte{1, 2} {
		for i := range w.data {
			w.Step("mends")
			w.data[i] = mended
		}
		w.Step("reads")
		if w.data != [2]byte{mended, mended} {
			w.Failf("mended data change to %v", w.data)
		}
	}
	w.mends = false
	l.Unlock()
}

// get acquires the lock for a repair. It reports false if the target has ended, and the window with
// the target.
func (w *window) get(l *robustlock.Lock) bool {
	for out := l.Lock(robustlock.Mend); out != robustlock.Held; out = l.Look() {
		if w.stopped {
			return false
		}
		w.again("waits for the lock")
	}
	w.Forget("mends")
	if w.mends = true; w.answer.Held {
		w.Failf("two hold the lock")
	}
	return true
}

// handOn is the program of the mender where gone waits for the lock, which the mender holds. The
// mender releases the lock, before or after learning of the death, and acquires the lock again.
func (w *window) handOn(l *robustlock.Lock, knows bool) {
	if knows {
		w.learns(mender)
	}
	w.mends = false
	l.Unlock()
	if !knows {
		w.learns(mender)
	}
	w.Forget("knows")
	if w.get(l) {
		w.Step("mends")
		w.mends = false
		l.Unlock()
	}
	w.Step("ends")
	w.ended = true
}

func (w *window) text() string {
	return fmt.Sprint(w.serving, w.mourned, w.departed, w.stopped, w.word, w.hint, w.claims, w.data, w.knows, w.told, w.mends, w.answer, w.ended)
}

// inEveryOrder visits all orders of a window: begin asks for locks, without steps, and returns the
// programs of the target and the mender. The target may die at each step, and the list of
// departures may have the death at any time.
func inEveryOrder(t *testing.T, begin func(w *window, s *rmaserver.Target) (serves, mends func())) {
	t.Helper()
	states, err := interleave.Visit(100_000, func(x *interleave.World) {
		w := &window{World: x, setup: true}
		serves, mends := begin(w, rmaserver.New(lent{window: w}, door{w}, func(origin int) rmaserver.Locker { return w.lock(origin, target) }))
		w.setup = false
		x.Go("target", serves).Mortal(func() { w.stopped = true })
		x.Go("mender", mends)
		x.Event("the daemon publishes the death", func() { w.departed[gone], w.told = 1, true })
		x.State = w.text
	})
	require.NoError(t, err)
	t.Logf("%d states", states)
	assert.Greater(t, states, 500)
}

// locks is a request for the lock.
var locks = rmaserver.Frame{Op: rmaserver.Lock, Reply: 1, Mode: uint8(robustlock.Exclusive)}

// TestServedWindowInEveryOrder: the holder of the lock of a served window has died. Its last
// requests, a Put and the Unlock, have arrived. The target executes them, or drops them, while a
// third process learns of the death, gets the lock to mend, and repairs the data; a fourth one
// waits for the lock. In each order of single accesses no request of the dead takes effect once a
// process of the node knows of the death (W7), the lock has one holder, and all end.
func TestServedWindowInEveryOrder(t *testing.T) {
	inEveryOrder(t, func(w *window, s *rmaserver.Target) (serves, mends func()) {
		w.step(s, gone, locks)
		w.step(s, waiter, locks)
		return func() {
			w.serve(s, rmaserver.Frame{Op: rmaserver.Put, Data: []byte{7, 7}}, rmaserver.Frame{Op: rmaserver.Unlock})
		}, w.mend
	})
}

// TestDeadWaiterInEveryOrder: a process that waited for the lock of a served window has died. A
// process of the target's node holds the lock, and releases it before or after learning of the
// death. In each order of single accesses the target makes no step of the lock for the dead once a
// process of the node knows of the death (W12). The lock has one holder, and all end.
func TestDeadWaiterInEveryOrder(t *testing.T) {
	for _, knows := range []bool{false, true} {
		t.Run(fmt.Sprint("knows=", knows), func(t *testing.T) {
			inEveryOrder(t, func(w *window, s *rmaserver.Target) (serves, mends func()) {
				l := w.lock(mender, mender)
				w.mends = l.Lock(robustlock.Exclusive) == robustlock.Held
				w.step(s, gone, locks)
				return func() { w.serve(s) }, func() { w.handOn(l, knows) }
			})
		})
	}
}
