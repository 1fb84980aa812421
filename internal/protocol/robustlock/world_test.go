package robustlock

import (
	"fmt"
	"slices"
	"strings"
)

const procsMax = 4

// world is n processes and the memory that they share. A script, a random driver or an exhaustive
// search chooses each step.
//
// With tso each process has a store buffer, like the processors of the x86 family. Its stores reach
// memory later, in their order; its own loads see them; a swap and a fence wait until the buffer is
// empty. A dead process's stores still reach memory, before any process learns of the death.
type world struct {
	n      int
	tso    bool
	word   uint64
	hint   bool
	claims [procsMax]Claim
	buffer [procsMax][]store

	locks   [procsMax]Lock
	program [procsMax]string // the letters still to be done: see begin
	dead    [procsMax]bool
	told    [procsMax][procsMax]bool // told[p][q]: p knows that q is dead

	broken  bool           // a process died in an exclusive hold, and no process has mended the data
	died    [procsMax]bool // processes that died while W named them as holder
	outcome [procsMax]Outcome
}

// store is a store in a buffer.
type store struct {
	at    byte // 'W', 'N' or 'S'
	value uint64
}

func newWorld(programs ...string) *world {
	w := &world{n: len(programs)}
	for p, program := range programs {
		w.program[p] = program
		w.locks[p] = *New(Config{Memory: view{w, p}, Members: view{w, p}, Me: p})
	}
	return w
}

func (w *world) clone() *world {
	c := *w
	for p := range w.n {
		c.buffer[p] = slices.Clone(w.buffer[p])
		c.locks[p].memory, c.locks[p].members = view{&c, p}, view{&c, p}
	}
	return &c
}

// view is the world as one process sees it: its Memory and its Members.
type view struct {
	w  *world
	me int
}

func (v view) Len() int          { return v.w.n }
func (v view) Name(o int) uint64 { return uint64(o + 1) }
func (v view) Dead(o int) bool   { return v.w.told[v.me][o] }

func (v view) Origin(name uint64) (int, bool) {
	return int(name) - 1, name >= 1 && name <= uint64(v.w.n)
}

func (v view) Word() uint64 { return v.load('W', v.w.word) }
func (v view) Hint() bool {
	in := uint64(0)
	if v.w.hint {
		in = 1
	}
	return v.load('N', in) == 1
}

func (v view) Claim(o int) Claim {
	if o == v.me {
		return Claim(v.load('S', uint64(v.w.claims[o])))
	}
	return v.w.claims[o]
}

func (v view) Swap(old, new uint64) bool {
	if v.w.word != old {
		return false
	}
	v.w.word = new
	return true
}

func (v view) Release(x uint64)       { v.store('W', x) }
func (v view) SetClaim(c Claim)       { v.store('S', uint64(c)) }
func (v view) SetClaimFenced(c Claim) { v.w.apply(v.me, store{'S', uint64(c)}) }
func (v view) SetHint(waiting bool) {
	if waiting {
		v.store('N', 1)
	} else {
		v.store('N', 0)
	}
}

func (v view) load(at byte, inMemory uint64) uint64 {
	for _, s := range slices.Backward(v.w.buffer[v.me]) {
		if s.at == at {
			return s.value
		}
	}
	return inMemory
}

func (v view) store(at byte, x uint64) {
	if !v.w.tso {
		v.w.apply(v.me, store{at, x})
		return
	}
	v.w.buffer[v.me] = append(slices.Clip(v.w.buffer[v.me]), store{at, x})
}

func (w *world) apply(p int, s store) {
	switch s.at {
	case 'W':
		w.word = s.value
	case 'N':
		w.hint = s.value == 1
	case 'S':
		w.claims[p] = Claim(s.value)
	}
}

// drain lets the oldest store of a process reach memory.
func (w *world) drain(p int) {
	w.apply(p, w.buffer[p][0])
	w.buffer[p] = w.buffer[p][1:]
}

// enterFences: a reader stores its claim with a fence. A planted bug changes this with the rule.
const enterFences = true

// fences reports whether the next step of p waits for its store buffer.
func (w *world) fences(p int) bool {
	switch w.locks[p].phase {
	case snatch, grab, putBack:
		return true
	case enter:
		return enterFences
	}
	return false
}

// modes are the letters of a program.
var modes = map[byte]Mode{'X': Exclusive, 'S': Shared, 'M': Mend, 'x': Exclusive, 's': Shared, 'm': Mend}

// begin starts the next letter of p's program: X, S or M request the lock in that mode; with x, s
// and m the process may give up as long as it does not know that it holds the lock.
func (w *world) begin(p int) {
	w.locks[p].startLock(modes[w.program[p][0]])
	w.outcome[p] = Waiting
}

// step makes one access of p, or starts its next call, and checks the outcome.
func (w *world) step(p int) error {
	l := &w.locks[p]
	switch l.phase {
	case idle:
		w.begin(p)
		return nil
	case holding, sharing:
		if l.mode == Mend {
			w.broken = false
		}
		l.startUnlock()
		return nil
	}
	before := l.phase
	l.step()
	if l.phase == idle {
		w.outcome[p] = l.Outcome()
		w.program[p] = w.program[p][1:]
		return w.checkBroken(p)
	}
	if l.phase != before && l.Outcome() == Held {
		w.outcome[p] = Held
		return w.checkHeld(p)
	}
	return nil
}

// checkHeld checks the promises of a hold: an exclusive hold is alone, and only a mender gets a
// broken lock.
func (w *world) checkHeld(p int) error {
	for q := range w.n {
		if q != p && !w.dead[q] && w.locks[q].Outcome() == Held && (w.exclusive(p) || w.exclusive(q)) {
			return fmt.Errorf("two holders: %d holds it %v, %d %v", p, w.locks[p].mode, q, w.locks[q].mode)
		}
	}
	if w.broken && w.locks[p].mode != Mend {
		return fmt.Errorf("broken in silence: %d holds it %v", p, w.locks[p].mode)
	}
	return nil
}

func (w *world) exclusive(p int) bool { return w.locks[p].mode != Shared }

// checkBroken: only a process that died as a holder breaks a lock.
func (w *world) checkBroken(p int) error {
	if w.outcome[p] != Broken {
		return nil
	}
	if x := int(w.locks[p].Dead()) - 1; x < 0 || x >= w.n || !w.died[x] {
		return fmt.Errorf("broken by nobody: %d says that %d died as its holder", p, x)
	}
	return nil
}

// kill ends p.
func (w *world) kill(p int) {
	w.dead[p] = true
	l := &w.locks[p]
	if l.Outcome() == Held && w.exclusive(p) {
		w.broken = true
	}
	w.died[p] = w.lastWord(p) == l.name
}

// lastWord is W once all stores of p are there.
func (w *world) lastWord(p int) uint64 {
	word := w.word
	for _, s := range w.buffer[p] {
		if s.at == 'W' {
			word = s.value
		}
	}
	return word
}

// mayGiveUp reports whether p may withdraw: it waits, or has not learned that it holds the lock.
func (w *world) mayGiveUp(p int) bool {
	if w.program[p] == "" || w.program[p][0] != 'x' && w.program[p][0] != 's' && w.program[p][0] != 'm' {
		return false
	}
	switch w.locks[p].phase {
	case look, watch, scan, holding, sharing:
		return true
	}
	return false
}

// giveUp ends a wait of p, or a hold that p has not learned of.
func (w *world) giveUp(p int) {
	if w.locks[p].Outcome() == Held {
		w.locks[p].startReturn()
		return
	}
	w.locks[p].startWithdraw()
}

func (w *world) done(p int) bool { return w.dead[p] || w.program[p] == "" }

// settle tells all processes of all deaths, runs them by turns, and checks that all calls end.
func (w *world) settle() error {
	for p := range w.n {
		for len(w.buffer[p]) > 0 {
			w.drain(p)
		}
	}
	for p := range w.n {
		for q := range w.n {
			w.told[p][q] = w.dead[q]
		}
	}
	w.tso = false
	for range 200 * w.n {
		left := false
		for p := range w.n {
			if w.done(p) {
				continue
			}
			left = true
			if err := w.step(p); err != nil {
				return err
			}
		}
		if !left {
			return nil
		}
	}
	return fmt.Errorf("waits for ever: %s", w)
}

func (w *world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "W=%s N=%v", wordText(w.word), w.hint)
	for p := range w.n {
		fmt.Fprintf(&b, " S%d=%d", p, w.claims[p])
		if w.dead[p] {
			b.WriteString("(dead)")
		}
		fmt.Fprintf(&b, ":%s", w.locks[p].Describe())
	}
	return b.String()
}

func wordText(w uint64) string {
	switch {
	case w == free:
		return "free"
	case w == first:
		return "readers first"
	case w&handed != 0:
		return fmt.Sprintf("handed to %d", w&^handed-1)
	}
	return fmt.Sprintf("%d", w-1)
}
